"""The source tree as the rules see it: a dictionary of texts, so that a test can invent one."""

import dataclasses
import functools
import re
import subprocess
from pathlib import Path
from typing import Callable, Iterable, Iterator

CPP = (".cpp", ".hpp")
# Tests, and what sits beside a source only for them.
TEST = r"_(test|fixture)\.[ch]pp$|(^|/)test_\w+\.[ch]pp$|^tests/"
SKIPPED = re.compile(r"(^|/)(corpus|testdata)/|\.(lock|sum|pem|der|png|svg)$")
ALLOWED = re.compile(r"tidy: allow\(([a-z-]+)\) \S")


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message} [{self.rule}]"


class Tree:
    """Path (relative, with slashes) to text. Blanked texts keep every line and column in place."""

    def __init__(self, files: dict[str, str], folders: Iterable[str] = ()):
        self.files = files
        self.folders = set(folders)
        for path in files:
            parts = path.split("/")[:-1]
            self.folders.update("/".join(parts[:n]) for n in range(1, len(parts) + 1))

    def __contains__(self, path: str) -> bool:
        return path in self.files or path.rstrip("/") in self.folders

    def cpp(self) -> Iterator[str]:
        return (path for path in self.files if path.endswith(CPP))

    def python(self) -> Iterator[str]:
        for path, text in self.files.items():
            first = text.split("\n", 1)[0]
            if path.endswith(".py") or (first.startswith("#!") and "python" in first):
                yield path

    def markdown(self) -> Iterator[str]:
        return (path for path in self.files if path.endswith(".md"))

    @functools.cache
    def code(self, path: str) -> str:
        """C++ without comments and without the insides of literals."""
        return blank(self.files[path], literals=True)

    @functools.cache
    def uncommented(self, path: str) -> str:
        return blank(self.files[path], literals=False)

    def allows(self, path: str, line: int, rule: str) -> bool:
        """`// tidy: allow(rule) reason` on the line itself or on the one above it."""
        lines = self.files[path].split("\n")
        near = lines[max(0, line - 2) : line]
        return any(m.group(1) == rule for text in near for m in ALLOWED.finditer(text))


Rule = Callable[[Tree], Iterator[Finding]]
RULES: list[Rule] = []


def rule(check: Rule) -> Rule:
    RULES.append(check)
    return check


def check(tree: Tree, rules: Iterable[Rule] | None = None) -> list[Finding]:
    found = (finding for rule in rules or RULES for finding in rule(tree))
    return sorted(f for f in found if not _allowed(tree, f))


def _allowed(tree: Tree, finding: Finding) -> bool:
    inside = finding.path in tree.files
    return inside and tree.allows(finding.path, finding.line, finding.rule)


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


LITERAL = re.compile(
    r"""(?P<line>//[^\n]*)
      | (?P<block>/\*.*?\*/)
      | (?P<raw>R"(?P<delim>[^()\s\\]{0,16})\(.*?\)(?P=delim)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<number>\b\d[\w.]*(?:'\w+)+)          # 1'000: not the start of a character
      | (?P<char>'(?:\\.|[^'\\\n])+')""",
    re.VERBOSE | re.DOTALL,
)


def blank(text: str, literals: bool) -> str:
    def replace(match: re.Match) -> str:
        whole = match.group(0)
        if match.lastgroup == "number":
            return whole
        if match["line"] or match["block"]:
            return re.sub(r"[^\n]", " ", whole)
        if not literals:
            return whole
        return whole[0] + re.sub(r"[^\n]", " ", whole[1:-1]) + whole[-1]

    return LITERAL.sub(replace, text)


def read_tree(root: Path) -> Tree:
    """What git tracks or would track, so that a build folder or an editor's files do not count."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:  # a release archive: no .git
        paths = (p.relative_to(root) for p in root.rglob("*") if p.is_file())
        names = [str(p) for p in paths if p.parts[0] not in ("build", ".git")]
    files = {}
    folders = set()
    for name in sorted(set(names)):
        path = root / name
        folders.add(str(Path(name).parent))
        if SKIPPED.search(name) or not path.is_file():
            continue
        data = path.read_bytes()
        if b"\0" not in data:
            files[name] = data.decode("utf-8", errors="surrogateescape")
    return Tree(files, folders)
