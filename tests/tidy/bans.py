"""Calls that have a better replacement here, and words that do not belong in the tree."""

import dataclasses
import re
from typing import Iterator

from tree import TEST, Finding, Tree, line_of, rule

MAIN = r"(^|/)main\.cpp$|^examples/"


@dataclasses.dataclass(frozen=True)
class Ban:
    name: str
    pattern: str  # of code: comments and literals do not count
    instead: str
    except_in: str = r"(?!)"  # paths; by default none


# Copies to disks and buckets block, and several go on at once.
THREADED = r"^checkpoint/(store|engine)/|" + TEST

BANS = (
    Ban("clock", r"\b(steady_clock|system_clock|high_resolution_clock)::now\b|\btime\(nullptr\)",
        "take a Clock& (base/clock.hpp)", r"^base/clock\.cpp$"),
    Ban("sleep", r"\bsleep_for\s*\(|\bsleep_until\s*\(|\b(u|nano)?sleep\s*\(",
        "use co_await clock.sleep_for() (base/clock.hpp)", r"^base/clock(_test)?\.[ch]pp$"),
    Ban("random", r"\brandom_device\b|\bmt19937(_64)?\b|\bstd::uniform_\w+|\bs?rand\s*\(",
        "take an Rng (base/rng.hpp)", MAIN),
    Ban("spawn", r"\bco_spawn\b|\basio::detached\b",
        "use a TaskGroup (base/task_group.hpp), which joins on shutdown",
        r"^base/task_group|" + MAIN + "|" + TEST),
    Ban("thread", r"\bstd::(jthread|thread|async)\b|\bpthread_create\b",
        "everything runs on one io_context; use a TaskGroup", THREADED),
    Ban("lock", r"\bstd::(recursive_|shared_|timed_)?mutex\b|\bstd::(lock_guard|unique_lock)\b",
        "one thread needs no locks", THREADED),
    Ban("print", r"\b(v?f?printf|puts|fputs)\s*\(|\bstd::(cout|cerr|clog)\b|\bfmt::print\b",
        "use the log (base/log.hpp), or return the text",
        r"^base/check\.cpp$|" + MAIN + "|" + TEST),
    Ban("expected", r"\bstd::expected\b",
        "use Result<T> (base/result.hpp)", r"^base/result\.hpp$"),
    Ban("environment", r"\b(secure_)?getenv\s*\(|\bsetenv\s*\(|\benviron\b",
        "main() reads the environment and passes values on",
        r"^base/rules_from_env\.cpp$|^operator/kube/environment\.cpp$|" + MAIN + "|" + TEST),
    Ban("exit", r"\bstd::(exit|quick_exit|_Exit|abort|terminate)\s*\(|(?<![\w.:>])_exit\s*\(",
        "return a Result, or AMDAHL_CHECK for a bug", r"^base/check\.cpp$|" + MAIN + "|" + TEST),
    Ban("shell", r"\b(system|popen)\s*\(",
        "use an argument vector without a shell", TEST),
    Ban("regex", r"\bstd::regex\b",
        "write a small parser: std::regex recurses once per character", TEST),
    Ban("using-namespace", r"\busing\s+namespace\s+(?![\w:]*literals\b)",
        "name what you use", MAIN + "|" + TEST),
)

# Each pattern holds a class of one letter, so that it does not match itself.
WORDS = (
    (r"(?<![\w.])/(wor[k]|roo[t])/[\w.]", "a path of one machine"),
    (r"\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b(?!\(#\d+\))", "name an issue: (#12), or do it now"),
    (r"^(<{7}|>{7}) ", "a merge was left half done"),
)


@rule
def banned_calls(tree: Tree) -> Iterator[Finding]:
    for path in tree.cpp():
        code = tree.code(path)
        for ban in BANS:
            if re.search(ban.except_in, path):
                continue
            for match in re.finditer(ban.pattern, code):
                if _is_member_or_declaration(ban, code, match):
                    continue
                text = f"{match[0].strip()}: {ban.instead}"
                yield Finding(path, line_of(code, match.start()), f"ban-{ban.name}", text)


def _is_member_or_declaration(ban: Ban, code: str, match: re.Match) -> bool:
    """clock.sleep_for() is the replacement itself; Clock's own declarations are not calls."""
    before = code[: match.start()].rstrip()[-2:]
    if ban.name == "sleep":
        return before.endswith((".", "->", ">", "::")) and not code[: match.start()].endswith(
            ("std::this_thread::", "this_thread::")
        )
    return ban.name in ("print", "shell", "random") and before.endswith((".", "->"))


@rule
def banned_words(tree: Tree) -> Iterator[Finding]:
    for path, text in tree.files.items():
        for pattern, why in WORDS:
            for match in re.finditer(pattern, text, re.MULTILINE):
                line = line_of(text, match.start())
                yield Finding(path, line, "word", f'"{match[0].strip()}": {why}')
