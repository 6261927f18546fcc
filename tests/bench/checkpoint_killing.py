#!/usr/bin/env python3
"""SIGKILL at a random time of a save, again and again; a line of JSON for what is left each time.

  checkpoint_killing.py VICTIM --folder DIR [--kills 60] [--mib 128] [--seed 1]

A child saves step after step. Some time after its first commit it is killed, with all processes
that it has started. Another child then resumes as after a restart, and says what it finds.
"""

import argparse
import contextlib
import json
import os
import random
import selectors
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from checkpoint_peers import CONTESTANTS
from checkpoint_victims import VICTIMS, TaggedJax, TaggedTorch

CHILD_SECONDS_MAX = 180.0
TRIAL_COMMITS = 4


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("victim", choices=VICTIMS)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--mib", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", choices=("save", "resume"))
    return parser.parse_args()


def opened(args: argparse.Namespace):
    """The way of saving, in the process that will use it."""
    contestant, kind, _ = VICTIMS[args.victim]
    if kind.needs_group:
        import torch.distributed

        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0,
                                             world_size=1)
    state = TaggedJax if CONTESTANTS[contestant][1] == "jax" else TaggedTorch
    return kind(args.folder, state(args.mib << 20), 0, 1)


def save_for_ever(args: argparse.Namespace, lines) -> None:
    own = opened(args)
    step = 0
    while True:
        step += 1
        own.state.tag(step)
        own.save(step)
        own.wait(step)
        print(step, file=lines, flush=True)


def resume(args: argparse.Namespace, lines) -> None:
    own = opened(args)
    found = {"tags": [], "orphan_bytes": 0}
    try:
        loaded = own.resume()
        found["tags"] = [] if loaded is None else sorted(own.state.tags(loaded))
    except BaseException as error:  # noqa: BLE001: whatever it raises, nothing was loaded
        found["error"] = f"{type(error).__name__}: {error}"[:200]
    with contextlib.suppress(OSError, ValueError):  # there is no `latest`
        found["orphan_bytes"] = own.orphan_bytes() if found["tags"] else 0
    print(json.dumps(found), file=lines, flush=True)


class Child:
    """Runs one of the two above in a session of its own, forked or anew; reads its lines."""

    def __init__(self, args: argparse.Namespace, what: str):
        reading, writing = os.pipe()
        if VICTIMS[args.victim][2]:
            self.pid = os.fork()
            if not self.pid:
                self._be(args, what, writing)
        else:
            command = [sys.executable, __file__, args.victim, "--folder", args.folder,
                       "--mib", str(args.mib), "--child", what]
            self._process = subprocess.Popen(command, stdout=writing, start_new_session=True)
            self.pid = self._process.pid
        os.close(writing)
        self._reading, self._text = reading, b""

    def _be(self, args: argparse.Namespace, what: str, writing: int) -> None:
        code = 1
        try:
            os.setsid()
            os.dup2(2, 1)
            run = save_for_ever if what == "save" else resume
            with os.fdopen(writing, "w") as lines:
                run(args, lines)
            code = 0
        except BaseException as error:  # noqa: BLE001: never into the parent's code
            print(f"{what}: {error!r}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)

    def line(self, seconds: float = CHILD_SECONDS_MAX) -> str | None:
        """The next one; nothing when it has ended, or takes too long."""
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._reading, selectors.EVENT_READ)
            while b"\n" not in self._text:
                if not selector.select(max(0.0, until - time.monotonic())):
                    return None
                piece = os.read(self._reading, 65536)
                if not piece:
                    return None
                self._text += piece
        line, _, self._text = self._text.partition(b"\n")
        return line.decode()

    def kill(self) -> list[str]:
        """With all it has started; gives the lines that it still said."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        lines = []
        while (line := self.line(5.0)) is not None:
            lines.append(line)
        os.close(self._reading)
        return lines


def clean(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def cycle_seconds(args: argparse.Namespace) -> float:
    """From one commit to the next, of a child that is left in peace."""
    clean(args.folder)
    child = Child(args, "save")
    times = []
    for _ in range(TRIAL_COMMITS):
        if child.line() is None:
            child.kill()
            raise RuntimeError(f"{args.victim}: no save in {CHILD_SECONDS_MAX} s")
        times.append(time.monotonic())
    child.kill()
    return (times[-1] - times[0]) / (len(times) - 1)


def killed_once(args: argparse.Namespace, seconds: float) -> dict:
    clean(args.folder)
    child = Child(args, "save")
    first = child.line()
    if first is None:
        child.kill()
        raise RuntimeError(f"{args.victim}: no save in {CHILD_SECONDS_MAX} s")
    time.sleep(seconds)
    committed = int([first, *child.kill()][-1])
    checker = Child(args, "resume")
    said = checker.line()
    checker.kill()
    found = json.loads(said) if said else {"tags": [], "orphan_bytes": 0, "error": "no answer"}
    tags = found["tags"]
    return {"committed": committed, "after": seconds, "tags": tags,
            "unloadable": not tags, "mixed": len(tags) > 1,
            "older": len(tags) == 1 and tags[0] < committed,
            "orphan_bytes": found["orphan_bytes"], "error": found.get("error", "")}


def main() -> int:
    args = parse()
    if args.child:
        lines = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        (save_for_ever if args.child == "save" else resume)(args, lines)
        return 0
    if VICTIMS[args.victim][2]:
        import torch
        import torch.distributed

        torch.set_num_threads(1)  # no threads here: children are forked
    chance = random.Random(args.seed)
    cycle = cycle_seconds(args)
    for _ in range(args.kills):
        print(json.dumps(killed_once(args, chance.uniform(0.0, cycle))), flush=True)
    shutil.rmtree(args.folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
