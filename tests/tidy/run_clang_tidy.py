#!/usr/bin/env python3
"""Runs clang-tidy 19 over what build/dev compiles; remembers the clean files.

  run_clang_tidy.py                 everything that ships, and the headers it includes
  run_clang_tidy.py --tests         tests too: they run under sanitizers, so this is rarely worth it
  run_clang_tidy.py base/clock.cpp  only these (files or folders)
  run_clang_tidy.py --minutes 20    begins no file after that; those that changed last come first

The precompiled header is taken out of the commands: with it clang-tidy walks all of Asio and Beast
for every file, which takes four times as long as parsing just what a file includes. What is clean
is remembered for all checkouts of this user, as ccache does: ~/.cache/amdahl/clang-tidy.
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

from includes import INCLUDE
from tree import TEST

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "clang-tidy"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "amdahl" / "clang-tidy"
CLEAN_FILES_MAX = 20_000  # remembered; the oldest go first
# Changes with every package: the compiler's, and those whose headers our files include.
PACKAGES = Path("/var/lib/dpkg/status")
PROGRAM = "clang-tidy-19"
FILE_SECONDS_MAX = 300
PCH = re.compile(r"\s-Winvalid-pch\b|\s-Xclang -include(?:-pch)? -Xclang \S+")

# The address sanitizer sees the rest when the tests run.
TEST_CHECKS = (
    "-*,bugprone-use-after-move,bugprone-unused-return-value,bugprone-infinite-loop,"
    "cppcoreguidelines-avoid-capturing-lambda-coroutines,misc-coroutine-hostile-raii"
)


@dataclasses.dataclass(frozen=True)
class Job:
    path: str
    key: str  # of everything the answer depends on

    @property
    def stamp(self) -> Path:
        return CACHE / self.key


def jobs(build: Path, only: list[str], tests: bool) -> list[Job]:
    """Writes the database without the PCH and lists what to do, each file once."""
    commands = build / "compile_commands.json"
    if not commands.exists():
        raise SystemExit(f"clang-tidy: {commands} is not there: make build")
    entries = {}
    for entry in json.loads(commands.read_text()):
        file = Path(entry["file"])
        if file.is_relative_to(ROOT) and not file.is_relative_to(ROOT / "build") and file.exists():
            path = str(file.relative_to(ROOT))
            entries.setdefault(path, {**entry, "command": PCH.sub("", entry["command"])})
    OUT.mkdir(parents=True, exist_ok=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    (OUT / "compile_commands.json").write_text(json.dumps(list(entries.values())))
    config = (ROOT / ".clang-tidy").read_bytes() + TEST_CHECKS.encode()
    if PACKAGES.exists():
        config += str(PACKAGES.stat().st_mtime_ns).encode()
    return [
        Job(path, _key(path, config + entry["command"].replace(str(ROOT), "").encode()))
        for path, entry in sorted(entries.items())
        if (path.startswith(tuple(only)) if only else tests or not re.search(TEST, path))
    ]


def _key(path: str, rest: bytes) -> str:
    """Hashes the file with every header of ours it reaches; those of the system do not change."""
    digest = hashlib.sha256(rest)
    seen, todo = set(), [path]
    while todo:
        name = todo.pop()
        file = ROOT / name
        if name in seen or not file.is_file():
            continue
        seen.add(name)
        text = file.read_text(errors="replace")
        todo += [match[1] for match in INCLUDE.finditer(text) if match[1]]
    for name in sorted(seen):
        digest.update(name.encode() + b"\0" + (ROOT / name).read_bytes())
    return digest.hexdigest()


def run(job: Job) -> tuple[Job, str, float]:
    """The findings of one file; no text means clean."""
    start = time.monotonic()
    command = ["nice", "-n", "5", PROGRAM, "-p", str(OUT), "--quiet", str(ROOT / job.path)]
    if re.search(TEST, job.path):
        command.insert(4, f"--checks={TEST_CHECKS}")
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=FILE_SECONDS_MAX)
        text = "" if done.returncode == 0 else done.stdout or done.stderr
    except subprocess.TimeoutExpired:
        text = f"{job.path}: no answer after {FILE_SECONDS_MAX} s\n"
    if not text:
        job.stamp.touch()
    return job, text, time.monotonic() - start


def newest_first(todo: list[Job]) -> list[Job]:
    """By the commit that touched a file last; what is not committed comes before all."""
    log = subprocess.run(["git", "log", "--format=", "--name-only", "--no-renames"], cwd=ROOT,
                         capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    age: dict[str, int] = {}
    for place, path in enumerate(log.split("\n")):
        age.setdefault(path, place)
    return sorted(todo, key=lambda job: age.get(job.path, -1))


def forget_old() -> None:
    stamps = sorted(CACHE.iterdir(), key=lambda stamp: stamp.stat().st_mtime, reverse=True)
    for stamp in stamps[CLEAN_FILES_MAX:]:
        stamp.unlink(missing_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--tests", action="store_true", help="check tests too")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "dev", metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--slowest", type=int, default=0, help="print the N slowest files")
    args = parser.parse_args()
    start = time.monotonic()
    every = jobs(args.build, args.paths, args.tests)
    todo = [job for job in every if not job.stamp.exists()]
    print(f"clang-tidy: {len(todo)} of {len(every)} files changed", flush=True)
    findings: dict[str, None] = {}  # a header's finding comes once for every file that includes it
    bad, times, left_out = [], [], 0

    def in_time(job: Job) -> tuple[Job, str, float] | None:
        return run(job) if time.monotonic() - start < 60 * args.minutes else None

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done, answer in enumerate(pool.map(in_time, newest_first(todo)), 1):
            if answer is None:
                left_out += 1
                continue
            job, text, seconds = answer
            times.append((seconds, job.path))
            if text:
                bad.append(job.path)
            for part in re.split(r"(?m)^(?=\S+:\d+:\d+: (?:error|warning))", text):
                if part.strip() and part not in findings:
                    findings[part] = None
                    print(part.replace(f"{ROOT}/", ""), end="", flush=True)
            if done % 10 == 0:
                elapsed = time.monotonic() - start
                print(f"clang-tidy: {done}/{len(todo)} ({elapsed:.0f} s)", flush=True)
    for seconds, path in sorted(times, reverse=True)[: args.slowest]:
        print(f"  {seconds:6.1f} s  {path}")
    forget_old()
    if left_out:
        print(f"clang-tidy: {left_out} files were not looked at: {args.minutes:g} minutes were up")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"clang-tidy: {len(bad)} of {len(every)} files have findings"
          f" ({time.monotonic() - start:.0f} s, CPU {used.ru_utime + used.ru_stime:.0f} s)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
