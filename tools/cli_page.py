#!/usr/bin/env python3
"""Writes docs/reference/cli.md from the help texts of the program; --check only compares."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference/cli.md"
PROGRAM = Path(os.environ.get("AMDAHL_CLI", ROOT / "build/dev/cli/amdahl"))
HEAD = """\
# The amdahl command

Generated from `amdahl --help` by `python3 tools/cli_page.py`; a test compares them.

| exit code | means |
| --- | --- |
| 0 | done |
| 1 | failed; standard error says `amdahl: ` and why |
| 2 | the command line is wrong; nothing was done |
| 3 | `local status`: no cluster runs |
| 4 | `wait`, and `--wait` of `pause`, `resume` and `cancel`: time was up |

Errors go to standard error, everything else to standard output.
"""


def help_of(words: list[str]) -> str:
    command = [PROGRAM, *words, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def verbs_in(text: str) -> list[str]:
    part = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.MULTILINE)
    return re.findall(r"^  (\w[\w-]*) ", part[1], re.MULTILINE) if part else []


def sections(words: list[str]) -> str:
    text = help_of(words)
    title = " ".join(["amdahl", *words])
    page = f"\n## {title}\n\n```text\n{text.strip()}\n```\n"
    return page + "".join(sections([*words, verb]) for verb in verbs_in(text))


def main() -> int:
    page = HEAD + sections([])
    if "--check" in sys.argv:
        if page == PAGE.read_text():
            return 0
        print(f"{PAGE.relative_to(ROOT)} is not what the program says: python3 tools/cli_page.py")
        return 1
    PAGE.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
