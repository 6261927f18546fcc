"""What the compiler does not say about coroutines."""

import re
from typing import Iterator, NamedTuple

from functions import closing, split
from tree import TEST, Finding, Tree, line_of, rule

# Awaits of these give nothing that could be lost.
VOID_AWAITS = {"post", "dispatch", "defer", "throw_if_cancelled", "reset_cancellation_state"}
TASK = re.compile(r"\bTask\s*<")
# A statement starts after these; what stands before the parenthesis decides whether it is a cast.
STATEMENT = re.compile(r"(?:(?<=[;{})])|(?<=\belse)|(?<=\bdefault:))\s*\bco_await\b\s*")
ACCESS = re.compile(r"\b(public|protected|private)\s*:|\b(class|struct)\b[^;{}()]*\{")
BINDS_TEMPORARY = (
    (re.compile(r"\bconst\b[^&]*&(?!&)|\w\s+const\s*&(?!&)"), "a const reference"),
    (re.compile(r"&&"), "an rvalue reference"),
    (re.compile(r"\bstring_view\b"), "a string_view"),
    (re.compile(r"\bspan<\s*const\b"), "a span of const"),
)


class Declared(NamedTuple):
    offset: int
    result: str
    name: str
    parameters: list[str]
    end: int  # behind the closing parenthesis


def task_declarations(code: str) -> Iterator[Declared]:
    """Everything that reads `Task<result> name(..)`."""
    for match in TASK.finditer(code):
        end = closing(code, match.end() - 1)
        result = code[match.end() : end].strip()
        name = re.match(r"\s+((?:\w+::)*\w+)\s*\(", code[end + 1 :])
        if name is None:
            continue
        start = end + 1 + name.end() - 1
        end = closing(code, start)
        yield Declared(match.start(), result, name[1], split(code[start + 1 : end]), end + 1)


@rule
def coroutine_parameter(tree: Tree) -> Iterator[Finding]:
    """A task that is stored or spawned outlives the expression that made it, and its temporaries.

    So what a header offers takes values. Private parts may take views, because all their callers
    are in the same file and await them at once; tests may, because the address sanitizer looks.
    """
    for path in tree.cpp():
        if not path.endswith(".hpp") or re.search(TEST, path):
            continue
        code = tree.code(path)
        for task in task_declarations(code):
            if _is_private(code, task.offset) or _is_plain(code, task.end):
                continue
            for parameter in task.parameters:
                for pattern, what in BINDS_TEMPORARY:
                    if pattern.search(parameter):
                        line = line_of(code, task.offset)
                        text = f"{task.name}({parameter}): {what} may dangle in a task"
                        yield Finding(path, line, "coroutine-parameter", text)
                        break


def _is_private(code: str, offset: int) -> bool:
    marks = list(ACCESS.finditer(code, 0, offset))
    return bool(marks) and (marks[-1][1] or marks[-1][2]) in ("private", "class")


def _is_plain(code: str, end: int) -> bool:
    """A body that only returns somebody else's task has used its parameters when it returns."""
    opened = re.compile(r"[^;{}]*\{").match(code, end)
    if opened is None:
        return False
    body = code[opened.end() : closing(code, opened.end() - 1)]
    return re.search(r"\bco_(await|return|yield)\b", body) is None


@rule
def bare_co_await(tree: Tree) -> Iterator[Finding]:
    """`co_await f();` drops what f returns, for one "you were cancelled".

    Tests may: a dropped Result is a compiler error anyway, and a test cancels what it means to.
    """
    void = VOID_AWAITS | _void_callables(tree)
    for path in (path for path in tree.cpp() if not re.search(TEST, path)):
        code = tree.code(path)
        for match in STATEMENT.finditer(code):
            if code[: match.start()].endswith("(void)"):
                continue
            called = _called(code, match.end())
            if called in void or _is_void_variable(code, match.end()):
                continue
            line = line_of(code, match.end() - 1)
            text = f"co_await {called or '..'}: bind the result, CO_TRY it or cast it to (void)"
            yield Finding(path, line, "bare-co-await", text)


def _void_callables(tree: Tree) -> set[str]:
    """Functions that return Task<void>, and variables of a function type that does."""
    whole = "\n".join(tree.code(path) for path in tree.cpp())
    tasks = task_declarations(whole)
    names = {task.name.split("::")[-1] for task in tasks if task.result == "void"}
    types = re.findall(r"\busing (\w+) = std::\w*function\w*<Task<void>\(", whole)
    for held in types:
        names.update(re.findall(rf"\b{held}\s*[&*]?\s+(\w+)\s*[;={{,)]", whole))
    return names


def _is_void_variable(code: str, start: int) -> bool:
    """`co_await std::move(task);` where the file declares `Task<void> task`."""
    moved = re.compile(r"std::move\((\w+)\)\s*;").match(code, start)
    return bool(moved and re.search(rf"\bTask\s*<\s*void\s*>\s+{moved[1]}\b", code))


def _called(code: str, start: int) -> str:
    """The last function called in the awaited expression: `a.b(c).d(e);` gives d."""
    at, name = start, ""
    while match := re.compile(r"\s*(?:[.:]+|->|\*)?\s*(\w+)\s*").match(code, at):
        at = match.end()
        if at < len(code) and code[at] == "<":
            at = closing(code, at) + 1
        if at < len(code) and code[at] == "(":
            name = match[1]
            at = closing(code, at) + 1
    return name
