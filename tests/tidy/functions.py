"""Finds C++ function definitions by counting braces: good enough for lengths and parameters."""

import dataclasses
import re
from typing import Iterator

TYPE = re.compile(r"^\s*(?:template\s*<.*>\s*)?(class|struct|union|enum)\b", re.DOTALL)
CONTROL = re.compile(r"^\s*(if|for|while|switch|catch|do|else|try|return)\b")
INIT_LIST = re.compile(r"\)\s*(?:noexcept\s*)?:[^:]")
NAME = re.compile(r"(operator\s*[^\s(]+|[\w:~]+)\s*\(")


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    start: int  # line of the first word
    end: int  # line of the closing brace
    parameters: tuple[str, ...]

    @property
    def lines(self) -> int:
        return self.end - self.start + 1


@dataclasses.dataclass
class _Open:
    kind: str  # "scope" (namespace, class), "function", "init" (member{..}), "block"
    header: int  # offset where the header starts
    text: str


def functions(code: str) -> Iterator[Function]:
    """`code` has no comments and empty literals (Tree.code)."""
    stack: list[_Open] = []
    header = 0
    for match in re.finditer(r"[{};]|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", code, re.MULTILINE):
        token, at = match.group(0), match.start()
        inside = stack and stack[-1].kind in ("function", "block")
        if token == "{":
            text = code[header:at]
            kind = "block" if inside else _kind(text)
            stack.append(_Open(kind, header, text))
            if kind != "init":
                header = match.end()
        elif token == "}" and stack:
            top = stack.pop()
            if top.kind == "function":
                yield _function(code, top, at)
            if top.kind != "init":
                header = match.end()
        elif not inside and (token == ";" or "#" in token):
            if token != ";" or code.count("(", header, at) == code.count(")", header, at):
                header = match.end()


def _kind(header: str) -> str:
    plain = re.sub(r"\[\[.*?\]\]|\b(public|private|protected)\s*:", " ", header, flags=re.DOTALL)
    if re.match(r"^\s*(inline\s+)?(namespace|extern)\b", plain):
        return "scope"
    if TYPE.match(plain):
        return "scope"
    if "(" not in plain or CONTROL.match(plain) or re.search(r"[^=!<>]=\s*$", plain):
        return "block"
    if INIT_LIST.search(plain) and re.search(r"[\w>]\s*$", plain):
        return "init"
    return "function"


def _function(code: str, opened: _Open, end: int) -> Function:
    text = re.sub(r"\b(public|private|protected)\s*:", lambda m: " " * len(m[0]), opened.text)
    first = opened.header + len(text) - len(text.lstrip())
    name = NAME.search(_without_angles(text))
    called = name[1] if name else "?"
    start, last = code.count("\n", 0, first) + 1, code.count("\n", 0, end) + 1
    return Function(called, start, last, parameters_after(text, called))


def _without_angles(text: str) -> str:
    """Without template arguments, so that the first name before a parenthesis is the function's."""
    before = None
    while before != text:
        before, text = text, re.sub(r"(?<!operator)<[^<>=]*>", "", text)
    return text


def parameters_after(text: str, name: str) -> tuple[str, ...]:
    """The parameters in the first parentheses that follow `name`."""
    match = re.search(r"(?<![\w:])" + re.escape(name) + r"\s*\(", text)
    if not match:
        return ()
    start = match.end() - 1
    return tuple(split(text[start + 1 : closing(text, start)]))


def closing(text: str, start: int) -> int:
    """Offset of the bracket that closes text[start]; the end of the text when there is none."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    if text[start] == "<":
        pairs["<"] = ">"
    wanted = [pairs[text[start]]]
    for at in range(start + 1, len(text)):
        if text[at] == wanted[-1] and text[at - 1 : at + 1] != "->":
            wanted.pop()
            if not wanted:
                return at
        elif text[at] in pairs:
            wanted.append(pairs[text[at]])
    return len(text)


def split(text: str) -> list[str]:
    """At commas outside of brackets. Angle brackets count: a parameter list has no comparisons."""
    parts, depth, last = [], 0, 0
    for at, char in enumerate(text):
        if char in "([{<":
            depth += 1
        elif char in ")]}" or (char == ">" and text[at - 1] != "-"):
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[last:at].strip())
            last = at + 1
    tail = text[last:].strip()
    return [*parts, tail] if tail else parts
