"""Which tests carry which tag: what the generated tables of rules and promises are made from.

A C++ test carries `[L4]` among the tags of its TEST_CASE; a Python test has a comment above it,
`# rules: L4`. The word before the colon says which table it is for.
"""

import dataclasses
import re

from tree import TEST, Tree, blank

LITERALS = r'((?:"(?:\\.|[^"\\\n])*"\s*)+)'
CASE = re.compile(
    r"\b(?:TEST_CASE|SCENARIO|TEMPLATE_TEST_CASE)\s*\(\s*" + LITERALS + r"(?:,\s*" + LITERALS + ")?"
    r"|\bTEST_CASE_METHOD\s*\(\s*[\w:]+\s*,\s*" + LITERALS + r"(?:,\s*" + LITERALS + ")?"
)
# The comments and decorators above a function; several of the comments may carry tags.
PYTHON = re.compile(r"^((?: *[@#][^\n]*\n)+) *def (\w+)", re.MULTILINE)


@dataclasses.dataclass(frozen=True, order=True)
class Test:
    path: str
    name: str


def tests_by_tag(tree: Tree, word: str, tag: str, cpp_prefix: str = "") -> dict[str, list[Test]]:
    """Tag (a regular expression) to the tests that carry it; `word` opens Python's comment."""
    found: dict[str, list[Test]] = {}
    carried = re.compile(rf"^ *# {word}: ([^\n]+)", re.MULTILINE)
    for path, text in tree.files.items():
        # The package's own tests sit beside it and not under tests/.
        if re.search(TEST, path) is None and not re.search(r"/tests/test_\w+\.py$", path):
            continue
        if path.endswith(".cpp"):
            for match in CASE.finditer(blank(text, literals=False)):
                name, tags = match[1] or match[3], match[2] or match[4] or ""
                for each in re.findall(rf"\[{cpp_prefix}({tag})\]", tags):
                    found.setdefault(each, []).append(Test(path, _joined(name)))
        elif path.endswith(".py"):
            for match in PYTHON.finditer(text):
                name = match[2].removeprefix("test_").replace("_", " ")
                tags = " ".join(carried.findall(match[1]))
                for each in re.findall(rf"(?<![\w.])({tag})(?![\w.])", tags):
                    found.setdefault(each, []).append(Test(path, name))
    return found


def _joined(literals: str) -> str:
    return "".join(re.findall(r'"((?:\\.|[^"\\])*)"', literals)).replace('\\"', '"')


def cells(tests: list[Test]) -> str:
    """The tests as one cell of a table in docs/reference."""
    return "<br>".join(_cell(test) for test in sorted(set(tests)))


def _cell(test: Test) -> str:
    name = test.name.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")
    return f"{name} ([{test.path.rpartition('/')[2]}](../../{test.path}))"
