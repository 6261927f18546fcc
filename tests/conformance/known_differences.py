"""What is allowed to differ, and why: the only place that excuses anything.

Each row is as narrow as it can be: a verb or kind, a path inside the answer, and what the two sides
say there. docs/reference/conformance.md holds the same rows (`differential.py --table` prints them,
a test compares).
"""

import dataclasses
import re
from collections.abc import Callable

from compare import Difference


@dataclasses.dataclass(frozen=True)
class Known:
    id: str
    what: str
    why: str
    matches: Callable[[Difference], bool]


def at(pattern: str) -> Callable[[Difference], bool]:
    whole = re.compile(pattern)
    return lambda difference: bool(whole.fullmatch(difference.path))


KNOWN: list[Known] = []


def known_id(difference: Difference) -> str | None:
    return next((row.id for row in KNOWN if row.matches(difference)), None)


def table() -> str:
    lines = ["| id | what differs | why |", "| --- | --- | --- |"]
    lines += [f"| {row.id} | {row.what} | {row.why} |" for row in KNOWN]
    return "\n".join(lines) + "\n"
