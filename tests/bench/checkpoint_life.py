#!/usr/bin/env python3
"""One life of a trainer with one way of saving; a line of JSON for everything it measures.

  checkpoint_life.py CONTESTANT --folder DIR [--shape fp32-16] [--mib 1024] [--saves 5] ...
  checkpoint_life.py --probe NAME..      {name: null, or why it cannot run here}

Several ranks: one process each, with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.
"""

import argparse
import gc
import importlib
import json
import os
import statistics
import sys
import threading
import time
from pathlib import Path

from checkpoint_floors import Floors, cpu_of_all, touch_memory
from checkpoint_peers import CONTESTANTS, make_group
from checkpoint_state import JaxState, TorchState

GIB = 1 << 30
IDLE_STEPS = 40


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contestant", nargs="?", choices=CONTESTANTS)
    parser.add_argument("--probe", nargs="+", metavar="NAME")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--shape", default="fp32-16")
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--saves", type=int, default=5)
    parser.add_argument("--loads", type=int, default=3)
    parser.add_argument("--step-threads", type=int, nargs="*", default=[2, 1])
    return parser.parse_args()


def probe(names: list[str]) -> dict:
    found = {}
    for name in names:
        try:
            importlib.import_module(CONTESTANTS[name][2])
            found[name] = None
        except Exception as error:  # noqa: BLE001: a package may fail in any way
            found[name] = f"{type(error).__name__}: {error}"
    return found


class Life:
    def __init__(self, args: argparse.Namespace, rank: int, world: int):
        kind, runs_in, _ = CONTESTANTS[args.contestant]
        self._state = (JaxState if runs_in == "jax" else TorchState)(
            args.shape, (args.mib << 20) // world, rank)
        if world > 1 or kind.needs_group:
            make_group(rank, world)
        self._world, self._step = world, 0
        # What peers print goes elsewhere.
        self._lines = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        args.folder.mkdir(parents=True, exist_ok=True)
        self._own = kind(args.folder, self._state, rank, world)
        floor_folder = args.folder / f"floor-{rank}"
        floor_folder.mkdir(exist_ok=True)
        self._floors = Floors(floor_folder, self._state)

    def run(self, args: argparse.Namespace) -> None:
        self._say("first", self._save())
        for _ in range(args.saves):
            touch_memory(self._state.bytes)
            self._meet()
            floors = self._floors.measure()
            self._say("save", {**self._save(), "floors": floors})
        for number in range(args.loads + 1):
            seconds = self._load()
            if number:  # the first fills the page cache, and memory that is loaded into
                self._say("load", {"seconds": seconds})
        for threads in args.step_threads if self._own.background else []:
            self._say("steps", {"threads": threads, "times": self._steps(threads)})
        self._own.close()

    def _save(self) -> dict:
        self._before_save()
        cpu, begin = cpu_of_all(), time.perf_counter()
        self._own.save(self._step)
        blocked = time.perf_counter()
        self._own.wait(self._step)
        self._meet()
        durable, cpu = time.perf_counter(), cpu_of_all() - cpu
        self._own.forget(self._step - 1)
        return {"block": blocked - begin, "durable": durable - begin, "cpu": cpu,
                "bytes": self._state.bytes}

    def _before_save(self) -> None:
        self._step += 1
        self._state.advance()
        gc.collect()
        touch_memory(2 * self._state.bytes)
        self._meet()

    def _load(self) -> float:
        touch_memory(2 * self._state.bytes)
        self._meet()
        begin = time.perf_counter()
        loaded = self._own.load(self._step)
        if self._own.maps_files:
            self._state.touch(loaded)
        seconds = time.perf_counter() - begin
        if not self._state.same(loaded):
            raise RuntimeError("other bytes were loaded than were saved")
        return seconds

    def _steps(self, threads: int) -> float:
        """How many times as long a step takes while a save is being written."""
        step = self._state.stepper(threads)
        times = []
        for _ in range(IDLE_STEPS):
            begin = time.perf_counter()
            step()
            times.append(time.perf_counter() - begin)
        self._before_save()
        self._own.save(self._step)
        waiter = threading.Thread(target=self._own.wait, args=(self._step,))
        waiter.start()
        begin, count = time.perf_counter(), 0
        while waiter.is_alive() or not count:
            step()
            count += 1
        slow = (time.perf_counter() - begin) / count
        waiter.join()
        self._own.forget(self._step - 1)
        return slow / statistics.median(times)

    def _meet(self) -> None:
        if self._world > 1:
            import torch.distributed

            torch.distributed.barrier()

    def _say(self, what: str, values: dict) -> None:
        print(json.dumps({"what": what, **values}), file=self._lines, flush=True)


def main() -> int:
    args = parse()
    if args.probe:
        print(json.dumps(probe(args.probe)))
        return 0
    Life(args, int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))).run(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
