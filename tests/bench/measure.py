"""What is done to one client, once: two short lives of it, and the figures they give.

The first life counts events only (--quiet): start, first reconciles, rest, and a backlog that was
made while it was stopped. The second prints every event and gives the latencies.
"""

import dataclasses
import time
from pathlib import Path

import report
from client_process import ClientProcess, MeasurementError

SYNC_SECONDS_MAX = 180
DRAIN_SECONDS_MAX = 120
REST_SECONDS = 5
EVENTS_PER_LINE = 1000  # a quiet client prints its count at each multiple of this


@dataclasses.dataclass(frozen=True)
class Plan:
    pods: int = 20_000
    rounds: int = 5
    idle_rounds: int = 2
    idle_seconds: int = 20
    backlog_events: int = 5_000
    touch_rate: int = 100
    touch_seconds: int = 20


QUICK = Plan(pods=500, rounds=1, idle_rounds=1, idle_seconds=2, backlog_events=1_000,
             touch_seconds=3)


class Writer:
    """Runs bench_writer; labels it writes carry numbers that are used once."""

    def __init__(self, program: Path, kubeconfig: Path, plan: Plan, log: Path):
        self._program, self._log, self._plan = program, log, plan
        self._arguments = ["--kubeconfig", kubeconfig, "--pods", plan.pods]
        # Labels of an earlier run on a kept server must not look like ours.
        self._next_seq = int(time.time() * 1000)

    def load(self) -> None:
        # 10 ms for each of two writes is what a slow and busy machine needs.
        self._run("load", [], seconds=120 + self._plan.pods * 0.02)

    def burst(self, count: int) -> dict[int, int]:
        return self._write("burst", count, [], seconds=60 + count * 0.03)

    def touch(self, rate: int, count: int) -> dict[int, int]:
        return self._write("touch", count, ["--rate", rate], seconds=60 + count / rate)

    def _write(self, verb: str, count: int, more: list, seconds: float) -> dict[int, int]:
        """{seq: when the response had arrived}."""
        first, self._next_seq = self._next_seq, self._next_seq + count
        written = self._run(verb, ["--count", count, "--first-seq", first, *more], seconds)
        if written.keys() != set(range(first, first + count)):
            raise MeasurementError(f"{verb}: {len(written)} of {count} writes were reported")
        return written

    def _run(self, verb: str, more: list, seconds: float) -> dict[int, int]:
        command = [self._program, verb, *self._arguments, *more]
        with ClientProcess(f"bench_writer {verb}", command, self._log) as process:
            process.wait_exit(seconds)
            return process.seqs("written")


def first_life(client: ClientProcess, plan: Plan, writer: Writer, idle: bool) -> dict[str, float]:
    synced = client.wait_for("synced", SYNC_SECONDS_MAX)
    reconciled = client.wait_for("all_reconciled", SYNC_SECONDS_MAX)
    for line, key in ((synced, "objects"), (reconciled, "keys")):
        if line[key] != plan.pods:
            raise MeasurementError(f"{client.name}: {line[key]} {key} instead of {plan.pods}")
    found = {
        "sync_wall": (synced["t_ns"] - client.started_ns) / 1e9,
        "reconciled_cpu": client.cpu_seconds_at("all_reconciled"),
        "reconciled_wall": (reconciled["t_ns"] - client.started_ns) / 1e9,
    }
    time.sleep(REST_SECONDS)
    usage = client.usage()
    found |= {"rss": usage["rss_kb"] / 1024, "rss_peak": usage["hwm_kb"] / 1024}
    if idle:
        client.settle()
        before, start = client.cpu_seconds(), time.monotonic()
        time.sleep(plan.idle_seconds)
        found["idle_cpu"] = 100 * (client.cpu_seconds() - before) / (time.monotonic() - start)
    return found | backlog(client, plan.backlog_events, writer)


def backlog(client: ClientProcess, events: int, writer: Writer) -> dict[str, float]:
    """CPU and time for events that all happened while the client was stopped."""
    before_events = client.usage()["events"]
    if before_events:
        raise MeasurementError(f"{client.name} saw {before_events} events before the backlog")
    client.settle()
    with client.frozen():
        writer.burst(events)
        before_cpu, woken = client.cpu_seconds(), time.monotonic_ns()
    last = client.wait_for("events", DRAIN_SECONDS_MAX, lambda line: line["n"] >= events)
    client.settle()  # reconciles follow the last event; they belong to the cost
    cpu, seen = client.cpu_seconds() - before_cpu, client.usage()["events"]
    if seen != events:
        # It listed again instead of resuming, so the CPU time is not that of these events.
        raise MeasurementError(f"{client.name} handled {seen} events instead of {events}")
    return {
        "backlog_cpu": 1000 * cpu / events,
        "backlog_rate": events / ((last["t_ns"] - woken) / 1e9),
    }


def second_life(client: ClientProcess, plan: Plan, writer: Writer) -> dict[str, float]:
    client.wait_for("all_reconciled", SYNC_SECONDS_MAX)
    client.settle()
    written = writer.touch(plan.touch_rate, plan.touch_rate * plan.touch_seconds)
    last = max(written)
    for event in ("handler", "reconcile"):
        client.wait_for(event, DRAIN_SECONDS_MAX, lambda line: line["seq"] == last)
    client.settle()
    try:
        return report.latencies(written, client.seqs("handler"), client.seqs("reconcile"))
    except ValueError as error:
        raise MeasurementError(f"{client.name}: {error}") from None
