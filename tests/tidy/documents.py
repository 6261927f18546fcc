"""Documentation: a doormat in every folder, links that lead somewhere, tables that are complete."""

import re
from typing import Iterator

from sizes import README_LINES_STOP, line_count
from tree import CPP, Finding, Tree, line_of, rule

LINK = re.compile(r"\[[^\]\n]*\]\(\s*([^)\s]+)[^)\n]*\)|^\[[^\]\n]+\]:\s*(\S+)", re.MULTILINE)
OUTSIDE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
METRICS_PAGE = "docs/reference/metrics.md"
METRIC = re.compile(r'"(amdahl_[a-z0-9_]+)"')


def prose(text: str) -> str:
    """Markdown with its code blocks and code spans blanked; lines stay where they are."""
    text = FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    return re.sub(r"`[^`\n]*`", lambda m: " " * len(m[0]), text)


def anchors(text: str) -> set[str]:
    """The fragments GitHub gives to headings."""
    found: dict[str, int] = {}
    names = set()
    fenced = FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*#*$", fenced, re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = found.get(slug, 0)
        found[slug] = count + 1
        names.add(f"{slug}-{count}" if count else slug)
    return names


@rule
def doormats(tree: Tree) -> Iterator[Finding]:
    for folder in sorted(tree.folders):
        here = (path for path in tree.files if path.rpartition("/")[0] == folder)
        sources = any(path.endswith((*CPP, ".py")) for path in here)
        if sources and f"{folder}/README.md" not in tree.files:
            text = "every folder with sources has a README.md"
            yield Finding(f"{folder}/README.md", 1, "readme", text)
    for path in tree.markdown():
        lines = line_count(tree.files[path])
        if path.endswith("/README.md") and lines > README_LINES_STOP:
            text = f"{lines} lines: a folder's README has at most {README_LINES_STOP}"
            yield Finding(path, 1, "readme", text)


@rule
def one_title(tree: Tree) -> Iterator[Finding]:
    for path in tree.markdown():
        titles = re.findall(r"^# \S.*$", prose(tree.files[path]), re.MULTILINE)
        if len(titles) != 1:
            text = f"{len(titles)} lines start with '# ': a page has one title"
            yield Finding(path, 1, "title", text)


@rule
def links(tree: Tree) -> Iterator[Finding]:
    for path in tree.markdown():
        text = prose(tree.files[path])
        for match in LINK.finditer(text):
            target = match[1] or match[2]
            if OUTSIDE.match(target):
                continue
            line = line_of(text, match.start())
            file, _, fragment = target.partition("#")
            place = _resolve(path, file) if file else path
            if place is None or place not in tree:
                yield Finding(path, line, "link", f"{target} leads nowhere")
            elif fragment and place in tree.files and fragment not in anchors(tree.files[place]):
                yield Finding(path, line, "link", f"{place} has no heading #{fragment}")


def _resolve(path: str, target: str) -> str | None:
    parts = path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


@rule
def metrics_page(tree: Tree) -> Iterator[Finding]:
    declared = {}
    for path in tree.cpp():
        if re.search(r"/(\w+_)?metrics\.[ch]pp$", path):
            text = tree.uncommented(path)
            declared |= {m[1]: (path, line_of(text, m.start())) for m in METRIC.finditer(text)}
    page = tree.files.get(METRICS_PAGE, "")
    listed = set(re.findall(r"`(amdahl_[a-z0-9_]+)`", page))
    for name in sorted(declared.keys() - listed):
        yield Finding(*declared[name], "metric", f"{name} is not in {METRICS_PAGE}")
    for name in sorted(listed - declared.keys()):
        yield Finding(METRICS_PAGE, 1, "metric", f"no metrics file declares {name}")


@rule
def scenarios_named(tree: Tree) -> Iterator[Finding]:
    """A page that gives a scenario as its proof names one that is there."""
    folder = "operator/training/scenarios/"
    for path, text in tree.files.items():
        if not path.startswith("docs/explanation/"):
            continue
        for named in re.finditer(r"`([a-z0-9-]+\.txt)`", text):
            if folder + named[1] not in tree.files:
                line = line_of(text, named.start())
                yield Finding(path, line, "scenario", f"{folder}{named[1]} is not there")
