#!/usr/bin/env python3
"""What a run of ctest skipped, and why: tests that a table of passed tests would hide.

usage: tools/skips.py build/dev/Testing/results.xml
"""

from __future__ import annotations

import collections
import re
import sys
from xml.etree import ElementTree

REASON_MAX = 110
REASONS_MAX = 20
# unittest's own words, with -v and without; a script that leaves with code 77 says "skipped: ".
ONE = re.compile(r"(?m)\.\.\. skipped (?P<q>['\"])(?P<why>.*)(?P=q)$")
COUNT = re.compile(r"(?m)^(?:OK|FAILED) \(.*?\bskipped=(\d+)")
WHOLE = re.compile(r"(?m)^skipped: (.*)$")


def skips(results: str) -> tuple[int, dict[tuple[str, str], int]]:
    """Tests in all, and {(test, reason): how many} of what was skipped."""
    found: dict[tuple[str, str], int] = collections.Counter()
    cases = list(ElementTree.parse(results).getroot().iter("testcase"))
    for case in cases:
        name, said = case.get("name", ""), case.findtext("system-out") or ""
        if case.find("skipped") is not None:
            why = WHOLE.search(said)
            found[name, why[1] if why else "exit code 77"] += 1
            continue
        reasons = [one["why"] for one in ONE.finditer(said)]
        for why in reasons:
            found[name, why] += 1
        unnamed = sum(map(int, COUNT.findall(said))) - len(reasons)
        if unnamed > 0:
            found[name, "run it with -v for the reason"] += unnamed
    return len(cases), found


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        total, found = skips(sys.argv[1])
    except (OSError, ElementTree.ParseError) as error:
        print(f"  skipped: unknown: {error}")
        return 0
    print(f"  skipped: {sum(found.values())} in {total} tests")
    for (name, why), count in sorted(found.items())[:REASONS_MAX]:
        print(f"    {count} x {name}: {why}"[:REASON_MAX + 20])
    if len(found) > REASONS_MAX:
        print(f"    and {len(found) - REASONS_MAX} more reasons")
    return 0


if __name__ == "__main__":
    sys.exit(main())
