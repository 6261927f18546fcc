#!/usr/bin/env python3
"""Checks the whole tree against the rules of CONTRIBUTING.md that no compiler knows.

  tidy.py                    print every finding; exit 1 when there is one
  tidy.py PATH..             print only findings in these files or folders
  tidy.py --cpp-files        print every C++ file of the tree, separated by NUL
  tidy.py --update-ratchet   write the present lengths of long files to ratchet.txt
"""

import argparse
import sys
import time
from pathlib import Path

import bans  # noqa: F401: importing a module registers its rules
import coroutines  # noqa: F401
import documents  # noqa: F401
import includes  # noqa: F401
import members  # noqa: F401
import sizes
import tree

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--update-ratchet", action="store_true")
    parser.add_argument("--cpp-files", action="store_true")
    args = parser.parse_args()
    start = time.monotonic()
    whole = tree.read_tree(ROOT)
    if args.update_ratchet:
        (ROOT / sizes.RATCHET).write_text(sizes.write_ratchet(whole))
        return 0
    if args.cpp_files:
        print(*whole.cpp(), sep="\0", end="")
        return 0
    found = tree.check(whole)
    if args.paths:
        found = [f for f in found if f.path.startswith(tuple(args.paths))]
    for finding in found:
        print(finding)
    seconds = time.monotonic() - start
    print(f"tidy: {len(found)} findings in {len(whole.files)} files ({seconds:.1f} s)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
