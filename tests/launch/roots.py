#!/usr/bin/env python3
"""The launcher where nothing else is: an empty root, a busybox root, an old distribution.

  roots.py                      an empty root and a busybox root
  roots.py --root DIR           also DIR, a whole root with /bin/sh, such as debootstrap makes

It runs as PID 1 of a namespace of its own. Prints what it ran in; fails when the program needs a
library, is larger than 10 MB, or does not do its work in one of them.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from launch import PROGRAM, Operator  # noqa: E402

BYTES_MAX = 10 * 1000 * 1000
SECONDS_MAX = 60
# Whatever is mounted in here goes away with the namespace.
ENTER = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork"]
WITH_PROC = ["sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"']


def check(fact: bool, text: str) -> None:
    if not fact:
        raise SystemExit(f"roots: {text}")


def is_static() -> str:
    size = PROGRAM.stat().st_size
    check(size < BYTES_MAX, f"{PROGRAM.name} has {size} bytes, the limit is {BYTES_MAX}")
    headers = subprocess.run(["readelf", "-ld", PROGRAM], capture_output=True, text=True,
                             check=True)
    check("INTERP" not in headers.stdout, "it asks for a loader")
    check("(NEEDED)" not in headers.stdout, "it asks for a library")
    return f"{size / 1e6:.2f} MB, static"


def run_in(root: Path, command: list[str], operator: Operator, proc: bool) -> tuple[int, dict, str]:
    """The exit code, the termination message, and what was printed."""
    reached = len(operator.reports)
    hosts = (root / "etc/hosts").exists()  # else not even localhost has a name
    env = {"PATH": "/bin:/usr/bin", "TMPDIR": "/tmp", "AMDAHL_JOB": "a/b",
           "AMDAHL_REPORT_URL": operator.url if hosts else f"http://127.0.0.1:{operator.port}/",
           "AMDAHL_TERMINATION_LOG": "/tmp/termination-log"}
    enter = [*ENTER, *WITH_PROC, root] if proc else [*ENTER, "chroot", root]
    done = subprocess.run([*enter, "/amdahl/amdahl-launch", "run", "--", *command], env={
        **env, "PATH": os.environ["PATH"]}, capture_output=True, text=True, timeout=SECONDS_MAX)
    check(len(operator.reports) > reached, f"no report came out of {root}: {done.stderr}")
    word = json.loads((root / "tmp/termination-log").read_text())
    return done.returncode, word, done.stdout + done.stderr


def make_root(path: Path, busybox: bool) -> Path:
    for folder in ("amdahl", "tmp", "etc", "proc", "bin"):
        (path / folder).mkdir(parents=True, exist_ok=True)
    installed = subprocess.run([PROGRAM, "install", path / "amdahl"], timeout=SECONDS_MAX)
    check(installed.returncode == 0, "install failed")
    # The trainer of the empty root: a program that needs nothing either.
    shutil.copy(shutil.which("busybox"), path / "bin/busybox")
    if busybox:
        for name in ("sh", "sleep", "echo", "kill"):
            (path / "bin" / name).symlink_to("busybox")
        (path / "etc/hosts").write_text("127.0.0.1 localhost\n")
    return path


def try_shell(root: Path, operator: Operator, name: str) -> None:
    script = "echo pid $$; (sleep 0.1 &); exit 7"
    code, word, said = run_in(root, ["sh", "-c", script], operator, True)
    check(code == 7 and word["exit"]["code"] == 7, f"{name}: {code} {word} {said}")
    check("pid" in said, f"{name}: {said}")
    code, word, said = run_in(root, ["no-such-program"], operator, True)
    check(code == 127 and word["error"]["kind"] == "CommandNotFound", f"{name}: {code} {said}")
    print(f"roots: {name}: reports, exit codes and termination message")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, action="append", default=[])
    options = parser.parse_args()
    print(f"roots: {PROGRAM.name}: {is_static()}")
    with tempfile.TemporaryDirectory(prefix="amdahl-roots-") as folder, Operator() as operator:
        empty = make_root(Path(folder) / "empty", busybox=False)
        code, word, said = run_in(empty, ["/bin/busybox", "sh", "-c", "exit 5"], operator, False)
        check(code == 5 and word["exit"]["code"] == 5, f"empty: {code} {word} {said}")
        print("roots: an empty root without /proc: reports, exit codes and termination message")
        try_shell(make_root(Path(folder) / "busybox", busybox=True), operator, "a busybox root")
        for root in options.root:
            (root / "amdahl").mkdir(exist_ok=True)
            subprocess.run([PROGRAM, "install", root / "amdahl"], check=True)
            libc = subprocess.run([*ENTER, "chroot", root, "ldd", "--version"], capture_output=True,
                                  text=True).stdout.partition("\n")[0]
            try_shell(root, operator, f"{root.name} ({libc})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
