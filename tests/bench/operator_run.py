#!/usr/bin/env python3
"""Measures amdahl-operator beside other job controllers, all on one real kube-apiserver.

  operator_run.py                  everything but --shipped: about 25 minutes on 2 cores
  operator_run.py --quick          small numbers: shows that it works; its figures mean little
  operator_run.py --only idle      of rounds, steady, failures, idle
  operator_run.py --contestants amdahl,job --rounds 2
  operator_run.py --shipped        also the peers with the request rates they ship with (one round)

Pods are made and removed but never run: there is no scheduler and no kubelet. A round plays every
contestant in a drawn order. A missed bar is printed as MISS and is no failure; a measurement that
did not work is one.
"""

import argparse
import contextlib
import dataclasses
import datetime
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import machine
import operator_report as report
from client_process import MeasurementError
from operator_contestants import Contestant, contestants, with_election, with_our_pods
from operator_failures import measure_failures
from operator_measure import (
    QUICK, Plan, Running, keep_many, one_pod, play_round, rest, start_with_many)
from operator_world import World
from report import STRANGERS_CORES_MAX

ROOT = machine.ROOT
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

import build  # noqa: E402
import testbed  # noqa: E402

OUT = ROOT / "build" / "bench"
OPERATOR = ROOT / "build" / "release" / "operator" / "process" / "amdahl-operator"
PARTS = ("rounds", "steady", "failures", "idle")
RAISED = ("amdahl", report.FLOOR, report.FLOOR_OUR_PODS, "kubeflow", "volcano")
SHIPPED = ("kubeflow-shipped", "volcano-shipped")
SHIPPED_WAIT_SECONDS = 600  # twenty requests a second


class Bench:
    def __init__(self, plan: Plan, world: World, seed: int):
        self.plan, self.world = plan, world
        self.samples: dict[str, dict[str, list[float]]] = {}
        self.strangers: list[float] = []
        self._chance = random.Random(seed)

    def rounds(self, those: list[Contestant], shipped: list[Contestant]) -> None:
        those = self._with_our_pods(those)
        for number in range(self.plan.rounds):
            order = self._chance.sample(those, len(those))
            say(f"round {number + 1} of {self.plan.rounds}: "
                + ", ".join(one.name for one in order))
            for one in order:
                self._play(one, lambda running: play_round(running, self.plan))
        slow = dataclasses.replace(self.plan, wait_seconds=SHIPPED_WAIT_SECONDS)
        for one in shipped:
            say(f"{one.name}: some minutes, with the request rate it ships with")
            self._play(one, lambda running: play_round(running, slow))

    def _with_our_pods(self, those: list[Contestant]) -> list[Contestant]:
        """The second floor needs a pod of ours to copy; without us it does not play."""
        ours = next((one for one in those if one.name == report.OURS), None)
        if ours is None:
            return [one for one in those if one.name != report.FLOOR_OUR_PODS]
        with Running(ours, self.world, OUT / f"operator-pod-{os.getpid()}.log") as running:
            pod = one_pod(running)
        self.world.clear()
        return [with_our_pods(one, pod) if one.name == report.FLOOR_OUR_PODS else one
                for one in those]

    def steady(self, ours: Contestant) -> None:
        say(f"rest: {self.plan.steady_seconds:.0f} s, after as long for everything to settle")
        self._play(with_election(ours), lambda running: rest(running, self.plan))

    def failures(self, ours: Contestant) -> None:
        say(f"failures: {self.plan.failures} pods of running gangs")
        self._play(ours, lambda running: measure_failures(running, self.plan))

    def idle(self, ours: Contestant) -> None:
        say(f"idle: {self.plan.idle_jobs} jobs of {self.plan.idle_pods} pods, some minutes")
        self._play(ours, lambda running: keep_many(running, self.plan, say), clear=False)
        self._play(ours, start_with_many)

    def _play(self, contestant: Contestant, measure, clear: bool = True) -> None:
        log = OUT / f"operator-{contestant.name}-{os.getpid()}.log"
        pids = self.world.pids()
        with machine.Strangers(pids) as strangers:
            with Running(contestant, self.world, log) as running:
                found = measure(running)
        self.strangers.append(strangers.cores)
        for key, value in found.items():
            self.samples.setdefault(contestant.name, {}).setdefault(key, []).append(value)
        say(f"{contestant.name}: "
            + " ".join(f"{key}={value:.2f}" for key, value in found.items())
            + (f" (others used {strangers.cores:.2f} cores)" if strangers.cores > 0.05 else ""))
        log.unlink()  # it is for those who look for a failure
        if clear:
            self.world.clear()


def main() -> int:
    args = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended by SIGTERM"))  # runs `finally`
    plan = QUICK if args.quick else Plan()
    if args.rounds:
        plan = dataclasses.replace(plan, rounds=args.rounds)
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        if not args.no_build:
            build_all(args.contestants)
        run(args, plan)
    except (MeasurementError, RuntimeError, subprocess.CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small run, as a test of the bench")
    parser.add_argument("--rounds", type=int, help="how often each contestant plays; default 5")
    parser.add_argument("--only", type=words(PARTS), default=list(PARTS), metavar="A,B",
                        help="of " + ", ".join(PARTS))
    parser.add_argument("--contestants", type=words(RAISED), default=list(RAISED), metavar="A,B",
                        help="of " + ", ".join(RAISED))
    parser.add_argument("--shipped", action="store_true",
                        help="also one round of the peers as they ship: 10 minutes more")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000),
                        help="of the order in the rounds")
    parser.add_argument("--operator", type=Path, default=OPERATOR, help="our program")
    parser.add_argument("--out", type=Path, help="the JSON file; default build/bench/<date>.json")
    parser.add_argument("--no-build", action="store_true",
                        help="use the programs that are there; peers without one are left out")
    args = parser.parse_args()
    if args.rounds is not None and args.rounds < 1:
        parser.error("--rounds: at least 1")
    return args


def words(allowed: tuple[str, ...]):
    def read(text: str) -> list[str]:
        if unknown := set(text.split(",")) - set(allowed):
            raise argparse.ArgumentTypeError(f"no such thing: {', '.join(sorted(unknown))}; "
                                             f"there are {', '.join(allowed)}")
        return [one for one in allowed if one in text.split(",")]

    return read


def build_all(names: list[str]) -> None:
    say("building what is missing")
    products = [*build.SERVER] + (["kubernetes-controllers"]
                                     if {report.FLOOR, report.FLOOR_OUR_PODS} & set(names) else [])
    products += ["volcano"] if "volcano" in names else []
    build.build_missing(tuple(products))
    if "kubeflow" in names:
        subprocess.run([ROOT / "tests/bench/peers/build", "kubeflow-pytorchjob"], check=True)
    subprocess.run(["make", "build/release/build.ninja"], cwd=ROOT, check=True, stdout=sys.stderr)
    subprocess.run(["nice", "ninja", "-C", ROOT / "build" / "release", "amdahl-operator"],
                   check=True, stdout=sys.stderr)


def choose(args: argparse.Namespace) -> tuple[dict[str, Contestant], list[str]]:
    """Who plays, and who was left out because there is no program of it."""
    wanted = args.contestants + [one for one in SHIPPED
                                 if args.shipped and one.removesuffix("-shipped")
                                 in args.contestants]
    everyone = contestants(args.operator)
    there = {name: everyone[name] for name in wanted if everyone[name].program.exists()}
    missing = [name for name in wanted if name not in there]
    for name in missing:
        say(f"LEFT OUT: {name}: there is no {everyone[name].program}")
    if report.OURS in missing or not there:
        raise MeasurementError(f"there is no {args.operator}: build it, or give --operator")
    return there, missing


def run(args: argparse.Namespace, plan: Plan) -> None:
    about = machine.describe()  # before the bench itself makes load
    there, missing = choose(args)
    cluster = testbed.Cluster(f"bench-operator-{os.getpid()}")
    with contextlib.ExitStack() as stack:
        stack.callback(cluster.down)
        say("starting etcd and kube-apiserver")
        cluster.up()
        world = World(cluster, {one.family for one in there.values()})
        stack.callback(world.close)
        world.prepare()
        bench = Bench(plan, world, args.seed)
        start = time.monotonic()
        play(args, bench, there)
        about |= {"kube-apiserver": world.get("/version")["gitVersion"],
                  "seconds": round(time.monotonic() - start)}
    finish(args, plan, about, bench, missing)


def play(args: argparse.Namespace, bench: Bench, there: dict[str, Contestant]) -> None:
    if "rounds" in args.only:
        bench.rounds([one for name, one in there.items() if name not in SHIPPED],
                     [one for name, one in there.items() if name in SHIPPED])
    for part in ("steady", "failures", "idle"):
        if part in args.only and report.OURS in there:
            getattr(bench, part)(there[report.OURS])


def finish(args: argparse.Namespace, plan: Plan, about: dict, bench: Bench,
           missing: list[str]) -> None:
    now = datetime.datetime.now(datetime.timezone.utc)
    out = args.out or OUT / f"operator-{now:%Y-%m-%dT%H%M%SZ}.json"
    version, products = machine.git_version(), build.PRODUCTS
    document = {
        "at": now.isoformat(timespec="seconds"), "machine": about, "version": version,
        "seed": args.seed, "plan": dataclasses.asdict(plan), "left_out": missing,
        "samples": bench.samples, "strangers": bench.strangers,
        "verdicts": [] if args.quick else report.summary(bench.samples),
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(document, indent=1) + "\n")
    print(f"\n{about['cores']} cores, {about['cpu']}, kernel {about['kernel']}; kube-apiserver "
          f"{about['kube-apiserver']}, volcano v{products['volcano'].version}, "
          f"training-operator v{products['training-operator'].version}, amdahl {version}")
    print(f"median (min-max) of {plan.rounds} rounds, order by seed {args.seed}, "
          f"{about['seconds'] // 60} minutes\n")
    sizes = dataclasses.asdict(plan)
    print(report.samples_table(bench.samples, sizes) + "\n")
    if args.quick:
        print("The bars are for the full sizes: a --quick run is not judged.")
    else:
        print(report.verdict_table(bench.samples, sizes) + "\n")
    for name in missing:
        print(f"LEFT OUT: {name}: its program is not built")
    if (most := max(bench.strangers, default=0)) > STRANGERS_CORES_MAX:
        print(f"WARNING: other programs used up to {most:.2f} cores during a measurement: "
              "measure again on a quiet machine")
    print(f"written: {out}")


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
