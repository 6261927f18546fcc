#!/usr/bin/env python3
"""Measures the embedded API server, its writes beside those of kube-apiserver and etcd.

  embedded_run.py                  everything: about 6 minutes on 2 cores
  embedded_run.py --quick          small numbers: shows that it works; its figures mean little
  embedded_run.py --only start,creates

Both servers keep their data on the same disk and sync every write; the client program, its TLS and
its objects are the same. A missed bar is printed as MISS and is no failure; a measurement that did
not work is one.
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

import embedded_report as report
import machine
from client_process import ClientProcess, MeasurementError
from embedded_server import EmbeddedServer, rss_mib
from report import STRANGERS_CORES_MAX

ROOT = machine.ROOT
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

import testbed  # noqa: E402

OUT = ROOT / "build" / "bench"
CRD = ROOT / "tests" / "bench" / "training_job_crd.json"
PARTS = ("start", "creates", "big")
CREATE_SECONDS_MAX = 300
LOAD_SECONDS_MAX = 1200
SYNC_SECONDS_MAX = 120
REST_SECONDS = 2
LOAD_CLIENTS = 16


@dataclasses.dataclass(frozen=True)
class Plan:
    starts: int = 11
    start_objects: int = 10_000
    used_objects: int = 1_000
    clients: int = 8
    rounds: int = 5
    our_creates: int = 6_000  # of each kind in each round; about as long as the peer needs for its
    peer_creates: int = 1_000
    jobs: int = 10_000
    pods: int = 50_000


QUICK = Plan(starts=2, start_objects=50, used_objects=20, rounds=1, our_creates=40,
             peer_creates=40, jobs=5, pods=40)


class Bench:
    def __init__(self, args: argparse.Namespace, plan: Plan):
        self.plan, self.bin, self.home = plan, args.bin, args.data or OUT
        self.program = args.server
        self.log = OUT / "embedded.log"
        self.log.write_text("")
        self.samples: dict[str, dict[str, list[float]]] = {}
        self.strangers: list[float] = []
        self.peer_version = "not measured"
        self._next = 1

    def add(self, server: str, **found: float) -> None:
        for key, value in found.items():
            self.samples.setdefault(server, {}).setdefault(key, []).append(value)
        say(f"{server}: " + " ".join(f"{key}={value:.3f}" for key, value in found.items()))

    # --- start and memory

    def start(self) -> None:
        with self._server() as server:
            for number in range(self.plan.starts):
                server.down()
                self.add(report.OURS, start_empty=server.up() * 1000)
            time.sleep(REST_SECONDS)
            self.add(report.OURS, rss_idle=server.rss_mib())
            self._come_and_go(server)
            self._create(server.kubeconfig, "configmaps", self.plan.start_objects)
            for number in range(self.plan.starts):
                server.down()
                self.add(report.OURS, start_loaded=server.up() * 1000)

    def _come_and_go(self, server: EmbeddedServer) -> None:
        self._create(server.kubeconfig, "configmaps", self.plan.used_objects)
        status, _ = server.request("DELETE", "/api/v1/namespaces/bench-0/configmaps")
        if status != 200:
            raise MeasurementError(f"the objects could not be deleted: {status}")
        time.sleep(REST_SECONDS)
        self.add(report.OURS, rss_used=server.rss_mib())

    # --- durable creates

    def creates(self, peer: testbed.Cluster | None) -> None:
        with self._server() as ours:
            for number in range(self.plan.rounds):
                for kind in ("configmaps", "pods"):
                    pids = [ours.pid] + ([peer.etcd.pid, peer.apiserver.pid] if peer else [])
                    with machine.Strangers(pids) as strangers:
                        self._round(report.OURS, ours.kubeconfig, kind, self.plan.our_creates)
                        if peer:
                            self._round(report.PEER, peer.kubeconfig, kind, self.plan.peer_creates)
                    self.strangers.append(strangers.cores)

    def _round(self, server: str, kubeconfig: Path, kind: str, count: int) -> None:
        made = self._create(kubeconfig, kind, count)
        self.add(server, **{f"{kind}_rate": made["count"] / made["seconds"],
                            f"{kind}_p50": made["p50_ms"], f"{kind}_p99": made["p99_ms"]})

    def _create(self, kubeconfig: Path, kind: str, count: int) -> dict:
        command = [self.bin / "bench_creator", "create", "--kubeconfig", kubeconfig, "--kind", kind,
                   "--clients", self.plan.clients, "--count", count, "--first-seq", self._next]
        self._next += 2 * count + 1_000  # names are used once; the warm-up takes some
        with ClientProcess("bench_creator", command, self.log) as process:
            made = process.wait_for("created", CREATE_SECONDS_MAX)
            process.wait_exit(CREATE_SECONDS_MAX)
        if made["count"] != count:
            raise MeasurementError(f"{made['count']} of {count} {kind} were made")
        return made

    # --- the operator's view of many objects

    def big(self) -> None:
        with self._server() as server:
            self._load(server)
            watched = self._watch(server)
            self.add(report.OURS, **watched)
            server.down()
            self.add(report.OURS, big_start=server.up() * 1000)

    def _load(self, server: EmbeddedServer) -> None:
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        status, answer = server.request("POST", definitions, CRD.read_text())
        if status != 201:
            raise MeasurementError(f"the definition of TrainingJobs was refused: {answer}")
        command = [self.bin / "bench_creator", "load", "--kubeconfig", server.kubeconfig, "--jobs",
                   self.plan.jobs, "--pods", self.plan.pods, "--clients", LOAD_CLIENTS]
        with ClientProcess("bench_creator", command, self.log) as process:
            loaded = process.wait_for("loaded", LOAD_SECONDS_MAX)
            process.wait_exit(LOAD_SECONDS_MAX)
        self.add(report.OURS, big_load=loaded["writes"] / loaded["seconds"])

    def _watch(self, server: EmbeddedServer) -> dict[str, float]:
        command = [self.bin / "bench_operator", "--kubeconfig", server.kubeconfig]
        with ClientProcess("bench_operator", command, self.log) as client:
            found = {}
            for kind, name, count in (("TrainingJob", "jobs", self.plan.jobs),
                                      ("Pod", "pods", self.plan.pods)):
                synced = client.wait_for("synced", SYNC_SECONDS_MAX,
                                         lambda line: line["kind"] == kind)
                if synced["objects"] != count:
                    raise MeasurementError(f"{synced['objects']} {kind}s instead of {count}")
                found[f"big_sync_{name}"] = (synced["t_ns"] - client.started_ns) / 1e9
            self._see_events(server, client)
        return found | {"big_rss": rss_mib(server.pid), "big_rss_peak": rss_mib(server.pid, True)}

    def _see_events(self, server: EmbeddedServer, client: ClientProcess) -> None:
        """Both watches must be alive: one change of each kind comes through."""
        patch = json.dumps({"metadata": {"labels": {"bench.amdahl.dev/seq": "1"}}})
        for path in ("/api/v1/namespaces/bench-0/pods/job-0000-1-0",
                     "/apis/amdahl.dev/v1alpha1/namespaces/bench-0/trainingjobs/job-0000"):
            status, answer = server.request("PATCH", path, patch,
                                            content_type="application/merge-patch+json")
            if status != 200:
                raise MeasurementError(f"patch {path}: {answer}")
        deadline = time.monotonic() + SYNC_SECONDS_MAX
        while (seen := client.usage()["events"]) < 2:
            if time.monotonic() > deadline:
                raise MeasurementError(f"the operator saw {seen} of 2 changes")
            time.sleep(0.05)

    def _server(self) -> EmbeddedServer:
        return EmbeddedServer(self.program, self.home, self.log)


def main() -> int:
    args = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended by SIGTERM"))  # runs `finally`
    plan = QUICK if args.quick else Plan()
    if args.rounds:
        plan = dataclasses.replace(plan, rounds=args.rounds)
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        if not args.no_build:
            build()
        run(args, plan)
    except (MeasurementError, RuntimeError, subprocess.CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


def parse() -> argparse.Namespace:
    release = ROOT / "build" / "release" / "tests"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small run, as a test of the bench")
    parser.add_argument("--rounds", type=int, help="of the creates")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PARTS),
                        metavar="A,B", help="of " + ", ".join(PARTS))
    parser.add_argument("--no-peer", action="store_true", help="without kube-apiserver and etcd")
    parser.add_argument("--data", type=Path, help="a folder on the disk to measure")
    parser.add_argument("--out", type=Path, help="the JSON file; default build/bench/<date>.json")
    parser.add_argument("--bin", type=Path, default=release / "bench",
                        help="where bench_creator and bench_operator are")
    parser.add_argument("--server", type=Path, default=release / "embedded" / "embedded_server")
    parser.add_argument("--no-build", action="store_true", help="use the programs that are there")
    args = parser.parse_args()
    if unknown := set(args.only) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    return args


def build() -> None:
    say("building")
    subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True, stdout=sys.stderr)
    subprocess.run(["nice", "cmake", "--build", "--preset", "release", "--target",
                    "embedded_server", "bench_creator", "bench_operator"],
                   cwd=ROOT, check=True, stdout=sys.stderr)


def run(args: argparse.Namespace, plan: Plan) -> None:
    about = machine.describe()  # before the bench itself makes load
    bench = Bench(args, plan)
    if "start" in args.only:
        bench.start()
    if "creates" in args.only:
        creates(args, bench)
    if "big" in args.only:
        bench.big()
    finish(args, plan, about, bench)


def creates(args: argparse.Namespace, bench: Bench) -> None:
    if args.no_peer:
        bench.creates(None)
        return
    peer = testbed.Cluster(f"bench-embedded-{os.getpid()}")
    try:
        peer.up(durable=True)
        bench.peer_version = peer.request("GET", "/version")[1]["gitVersion"]
        bench.creates(peer)
    finally:
        peer.down()


def finish(args: argparse.Namespace, plan: Plan, about: dict, bench: Bench) -> None:
    now = datetime.datetime.now(datetime.timezone.utc)
    out = args.out or OUT / f"embedded-{now:%Y-%m-%dT%H%M%SZ}.json"
    version = machine.git_version()
    document = {
        "at": now.isoformat(timespec="seconds"), "machine": about, "version": version,
        "peer": bench.peer_version, "plan": dataclasses.asdict(plan), "samples": bench.samples,
        "strangers": bench.strangers, "verdicts": report.summary(bench.samples),
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(document, indent=1) + "\n")
    print(f"\n{about['cores']} cores, {about['cpu']}, kernel {about['kernel']}; "
          f"kube-apiserver {bench.peer_version}, amdahl {version}")
    print(f"median (min-max); {plan.starts} starts, {plan.rounds} rounds of creates, "
          f"{plan.jobs} TrainingJobs and {plan.pods} Pods\n")
    print(report.table(bench.samples) + "\n")
    if bench.strangers and max(bench.strangers) > STRANGERS_CORES_MAX:
        print(f"WARNING: other programs used up to {max(bench.strangers):.2f} cores during a "
              "round: measure again on a quiet machine")
    print(f"written: {out}")


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
