#!/usr/bin/env python3
"""Switches off one safeguard at a time and demands that some test notices.

  mutation.py kube_test controller_test ...

For every rule that base/rules.hpp can switch off, the test cases tagged with it run twice: as they
are they must pass, and with AMDAHL_SWITCH_OFF=<rule> at least one must fail. A safeguard that
nobody misses is not tested, whatever the coverage says.
"""

import html
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS_MAX = 60  # of one run; a safeguard's absence may also show as a hang
CASE = re.compile(r'<TestCase name="([^"]*)"(.*?)</TestCase>', re.DOTALL)


def switches() -> list[str]:
    """The rules of the enum, so that a new one cannot be forgotten here."""
    text = (ROOT / "base" / "rules.hpp").read_text()
    return re.findall(r"^\s*k([A-Z]\d+),", text, re.MULTILINE)


def has_tests(program: str, rule: str) -> bool:
    """Catch2 answers --list-test-names-only with the number of names."""
    done = subprocess.run([program, f"[{rule}]", "--list-test-names-only"], capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=SECONDS_MAX)
    return done.returncode > 0


def run(program: str, rule: str, off: bool) -> tuple[bool, list[str]]:
    """(all passed, the test cases that did not) of the cases tagged with the rule."""
    env = {key: value for key, value in os.environ.items() if key != "AMDAHL_SWITCH_OFF"}
    if off:
        env["AMDAHL_SWITCH_OFF"] = rule
    command = [program, f"[{rule}]", "--reporter", "xml"]
    try:
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return False, [f"no end after {SECONDS_MAX} s"]
    cases = CASE.findall(done.stdout)
    failed = '<OverallResult success="false"'
    names = [html.unescape(name) for name, body in cases if failed in body]
    if done.returncode != 0 and not names:
        names = [f"exit {done.returncode}: {done.stderr.strip()[-200:]}"]
    return done.returncode == 0, names


def judge(rule: str, programs: list[str]) -> list[str]:
    """What is wrong; prints who caught the missing safeguard."""
    tagged = [program for program in programs if has_tests(program, rule)]
    if not tagged:
        return [f"{rule}: no test case carries the tag [{rule}]"]
    problems, caught = [], []
    for program in tagged:
        passed, names = run(program, rule, off=False)
        if not passed:
            problems.append(f"{rule}: {Path(program).name} fails as it is: {'; '.join(names)}")
        passed, names = run(program, rule, off=True)
        if not passed:
            caught += [f"{Path(program).name}: {name}" for name in names]
    if not caught:
        problems.append(f"{rule}: switched off, and no test tagged [{rule}] noticed")
    for name in caught:
        print(f"{rule} off: caught by {name}")
    return problems


def main(programs: list[str]) -> int:
    if not programs:
        print(__doc__, file=sys.stderr)
        return 2
    start = time.monotonic()
    rules = switches()
    if not rules:
        print("mutation: base/rules.hpp names no rule", file=sys.stderr)
        return 1
    problems = [problem for rule in rules for problem in judge(rule, programs)]
    for problem in problems:
        print(f"mutation: {problem}", file=sys.stderr)
    seconds = time.monotonic() - start
    print(f"mutation: {len(rules)} safeguards, {len(problems)} problems ({seconds:.0f} s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
