#!/usr/bin/env python3
"""Thousands of pods that report every five seconds to amdahl-operator; what that costs it.

The operator and the embedded API server run as processes; jobs and pods are real objects, each
pod reports over a connection of its own with its own bound token. Bars: every report is taken, and
the API server is written to far less often than that (statuses are coalesced).

  reports_run.py [--pods 5000] [--seconds 60] [--no-build]
"""

import argparse
import asyncio
import concurrent.futures
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine
from client_process import MeasurementError
from embedded_server import EmbeddedServer

RELEASE = machine.ROOT / "build" / "release"
PODS_OF_A_JOB = 100
EVERY_SECONDS = 5
JOBS = "/apis/amdahl.dev/v1alpha1/namespaces/default/trainingjobs"
PODS = "/api/v1/namespaces/default/pods"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CREATE_SECONDS_MAX = 120
WARM_SECONDS = 30  # reviews of tokens are limited: not all pods are known at once
WRITES_SHARE_MAX = 0.02  # of the reports


def build() -> None:
    if not (RELEASE / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=machine.ROOT, check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", RELEASE, "amdahl-operator", "embedded_server"], check=True,
                   stdout=subprocess.DEVNULL)


class Reporter:
    """One pod. Its connection is kept, as that of amdahl-launch is."""

    def __init__(self, name: str, token: str, port: int):
        job, attempt, rank = name.rsplit("-", 2)
        self._head = (f"POST /v1/report HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                      f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n")
        self._report = {"job": f"default/{job}", "attempt": int(attempt), "rank": int(rank),
                        "phase": "Train"}
        self._port, self.answers = port, {}

    async def run(self, until: float) -> None:
        await asyncio.sleep(random.random() * EVERY_SECONDS)
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        step = 0
        while time.monotonic() < until:
            step += 1
            await self._send(reader, writer, step)
            await asyncio.sleep(EVERY_SECONDS * random.uniform(0.9, 1.1))
        writer.close()

    async def _send(self, reader, writer, step: int) -> None:
        body = json.dumps(self._report | {
            "sequence": step, "step": step * 10, "totalSteps": 100_000, "stepSeconds": 0.5,
            "phases": [{"name": "Init", "seconds": 3}, {"name": "Train", "seconds": step * 5.0}],
            "metrics": [{"name": "loss", "value": f"{2 / step:.4f}"}]})
        writer.write(f"{self._head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        await reader.readexactly(int(re.search(r"(?i)content-length: (\d+)", head)[1]))
        status = int(head.split()[1])
        self.answers[status] = self.answers.get(status, 0) + 1


class Site:
    """The server, the operator, and as many pods of jobs as are asked for."""

    def __init__(self, pods: int, folder: Path):
        self.server = EmbeddedServer(RELEASE / "tests/embedded/embedded_server", folder,
                                     folder / "server.log")
        self.server.up()
        self._pods, self._log = pods, folder / "operator.log"
        for path in ("crds/trainingjobs.yaml", "local/scheduler/volcano_crds.yaml"):
            self._apply_crds((machine.ROOT / path).read_text())
        self.operator = subprocess.Popen(
            [RELEASE / "operator/process/amdahl-operator", "--kubeconfig", self.server.kubeconfig,
             "--no-leader-election", "--probe-address", "127.0.0.1:0", "--report-address",
             "127.0.0.1:0"], stderr=self._log.open("w"))

    def close(self) -> None:
        self.operator.terminate()
        self.operator.wait(timeout=60)
        self.server.down()
        self.server.remove()

    def _apply_crds(self, text: str) -> None:
        for document in text.split("\n---\n"):
            if "kind: CustomResourceDefinition" not in document:
                continue
            name = re.search(r"^  name: (\S+)", document, re.MULTILINE)[1]
            status, body = self.server.request(
                "PATCH", f"{CRDS}/{name}?fieldManager=bench", document,
                content_type="application/apply-patch+yaml")
            if status > 201:
                raise MeasurementError(f"{name}: {body}")

    def port(self) -> int:
        for line in self._log.read_text().splitlines():
            if '"reports are taken"' in line:
                return int(json.loads(line)["url"].rpartition(":")[2])
        raise MeasurementError(f"the operator did not start:\n{self._log.read_text()}")

    def create_jobs(self) -> list[str]:
        container = {"name": "trainer", "image": "none", "command": ["train"]}
        for number in range(self._pods // PODS_OF_A_JOB):
            self.server.request("POST", JOBS, {
                "apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
                "metadata": {"name": f"job{number}"},
                "spec": {"runtime": "Torchrun", "nodes": PODS_OF_A_JOB,
                         "template": {"spec": {"containers": [container]}}}})
        deadline = time.monotonic() + CREATE_SECONDS_MAX
        while len(names := self._pod_names()) < self._pods:
            if time.monotonic() > deadline:
                raise MeasurementError(f"{len(names)} pods after {CREATE_SECONDS_MAX} s")
            time.sleep(0.5)
        return names

    def _pod_names(self) -> list[str]:
        listed = self.server.request("GET", PODS)[1]["items"]
        return [pod["metadata"]["name"] for pod in listed]

    def start_pod(self, name: str) -> str:
        """Bound and running, and its token for reports."""
        self.server.request("POST", f"{PODS}/{name}/binding", {
            "metadata": {"name": name}, "target": {"kind": "Node", "name": "n"}})
        self.server.request("PATCH", f"{PODS}/{name}/status", {"status": {
            "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
            content_type="application/merge-patch+json")
        uid = self.server.request("GET", f"{PODS}/{name}")[1]["metadata"]["uid"]
        status, made = self.server.request(
            "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", {"spec": {
                "audiences": ["amdahl.dev/report"], "expirationSeconds": 3600,
                "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": name, "uid": uid}}})
        if status != 201:
            raise MeasurementError(f"token for {name}: {made}")
        return made["status"]["token"]

    def version(self) -> int:
        return int(self.server.request("GET", PODS + "?limit=1")[1]["metadata"]["resourceVersion"])

    def rss_mib(self) -> float:
        text = Path(f"/proc/{self.operator.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


async def report_all(reporters: list[Reporter], seconds: float) -> None:
    until = time.monotonic() + seconds
    await asyncio.gather(*(reporter.run(until) for reporter in reporters))


def measure(site: Site, seconds: float) -> dict:
    start = time.monotonic()
    names = site.create_jobs()
    created = time.monotonic() - start
    site.server.request("POST", "/api/v1/namespaces/default/serviceaccounts",
                        {"metadata": {"name": "default"}})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        tokens = list(pool.map(site.start_pod, names))
    reporters = [Reporter(name, token, site.port()) for name, token in zip(names, tokens)]
    asyncio.run(report_all(reporters, WARM_SECONDS))
    for reporter in reporters:
        reporter.answers.clear()
    before = (time.monotonic(), machine.cpu_seconds(site.operator.pid), site.version())
    asyncio.run(report_all(reporters, seconds))
    after = (time.monotonic(), machine.cpu_seconds(site.operator.pid), site.version())
    wall, cpu, writes = (b - a for a, b in zip(before, after))
    answers: dict[int, int] = {}
    for reporter in reporters:
        for status, count in reporter.answers.items():
            answers[status] = answers.get(status, 0) + count
    taken = answers.get(200, 0)
    return {"pods": len(names), "pods_created_seconds": created, "reports_taken": taken,
            "reports_refused": sum(answers.values()) - taken, "reports_per_second": taken / wall,
            "operator_cpu_share": cpu / wall, "operator_rss_mib": site.rss_mib(),
            "api_writes": writes, "api_writes_per_second": writes / wall}


def main() -> int:
    top = argparse.ArgumentParser(description=__doc__,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--pods", type=int, default=5000, help="a multiple of 100")
    top.add_argument("--seconds", type=float, default=60)
    top.add_argument("--no-build", action="store_true", help="use the programs that are there")
    args = top.parse_args()
    if not args.no_build:
        build()
    with tempfile.TemporaryDirectory(prefix="amdahl-reports-") as folder:
        site = Site(args.pods, Path(folder))
        try:
            figures = measure(site, args.seconds)
        finally:
            site.close()
    for name, value in figures.items():
        print(f"{name:24} {value:.3f}" if isinstance(value, float) else f"{name:24} {value}")
    out = machine.ROOT / "build" / "bench" / f"reports-{time.strftime('%Y-%m-%dT%H%M%SZ')}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(figures, indent=1) + "\n")
    held = figures["reports_refused"] == 0 and \
        figures["api_writes"] <= WRITES_SHARE_MAX * figures["reports_taken"]
    print(f"every report taken, API writes <= {WRITES_SHARE_MAX:.0%} of them: "
          f"{'PASS' if held else 'MISS'}\nwritten: {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
