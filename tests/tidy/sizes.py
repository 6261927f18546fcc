"""Sizes: files, functions, parameters, columns; and plain ASCII."""

import ast
import re
from typing import Iterator

from functions import functions
from tree import CPP, Finding, Tree, rule

FILE_LINES_TARGET = 300
FILE_LINES_STOP = 600
FUNCTION_LINES_STOP = 70
PARAMETERS_STOP = 5
COLUMNS_STOP = 100
README_LINES_STOP = 40
PAGE_LINES_STOP = {"ARCHITECTURE.md": 250}

SOURCE = (*CPP, ".py", ".go", ".rs", ".cmake", ".sh", "CMakeLists.txt", "Makefile")
RATCHET = "tests/tidy/ratchet.txt"
MACRO = re.compile(r"^[A-Z0-9_]+$")


def is_source(tree: Tree, path: str) -> bool:
    return path.endswith(SOURCE) or tree.files[path].startswith("#!")


def line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def read_ratchet(text: str) -> dict[str, int]:
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {path: int(lines) for lines, path in rows}


def write_ratchet(tree: Tree) -> str:
    head = (
        "# Files over the target of 300 lines, and how long each may be. Numbers only go down.\n"
        "# Rewrite with: python3 tests/tidy/tidy.py --update-ratchet\n"
    )
    sizes = {path: line_count(text) for path, text in tree.files.items() if is_source(tree, path)}
    long = sorted(path for path, lines in sizes.items() if lines > FILE_LINES_TARGET)
    return head + "".join(f"{sizes[path]} {path}\n" for path in long)


@rule
def file_size(tree: Tree) -> Iterator[Finding]:
    ratchet = read_ratchet(tree.files.get(RATCHET, ""))
    for path in tree.files:
        if not is_source(tree, path):
            continue
        lines = line_count(tree.files[path])
        if lines > FILE_LINES_STOP:
            text = f"{lines} lines: split it, {FILE_LINES_STOP} is the hard stop"
            yield Finding(path, 1, "file-size", text)
        elif lines > max(FILE_LINES_TARGET, ratchet.get(path, 0)):
            text = f"{lines} lines: the target is {FILE_LINES_TARGET}"
            if path in ratchet:
                text += f", and this file may have {ratchet[path]} ({RATCHET})"
            yield Finding(path, 1, "file-size", text)
    for path, lines in PAGE_LINES_STOP.items():
        if path in tree.files and line_count(tree.files[path]) > lines:
            yield Finding(path, 1, "file-size", f"at most {lines} lines")


@rule
def ratchet_is_tight(tree: Tree) -> Iterator[Finding]:
    for path, lines in read_ratchet(tree.files.get(RATCHET, "")).items():
        now = line_count(tree.files[path]) if path in tree.files else 0
        if now < lines:
            text = f"{path} has {now} lines, no longer {lines}: tidy.py --update-ratchet"
            yield Finding(RATCHET, 1, "ratchet", text)


@rule
def function_size(tree: Tree) -> Iterator[Finding]:
    for path in tree.cpp():
        for function in functions(tree.code(path)):
            if function.lines > FUNCTION_LINES_STOP:
                text = f"{function.name} has {function.lines} lines, stop at {FUNCTION_LINES_STOP}"
                yield Finding(path, function.start, "function-size", text)
            many = len(function.parameters)
            if many > PARAMETERS_STOP and not MACRO.match(function.name):
                text = f"{function.name} takes {many} parameters: use an options struct"
                yield Finding(path, function.start, "parameters", text)
    for path in tree.python():
        for node in ast.walk(ast.parse(tree.files[path])):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = node.end_lineno - node.lineno + 1
                if lines > FUNCTION_LINES_STOP:
                    text = f"{node.name} has {lines} lines, stop at {FUNCTION_LINES_STOP}"
                    yield Finding(path, node.lineno, "function-size", text)


@rule
def columns_and_ascii(tree: Tree) -> Iterator[Finding]:
    for path, whole in tree.files.items():
        limited = is_source(tree, path) and not path.endswith((".go", ".rs"))  # they have their own
        for number, line in enumerate(whole.split("\n"), 1):
            # clang-format breaks C++ everywhere but inside a literal, and those stay in one piece.
            literal = path.endswith(CPP) and '"' in line
            if limited and len(line) > COLUMNS_STOP and not literal:
                text = f"{len(line)} columns, stop at {COLUMNS_STOP}"
                yield Finding(path, number, "columns", text)
            if not line.isascii():
                odd = next(char for char in line if not char.isascii())
                yield Finding(path, number, "ascii", f"U+{ord(odd):04X} is not ASCII")
            if line != line.rstrip() and path != "LICENSE":
                yield Finding(path, number, "trailing-space", "space at the end of the line")
        if whole and not whole.endswith("\n"):
            yield Finding(path, line_count(whole), "final-newline", "the last line has no newline")
