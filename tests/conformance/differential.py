#!/usr/bin/env python3
"""Random request sequences to a real kube-apiserver and to the embedded one; answers must agree.

  differential.py --sequences 2000 --seed 1     run; a difference is shrunk and printed, exit 1
  differential.py --replay FILE..               only these sequences
  differential.py --table                       the rows of docs/reference/conformance.md
"""

import argparse
import collections
import concurrent.futures
import json
import os
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "cluster"), str(ROOT / "tests" / "embedded")]

import definitions  # noqa: E402
import known_differences  # noqa: E402
import sequence  # noqa: E402
from generator import Generator  # noqa: E402
from runner import Outcome, Runner  # noqa: E402
from shrink import shrunk  # noqa: E402

KEPT = HERE / "sequences"
SEED = "seed "  # the names of random sequences
PROGRESS_SECONDS = 10
REPEATS = 3  # of a sequence that differs: what does not differ again was a matter of time


FLOOR = 20  # random sequences: with fewer a run has compared nothing worth the word


class Tally:
    """What was run, by seed. Threads: any."""

    def __init__(self):
        self._lock = threading.Lock()
        self.sequences = self.random = self.requests = self.left_out = 0
        self.verbs, self.kinds = collections.Counter(), collections.Counter()
        self.known, self.groups = collections.Counter(), collections.Counter()
        self.failed: list[tuple[str, list[dict], Outcome]] = []
        self.once: list[str] = []  # differences that did not come again

    def excused(self, found: list) -> list:
        """Drops and counts what known_differences.py allows."""
        ids = [known_differences.known_id(difference) for difference in found]
        with self._lock:
            self.known.update(filter(None, ids))
        return [difference for difference, row in zip(found, ids) if row is None]

    def add(self, name: str, steps: list[dict], outcome: Outcome) -> None:
        with self._lock:
            self.sequences += 1
            self.random += name.startswith(SEED)
            self.requests += outcome.sent
            self.left_out += outcome.left_out
            self.verbs.update(step["verb"] for step in steps)
            self.kinds.update(step["kind"] for step in steps)
            if outcome.once:
                self.once.append(f"{outcome.once} ({name})")
            if outcome.differences:
                self.groups[outcome.differences[0].group()] += 1
                self.failed.append((name, steps, outcome))

    def one_of_each_group(self) -> list:
        """The shortest sequence of each group, the most frequent group first."""
        best: dict[str, tuple] = {}
        for found in sorted(self.failed, key=lambda found: len(found[1])):
            best.setdefault(found[2].differences[0].group(), found)
        return sorted(best.values(), reverse=True,
                      key=lambda found: self.groups[found[2].differences[0].group()])

    def fault(self, kept: int, floor: int) -> str:
        """Why the run proves nothing or too little; empty: it is good."""
        if self.failed:
            return f"{len(self.failed)} sequences differ"
        if self.sequences - self.random < kept:
            return f"{self.sequences - self.random} of {kept} kept sequences were compared"
        if self.random < floor:
            return f"{self.random} random sequences were compared, at least {floor} are wanted"
        return ""

    def line(self, start: float) -> str:
        return (f"{self.sequences} sequences, {self.requests} requests to each server, "
                f"{len(self.failed)} differ, {time.monotonic() - start:.0f} s")


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(description=__doc__,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--sequences", type=int, default=2000)
    top.add_argument("--seed", type=int, default=1, help="of the first sequence; then one by one")
    top.add_argument("--minutes", type=float, default=60,
                     help="no new sequence after this time, once the floor is reached")
    top.add_argument("--floor", type=int, default=FLOOR,
                     help="fail if fewer random sequences were compared")
    top.add_argument("--threads", type=int, default=4)
    top.add_argument("--stop-after", type=int, default=20, help="this many differing sequences")
    top.add_argument("--shrink", type=int, default=3, help="how many differences to shrink")
    top.add_argument("--replay", nargs="+", type=Path, metavar="FILE")
    top.add_argument("--save", type=Path, metavar="DIR", help="where shrunk sequences are written")
    top.add_argument("--cluster", metavar="NAME", help="a running one of tests/cluster, left alone")
    top.add_argument("--table", action="store_true")
    return top


def main() -> int:
    args = parser().parse_args()
    if args.table:
        print(known_differences.table(), end="")
        return 0
    from embedded import EmbeddedServer
    from testbed import Cluster
    real = Cluster(args.cluster or f"conformance-{os.getpid()}").up()
    try:
        with EmbeddedServer() as ours:
            definitions.install(real, ours)
            return compare(real, ours, args)
    finally:
        if not args.cluster:
            real.down()


def compare(real, ours, args) -> int:
    tally, start = Tally(), time.monotonic()
    runner = Runner(real, ours, tally.excused)
    kept = args.replay or sorted(KEPT.glob("*.json"))
    jobs = [(path.stem, lambda path=path: sequence.load(path)) for path in kept]
    if not args.replay:
        jobs += [(f"{SEED}{seed}", lambda seed=seed: Generator(seed).sequence())
                 for seed in range(args.seed, args.seed + args.sequences)]
    seeds = "" if args.replay else f", then seeds {args.seed} to {args.seed + args.sequences - 1}"
    print(f"{len(kept)} kept sequences{seeds}", flush=True)
    run_all(runner, tally, jobs, args, start)
    for name, steps, outcome in tally.one_of_each_group()[:args.shrink]:
        report(runner, name, steps, outcome, args.save)
    summary(tally, start)
    fault = tally.fault(len(kept), 0 if args.replay else args.floor)
    if fault:
        print(f"FAILED: {fault}", flush=True)
    return 1 if fault else 0


def run_all(runner: Runner, tally: Tally, jobs: list, args, start: float) -> None:
    end, pending, shown = start + args.minutes * 60, iter(jobs), [start]
    lock = threading.Lock()

    def work() -> None:
        while len(tally.failed) < args.stop_after:
            if time.monotonic() > end and (args.replay or tally.random >= args.floor):
                return
            with lock:
                job = next(pending, None)
            if job is None:
                return
            steps = job[1]()
            tally.add(job[0], steps, settled(runner, steps))
            if time.monotonic() - shown[0] > PROGRESS_SECONDS:
                shown[0] = time.monotonic()
                print(tally.line(start), flush=True)

    with concurrent.futures.ThreadPoolExecutor(args.threads) as pool:
        for done in [pool.submit(work) for _ in range(args.threads)]:
            done.result()


def settled(runner: Runner, steps: list[dict]) -> Outcome:
    """Ages and times of owners pass the edge of a second at times; a difference comes again."""
    first = outcome = runner.run(steps)
    for _ in range(REPEATS if first.differences else 0):
        outcome = runner.run(steps)
        if outcome.differences:
            return outcome
    if first.differences:
        outcome.once = first.differences[0].group()
    return outcome


def report(runner: Runner, name: str, steps: list[dict], outcome: Outcome, save) -> None:
    """Prints the shortest form of a difference of the same group, and how to run it again."""
    group = outcome.differences[0].group()

    def fails(candidate: list[dict]) -> bool:
        found = runner.run(candidate).differences
        return bool(found) and found[0].group() == group

    if not fails(steps):
        print(f"\n== {name}: did not differ again: {group}")
        return
    short = shrunk(steps, fails)
    final = runner.run(short)
    print(f"\n== {name}: {len(steps)} steps, shrunk to {len(short)}")
    for step in short:
        print(json.dumps(step))
    for difference in final.differences[:8]:
        print(f"  {difference.path}\n    real {difference.real!r}\n    ours {difference.ours!r}")
    if save:
        save.mkdir(parents=True, exist_ok=True)
        file = save / f"{name.replace(' ', '-')}.json"
        sequence.save(file, short, group)
        print(f"  again: {sys.argv[0]} --replay {file}")


def summary(tally: Tally, start: float) -> None:
    print(f"\n{tally.line(start)}; {tally.left_out} steps left out", flush=True)
    for title, counts in (("verbs", tally.verbs), ("kinds", tally.kinds),
                          ("known differences", tally.known)):
        print(f"{title}: " + ", ".join(f"{name} {n}" for name, n in counts.most_common()))
    for text in tally.once:
        print(f"once, and not in {REPEATS} repeats: {text}")
    for name, _, outcome in tally.one_of_each_group()[:60]:
        group = outcome.differences[0].group()
        print(f"  {tally.groups[group]:4} {group} ({name})")


if __name__ == "__main__":
    sys.exit(main())
