#!/usr/bin/env python3
"""Measures our runtime beside controller-runtime and kube-rs, on one API server, in turns.

  run.py                   20,000 Pods, 5 rounds: about 40 minutes on 2 cores
  run.py --quick           500 Pods, 1 round: shows that everything works; its figures mean little
  run.py --clients amdahl,go --rounds 2 --keep

A missed bar is printed as MISS and is no failure; a measurement that did not work is one.
"""

import argparse
import dataclasses
import datetime
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import machine
import measure
import report
from client_process import ClientProcess, MeasurementError
from report import STRANGERS_CORES_MAX

ROOT = machine.ROOT
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

import testbed  # noqa: E402

OUT = ROOT / "build" / "bench"
PEERS = ROOT / "build" / "peers"


def main() -> int:
    args = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended by SIGTERM"))  # runs `finally`
    base = measure.QUICK if args.quick else measure.Plan()
    plan = dataclasses.replace(base, **{k: v for k, v in vars(args).items()
                                        if k in ("pods", "rounds") and v is not None})
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        if not args.no_build:
            build(args.clients)
        run(args, plan)
    except (MeasurementError, RuntimeError, subprocess.CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small run, as a test of the bench")
    parser.add_argument("--pods", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--clients", type=lambda text: text.split(","),
                        default=list(report.CLIENTS), metavar="A,B",
                        help="of " + ", ".join(report.CLIENTS))
    parser.add_argument("--out", type=Path, help="the JSON file; default build/bench/<date>.json")
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "tests" / "bench",
                        help="where bench_amdahl and bench_writer are")
    parser.add_argument("--no-build", action="store_true", help="use the programs that are there")
    parser.add_argument("--keep", action="store_true",
                        help="leave server and Pods for the next run")
    args = parser.parse_args()
    if unknown := set(args.clients) - set(report.CLIENTS):
        parser.error(f"no such client: {', '.join(sorted(unknown))}")
    return args


def build(clients: list[str]) -> None:
    say("building")
    subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, stdout=sys.stderr)
    subprocess.run(["nice", "cmake", "--build", "--preset", "release", "--target", "bench_amdahl",
                    "bench_writer"], cwd=ROOT, check=True, stdout=sys.stderr)
    if set(clients) & set(report.PEERS):
        subprocess.run([ROOT / "tests" / "bench" / "peers" / "build"], check=True,
                       stdout=sys.stderr)


def commands(binaries: Path, kubeconfig: Path) -> dict[str, list]:
    programs = {
        "amdahl": [binaries / "bench_amdahl"],
        "amdahl-json": [binaries / "bench_amdahl", "--json"],
        "go": [PEERS / "go-controller-runtime"],
        "go-strip": [PEERS / "go-controller-runtime", "--strip"],
        "rust": [PEERS / "rust-kube"],
        "rust-strip": [PEERS / "rust-kube", "--strip"],
    }
    return {name: [*words, "--kubeconfig", kubeconfig] for name, words in programs.items()}


def run(args: argparse.Namespace, plan: measure.Plan) -> None:
    about = machine.describe()  # before the bench itself makes load
    cluster = testbed.Cluster("bench")
    try:
        cluster.up()
        about["versions"] = machine.versions(cluster.request("GET", "/version")[1]["gitVersion"])
        bench = Bench(args, plan, cluster)
        bench.prepare()
        for number in range(plan.rounds):
            bench.round(number)
    finally:
        if not args.keep:
            cluster.down()
    finish(args, plan, about, bench)


class Bench:
    def __init__(self, args: argparse.Namespace, plan: measure.Plan, cluster: testbed.Cluster):
        self.plan, self.clients, self.cluster = plan, args.clients, cluster
        self.log = OUT / "clients.log"
        self.log.write_text("")
        self.commands = commands(args.bin, cluster.kubeconfig)
        self.writer = measure.Writer(args.bin / "bench_writer", cluster.kubeconfig, plan, self.log)
        self.samples: dict[str, dict[str, list[float]]] = {}

    def prepare(self) -> None:
        say(f"loading {self.plan.pods} pods")
        self.writer.load()
        for name in self.clients:  # fills the page cache and the server's own caches
            say(f"warm-up {name}")
            with self._start(name, "--quiet") as client:
                client.wait_for("all_reconciled", measure.SYNC_SECONDS_MAX)

    def round(self, number: int) -> None:
        turn = number % len(self.clients)  # nobody is always first
        for name in self.clients[turn:] + self.clients[:turn]:
            servers = [self.cluster.apiserver.pid, self.cluster.etcd.pid]
            with machine.Strangers(servers) as strangers:
                found = self._measure(name, idle=number < self.plan.idle_rounds)
            found["strangers"] = strangers.cores
            for key, value in found.items():
                self.samples.setdefault(name, {}).setdefault(key, []).append(value)
            say(f"round {number + 1}/{self.plan.rounds} {name}: " +
                " ".join(f"{key}={value:.3f}" for key, value in found.items()))
            if strangers.cores > STRANGERS_CORES_MAX:
                say(f"warning: other programs used {strangers.cores:.2f} cores meanwhile")

    def _measure(self, name: str, idle: bool) -> dict[str, float]:
        self._servers_settle()
        with self._start(name, "--quiet") as client:
            found = measure.first_life(client, self.plan, self.writer, idle)
        self._servers_settle()
        with self._start(name) as client:
            return found | measure.second_life(client, self.plan, self.writer)

    def _start(self, name: str, *more: str) -> ClientProcess:
        return ClientProcess(name, [*self.commands[name], *more], self.log)

    def _servers_settle(self, seconds: float = 30, quiet_cores: float = 0.1) -> None:
        """What the last client left the servers to do must not be the next one's burden."""
        pids = (self.cluster.apiserver.pid, self.cluster.etcd.pid)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            before = sum(map(machine.cpu_seconds, pids))
            time.sleep(1)
            if sum(map(machine.cpu_seconds, pids)) - before < quiet_cores:
                return


def finish(args: argparse.Namespace, plan: measure.Plan, about: dict, bench: Bench) -> None:
    now = datetime.datetime.now(datetime.timezone.utc)
    out = args.out or OUT / f"{now:%Y-%m-%dT%H%M%SZ}.json"
    document = {
        "at": now.isoformat(timespec="seconds"),
        "machine": about,
        "plan": dataclasses.asdict(plan),
        "samples": bench.samples,
        "verdicts": report.summary(bench.samples),
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(document, indent=1) + "\n")
    print(f"\n{about['cores']} cores, {about['cpu']}, kernel {about['kernel']}; "
          + ", ".join(f"{name} {version}" for name, version in about["versions"].items()))
    print(f"{plan.pods} Pods, median (min-max) of {plan.rounds} rounds\n")
    print(report.samples_table(bench.samples) + "\n")
    print(report.verdict_table(bench.samples) + "\n")
    busiest = max(max(found["strangers"]) for found in bench.samples.values())
    if busiest > STRANGERS_CORES_MAX:
        print(f"WARNING: other programs used up to {busiest:.2f} cores during a run: "
              "measure again on a quiet machine")
    print(f"written: {out}")


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
