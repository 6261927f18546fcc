"""Struct members: a scalar without an initialiser holds garbage until somebody remembers it."""

import re
from typing import Iterator

from functions import closing
from tree import TEST, Finding, Tree, line_of, rule

STRUCT = re.compile(r"\bstruct\s+(?:\[\[\w+\]\]\s*)?(\w+)\s*(?:final\s*)?(?::[^;{}()]*)?\{")
SCALAR = (
    r"bool|char|short|int|long|unsigned|float|double|std::size_t|ssize_t|std::ptrdiff_t"
    r"|std::u?int(?:8|16|32|64|ptr)_t"
)
MEMBER = re.compile(
    rf"(?:^|(?<=[;{{}}:]))\s*(?:const\s+)?(?:(?:{SCALAR})\s+|[\w:]+\s*\*\s*)(\w+)\s*;",
    re.MULTILINE,
)


@rule
def initialisers(tree: Tree) -> Iterator[Finding]:
    """Plain structs only: where there is a constructor, it may do the work."""
    for path in tree.cpp():
        if re.search(TEST, path):
            continue
        code = tree.code(path)
        for struct in STRUCT.finditer(code):
            body = code[struct.end() : closing(code, struct.end() - 1)]
            if re.search(rf"(?<!~)\b{struct[1]}\s*\(", body):
                continue
            flat = _without_braces(body)
            for member in MEMBER.finditer(flat):
                line = line_of(code, struct.end() + member.end() - 1)
                text = f"{struct[1]}::{member[1]} has no initialiser"
                yield Finding(path, line, "initialiser", text)


def _without_braces(text: str) -> str:
    """Nested bodies blanked: functions are no members, and a nested struct is found by itself."""
    out, depth = [], 0
    for char in text:
        depth -= char == "}"
        out.append(char if depth == 0 or char == "\n" else " ")
        depth += char == "{"
    return "".join(out)
