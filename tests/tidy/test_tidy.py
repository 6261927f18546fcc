#!/usr/bin/env python3
"""Every rule flags a bad sample and leaves a good one alone."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bans  # noqa: E402
import coroutines  # noqa: E402
import documents  # noqa: E402
import functions  # noqa: E402
import includes  # noqa: E402
import members  # noqa: E402
import sizes  # noqa: E402
import tree  # noqa: E402

LATE = "TOD" + "O"  # spelled apart, so that this file is clean


def found(rule, **files: str) -> list[str]:
    """The rule names a tree is flagged with; `a__b_cpp` stands for a/b.cpp."""
    named = {}
    for name, text in files.items():
        stem, _, extension = name.replace("__", "/").rpartition("_")
        named[f"{stem}.{extension}"] = text
    return [finding.rule for finding in tree.check(tree.Tree(named), [rule])]


def lines_of(rule, path: str, text: str) -> list[int]:
    return [finding.line for finding in tree.check(tree.Tree({path: text}), [rule])]


class Includes(unittest.TestCase):
    def test_an_arrow_that_is_not_listed(self):
        up, down = '#include "operator/kube/a.hpp"\n', '#include "base/a.hpp"\n'
        rule = includes.arrows
        self.assertEqual(found(rule, operator__kube__a_hpp="", base__b_cpp=up), ["arrow"])
        self.assertEqual(found(rule, base__a_hpp="", operator__kube__b_cpp=down), [])

    def test_only_tests_use_the_kit(self):
        use = '#include "tests/kit/a.hpp"\n'
        self.assertEqual(found(includes.arrows, tests__kit__a_hpp="", base__b_cpp=use), ["arrow"])
        self.assertEqual(found(includes.arrows, tests__kit__a_hpp="", base__b_test_cpp=use), [])

    def test_a_path_that_is_not_from_the_root(self):
        text = '#include "a.hpp"\n'
        self.assertEqual(found(includes.arrows, base__a_hpp="", base__b_cpp=text), ["arrow"])

    def test_an_unknown_folder(self):
        self.assertEqual(found(includes.arrows, misc__a_cpp=""), ["arrow"])

    def test_an_include_in_a_comment_does_not_count(self):
        self.assertEqual(found(includes.arrows, base__a_cpp='// #include "nowhere.hpp"\n'), [])

    def test_hidden_headers(self):
        for header in ("boost/beast/http.hpp", "boost/asio/ssl.hpp", "openssl/ssl.h", "simdjson.h"):
            text = f"#include <{header}>\n"
            self.assertEqual(found(includes.hidden_headers, base__a_hpp=text), ["hidden-header"])
            self.assertEqual(found(includes.hidden_headers, base__a_cpp=text), [])

    def test_folders_without_asio(self):
        for target in ("<boost/asio/post.hpp>", '"base/task_group.hpp"'):
            text = f"#include {target}\n"
            self.assertEqual(found(includes.asio_free, operator__api__a_cpp=text), ["asio"])
            self.assertEqual(found(includes.asio_free, operator__kube__a_cpp=text), [])

    def test_pragma_once(self):
        self.assertEqual(found(includes.pragma_once, base__a_hpp="int a;\n"), ["pragma-once"])
        self.assertEqual(found(includes.pragma_once, base__a_hpp="#pragma once\n"), [])


class Sizes(unittest.TestCase):
    def test_the_hard_stop_holds_whatever_the_ratchet_says(self):
        whole = tree.Tree({"base/a.cpp": "\n" * 601, sizes.RATCHET: "700 base/a.cpp\n"})
        self.assertEqual([f.rule for f in tree.check(whole, [sizes.file_size])], ["file-size"])

    def test_the_ratchet_lets_a_long_file_stay_but_not_grow(self):
        for lines, flagged in ((300, 0), (400, 0), (401, 1)):
            whole = tree.Tree({"base/a.cpp": "\n" * lines, sizes.RATCHET: "400 base/a.cpp\n"})
            self.assertEqual(len(tree.check(whole, [sizes.file_size])), flagged, lines)
        self.assertEqual(found(sizes.file_size, base__a_cpp="\n" * 301), ["file-size"])

    def test_the_ratchet_follows_a_file_that_shrank(self):
        whole = tree.Tree({"base/a.cpp": "\n" * 350, sizes.RATCHET: "400 base/a.cpp\n"})
        self.assertEqual([f.rule for f in tree.check(whole, [sizes.ratchet_is_tight])], ["ratchet"])
        whole.files[sizes.RATCHET] = sizes.write_ratchet(whole)
        rules = [sizes.file_size, sizes.ratchet_is_tight]
        self.assertEqual(tree.check(whole, rules), [])

    def test_function_length(self):
        for lines, flagged in ((68, []), (69, ["function-size"])):
            text = "void g() {\n" + "  f();\n" * lines + "}\n"
            self.assertEqual(found(sizes.function_size, base__a_cpp=text), flagged)
        python = "def g():\n" + "    f()\n" * 70
        self.assertEqual(found(sizes.function_size, tools__a_py=python), ["function-size"])

    def test_a_table_is_not_a_function(self):
        text = "const Row kRows[] = {\n" + "  {1, f(2)},\n" * 100 + "};\n"
        self.assertEqual(found(sizes.function_size, base__a_cpp=text), [])

    def test_parameters(self):
        six = "void f(int a, int b, std::map<int, int> c, int d, int e, int g) {}\n"
        self.assertEqual(found(sizes.function_size, base__a_cpp=six), ["parameters"])
        four = "void f(int a, std::map<int, int> b, std::function<void(int, int)> c, int d) {}"
        self.assertEqual(found(sizes.function_size, base__a_cpp=four), [])

    def test_columns_ascii_and_line_ends(self):
        check = sizes.columns_and_ascii
        self.assertEqual(found(check, base__a_cpp="a" * 101 + "\n"), ["columns"])
        self.assertEqual(found(check, docs__a_md="a" * 101 + "\n"), [])
        self.assertEqual(found(check, docs__a_md="caf\u00e9\n"), ["ascii"])
        self.assertEqual(found(check, base__a_cpp="int a; \n"), ["trailing-space"])
        self.assertEqual(found(check, base__a_cpp="int a;"), ["final-newline"])

    def test_a_reason_allows(self):
        text = "// tidy: allow(columns) a URL\n" + "a" * 101 + "\n"
        self.assertEqual(found(sizes.columns_and_ascii, base__a_cpp=text), [])
        bare = text.replace(" a URL", "")
        self.assertEqual(found(sizes.columns_and_ascii, base__a_cpp=bare), ["columns"])


class Functions(unittest.TestCase):
    def test_names_and_lines(self):
        code = """namespace a {
class B : public C {
 public:
  explicit B(int x) : x_{x}, y_(2) {}
  int get() const { return x_; }

 private:
  int x_ = 0;
};
#define M(a) { a
template <class T>
std::optional<std::vector<T>> B::many(std::function<void(T)> f, T t) {
  for (;;) { if (t) { f(t); } }
}
}  // namespace a
TEST_CASE("", "") {
  CHECK(true);
}
"""
        code = tree.blank(code, literals=True)
        seen = [(f.name, f.start, f.end, len(f.parameters)) for f in functions.functions(code)]
        want = [("B", 4, 4, 1), ("get", 5, 5, 0), ("B::many", 11, 14, 2), ("TEST_CASE", 16, 18, 2)]
        self.assertEqual(seen, want)


class Members(unittest.TestCase):
    def test_a_scalar_needs_an_initialiser(self):
        for bad in ("int a;", "bool b;", "std::uint32_t c;", "const char* d;", "Clock* e;"):
            text = f"struct A {{\n  std::string s;\n  {bad}\n}};\n"
            self.assertEqual(lines_of(members.initialisers, "base/a.hpp", text), [3], bad)
        for good in ("int a = 0;", "int a{};", "Clock& c;", "std::string s;", "int f() { int a; }",
                     "explicit A(int a);\n  int a;", "int f(int a);"):
            text = f"struct A {{\n  {good}\n}};\n"
            self.assertEqual(found(members.initialisers, base__a_hpp=text), [], good)


class Bans(unittest.TestCase):
    BAD = {
        "ban-clock": "auto t = std::chrono::steady_clock::now();",
        "ban-sleep": "std::this_thread::sleep_for(1s);",
        "ban-random": "std::uniform_int_distribution<int> d;",
        "ban-spawn": "asio::co_spawn(io, f(), token);",
        "ban-thread": "std::thread t(f);",
        "ban-lock": "std::mutex m;",
        "ban-print": "std::cout << 1;",
        "ban-expected": "std::expected<int, Error> e;",
        "ban-environment": 'auto home = std::getenv("HOME");',
        "ban-exit": "std::exit(1);",
        "ban-shell": 'popen("ls", "r");',
        "ban-regex": 'std::regex r("a");',
        "ban-using-namespace": "using namespace std;",
    }

    def test_every_ban_flags_its_sample(self):
        self.assertEqual(set(self.BAD), {f"ban-{ban.name}" for ban in bans.BANS})
        for name, sample in self.BAD.items():
            self.assertEqual(found(bans.banned_calls, base__a_cpp=sample + "\n"), [name])

    def test_comments_and_literals_are_free(self):
        text = '// std::thread\n/* std::mutex\n */ auto s = "std::cout"; auto r = R"(getenv("A"))";'
        self.assertEqual(found(bans.banned_calls, base__a_cpp=text), [])

    def test_the_replacements_are_free(self):
        text = "(void)co_await clock.sleep_for(1s);\nusing namespace std::chrono_literals;\n"
        self.assertEqual(found(bans.banned_calls, base__a_cpp=text), [])

    def test_places_that_may(self):
        rule = bans.banned_calls
        self.assertEqual(found(rule, base__clock_cpp=self.BAD["ban-clock"]), [])
        self.assertEqual(found(rule, base__a_test_cpp=self.BAD["ban-thread"]), [])
        self.assertEqual(found(rule, operator__main_cpp=self.BAD["ban-environment"]), [])

    def test_words(self):
        paths = ("see /ro" + "ot/notes", "cd /wo" + "rk/main")
        for bad in (f"{LATE}: later", *paths, "<" * 7 + " ours"):
            self.assertEqual(found(bans.banned_words, docs__a_md=f"# A\n{bad}\n"), ["word"], bad)
        for good in (f"{LATE}(#12): later", "the /root", "network/work/flow", "https://a.b/work/c"):
            self.assertEqual(found(bans.banned_words, docs__a_md=f"# A\n{good}\n"), [], good)


class Coroutines(unittest.TestCase):
    def test_parameters_that_can_dangle(self):
        rule = coroutines.coroutine_parameter
        for bad in ("const A& a", "std::string_view s", "A&& a", "std::span<const int> s"):
            text = f"Task<Result<int>> Client::send(int a, {bad});\n"
            self.assertEqual(found(rule, base__a_hpp=text), ["coroutine-parameter"], bad)
        for good in ("A a", "Client& client", "const Fence* fence", "std::span<char> into"):
            self.assertEqual(found(rule, base__a_hpp=f"Task<void> send({good});\n"), [], good)

    def test_private_parts_may_take_views(self):
        rule, task = coroutines.coroutine_parameter, "  Task<void> f(std::string_view s);\n"
        for head, flagged in (("class A {\n public:\n", 1), ("class A {\n public:\n private:\n", 0),
                              ("class A {\n", 0), ("struct A {\n", 1)):
            text = f"{head}{task}}};\n"
            self.assertEqual(len(found(rule, base__a_hpp=text)), flagged, head)
        self.assertEqual(found(rule, base__a_cpp=task), [])

    def test_bare_co_await(self):
        rule = coroutines.bare_co_await
        head = "Task<void> rest();\nTask<bool> nap(int);\nTask<void> f(Task<void> task) {\n  "
        for bad in ("co_await nap(1);", "if (a) co_await b.nap(1);", "else co_await x->nap(f(2));"):
            text = f"{head}{bad}\n}}\n"
            self.assertEqual(found(rule, base__a_cpp=text), ["bare-co-await"], bad)
        for good in (
            "(void)co_await nap(1);",
            "const bool a = co_await nap(1);",
            "if (!co_await nap(1)) co_return;",
            "CO_TRY(co_await nap(1));",
            "co_await rest();",
            "co_await a.b().rest();",
            "co_await asio::post(asio::use_awaitable);",
            "co_await asio::this_coro::throw_if_cancelled(false);",
            "co_await std::move(task);",
            "a = b ? c : co_await nap(1);",
        ):
            text = f"{head}{good}\n}}\n"
            self.assertEqual(found(rule, base__a_cpp=text), [], good)

    def test_a_function_that_is_no_coroutine_may_take_views(self):
        for body, flagged in (("return g(s);", 0), ("co_return g(s);", 1)):
            text = f"Task<int> f(std::string_view s = {{}}) {{\n  {body}\n}}\n"
            self.assertEqual(len(found(coroutines.coroutine_parameter, base__a_hpp=text)), flagged)

    def test_a_stored_function_may_give_nothing(self):
        text = ("using Handler = std::function<Task<void>(int)>;\nstruct A { Handler handler; };\n"
                "Task<bool> f(A a) {\n  co_await a.handler(1);\n}\n")
        self.assertEqual(found(coroutines.bare_co_await, base__a_cpp=text), [])
        dropped = text.replace("Task<void>(int)", "Task<bool>(int)")
        self.assertEqual(found(coroutines.bare_co_await, base__a_cpp=dropped), ["bare-co-await"])

    def test_the_line_is_the_awaits(self):
        text = "Task<bool> nap();\nTask<void> f() {\n  g();\n  co_await nap();\n}\n"
        self.assertEqual(lines_of(coroutines.bare_co_await, "base/a.cpp", text), [4])


class Documents(unittest.TestCase):
    def test_doormats(self):
        self.assertEqual(found(documents.doormats, base__a_cpp=""), ["readme"])
        self.assertEqual(found(documents.doormats, base__a_cpp="", base__README_md="# A\n"), [])
        self.assertEqual(found(documents.doormats, base__README_md="\n" * 41), ["readme"])

    def test_one_title(self):
        self.assertEqual(found(documents.one_title, docs__a_md="text\n"), ["title"])
        self.assertEqual(found(documents.one_title, docs__a_md="# A\n# B\n"), ["title"])
        fenced = "# A\n```sh\n# a comment\n```\n"
        self.assertEqual(found(documents.one_title, docs__a_md=fenced), [])

    def test_links(self):
        rule, page = documents.links, "# B c, d!\n"
        for bad in ("[a](b.md)", "[a](../../b.md)", "[a](#e)", "[a](b_c.md#nope)", "[a]: gone.md"):
            flagged = found(rule, docs__a_md=f"# A\n{bad}\n", docs__b_c_md=page)
            self.assertEqual(flagged, ["link"], bad)
        for good in ("[a](b_c.md)", "[a](b_c.md#b-c-d)", "[a](../docs)", "[a](#a)",
                     "[a](https://x.y)", "`[a](gone.md)`"):
            self.assertEqual(found(rule, docs__a_md=f"# A\n{good}\n", docs__b_c_md=page), [])

    def test_scenarios_that_are_named_are_there(self):
        text, rule = "| x | `lost.txt` |\n", documents.scenarios_named
        self.assertEqual(found(rule, docs__explanation__why_md=text), ["scenario"])
        there = {"docs/explanation/why.md": text, "operator/training/scenarios/lost.txt": ""}
        self.assertEqual(tree.check(tree.Tree(there), [rule]), [])

    def test_metrics_are_listed(self):
        header = 'constexpr Name kA = "amdahl_kube_requests_total";\n'
        rule = documents.metrics_page
        self.assertEqual(found(rule, operator__kube__metrics_hpp=header), ["metric"])
        page = "`amdahl_kube_requests_total`"
        listed = {"operator/kube/metrics.hpp": header, documents.METRICS_PAGE: page}
        self.assertEqual(tree.check(tree.Tree(listed), [rule]), [])
        stale = {documents.METRICS_PAGE: "`amdahl_kube_gone_total`\n"}
        self.assertEqual(len(tree.check(tree.Tree(stale), [rule])), 1)


if __name__ == "__main__":
    unittest.main()
