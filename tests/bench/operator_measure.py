"""What is done to one contestant in one round, step by step; figures come back as a dictionary."""

import dataclasses
import os
import subprocess
import time
from pathlib import Path

import machine
from client_process import MeasurementError
from embedded_server import rss_mib
from operator_contestants import Contestant
from operator_world import NAMESPACES, GangsLetIn, World

WARM, JOBS, GANG = (NAMESPACES + name for name in ("warm", "jobs", "gang"))
WARM_JOBS, WARM_PODS = 4, 4
START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 30
SETTLE_SECONDS_MAX = 300
QUIET_CORES = 0.03  # of a controller that has nothing left to do
ANSWERED_SECONDS = 0.1  # a write is in etcd before the server has answered and counted it
QUIET_WRITES = 3  # in a second: leases are renewed all the time


@dataclasses.dataclass(frozen=True)
class Plan:
    jobs: int = 100
    pods: int = 8  # of each job
    gang: int = 1_000
    rounds: int = 5
    wait_seconds: float = 300  # for any one step
    steady_seconds: float = 60
    failures: int = 120
    idle_jobs: int = 10_000
    idle_pods: int = 5  # of each job


QUICK = Plan(jobs=3, gang=10, rounds=1, steady_seconds=3, failures=3, idle_jobs=20)


class Running:
    """A contestant as a process, from its first byte to its end."""

    def __init__(self, contestant: Contestant, world: World, log: Path):
        self.contestant, self.world, self._log = contestant, world, log
        self._let_in = GangsLetIn(world) if contestant.gangs_are_let_in else None

    def __enter__(self) -> "Running":
        environment = {"PATH": os.environ["PATH"], "HOSTNAME": "bench",
                       **dict(self.contestant.environment)}
        with open(self._log, "ab") as log:
            self._child = subprocess.Popen(
                self.contestant.command(self.world.cluster.kubeconfig), env=environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if self._let_in:
            self._let_in.__enter__()
        return self

    def __exit__(self, *_) -> None:
        if self._let_in:
            self._let_in.__exit__()
        if self._child.poll() is None:
            self._child.terminate()
        try:
            self._child.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    @property
    def pid(self) -> int:
        self.check_alive()
        return self._child.pid

    def check_alive(self) -> None:
        if self._child.poll() is not None:
            raise MeasurementError(f"{self.contestant.name} ended with {self._child.returncode}; "
                                   f"see {self._log}")

    def wait_for_pods(self, namespace: str, count: int, seconds: float) -> float:
        return self.world.wait_for_pods(namespace, count, seconds, self.check_alive)

    def cpu(self) -> float:
        return machine.cpu_seconds(self.pid)

    def rss_mib(self, peak: bool = False) -> float:
        return rss_mib(self.pid, peak)

    def warm_up(self) -> None:
        """A few jobs nobody measures: caches are filled, connections are there, code is loaded.
        They end paused, so that nothing is written for them later."""
        self.world.namespace(WARM)
        self.create(WARM, "warm", WARM_JOBS, WARM_PODS)
        self.wait_for_pods(WARM, WARM_JOBS * WARM_PODS, START_SECONDS_MAX)
        self.settle()
        self.world.send_all([self.contestant.pause(WARM, f"warm-{number}")
                             for number in range(WARM_JOBS)])
        self.wait_for_pods(WARM, 0, START_SECONDS_MAX)
        self.settle()

    def create(self, namespace: str, stem: str, jobs: int, pods: int) -> None:
        self.world.send_all([self.contestant.create(namespace, f"{stem}-{number}", pods)
                             for number in range(jobs)])

    def settle(self) -> None:
        """Returns when the controller has rested for a second and nothing is written."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while True:
            before = (self.cpu(), self.world.revision())
            time.sleep(1)
            cpu, revision = self.cpu() - before[0], self.world.revision() - before[1]
            if cpu <= QUIET_CORES and revision <= QUIET_WRITES:
                return
            if time.monotonic() > deadline:
                raise MeasurementError(f"{self.contestant.name} still works after "
                                       f"{SETTLE_SECONDS_MAX} s: {cpu:.2f} cores, {revision} "
                                       "writes a second")


class Costs:
    """Wall time of one step, and the CPU that API server and etcd spent on it: on a machine where
    everything shares the cores, what a controller asks for is most of the time it takes."""

    def __init__(self, world: World, step: str):
        self._world, self._step = world, step
        self._begin, self._cpu = time.monotonic(), self._server_cpu()

    def until(self, end: float) -> dict[str, float]:
        return {f"{self._step}_wall": end - self._begin,
                f"{self._step}_server_cpu": self._server_cpu() - self._cpu}

    def _server_cpu(self) -> float:
        return sum(machine.cpu_seconds(pid) for pid in self._world.pids())


def one_pod(running: Running) -> dict:
    """A pod as this contestant makes it."""
    running.world.namespace(WARM)
    running.create(WARM, "one", 1, 1)
    running.wait_for_pods(WARM, 1, START_SECONDS_MAX)
    return running.world.get(f"/api/v1/namespaces/{WARM}/pods")["items"][0]


def play_round(running: Running, plan: Plan) -> dict[str, float]:
    """Create, pause, resume, one large gang."""
    running.warm_up()
    for namespace in (JOBS, GANG):
        running.world.namespace(namespace)
    found = _create(running, plan)
    running.settle()
    found |= _switch(running, plan, "pause", 0)
    running.settle()
    found |= _switch(running, plan, "resume", plan.jobs * plan.pods)
    running.settle()
    costs = Costs(running.world, "gang")
    running.create(GANG, "gang", 1, plan.gang)
    found |= costs.until(running.wait_for_pods(GANG, plan.gang, plan.wait_seconds))
    running.settle()
    return found | {"work_rss": running.rss_mib(peak=True)}


def _create(running: Running, plan: Plan) -> dict[str, float]:
    world = running.world
    writes, cpu = world.writes(), running.cpu()
    costs = Costs(world, "create")
    running.create(JOBS, "job", plan.jobs, plan.pods)
    found = costs.until(running.wait_for_pods(JOBS, plan.jobs * plan.pods, plan.wait_seconds))
    time.sleep(ANSWERED_SECONDS)
    until_there = world.writes() - writes
    running.settle()
    return found | {"create_writes": until_there / plan.jobs,
                    "settled_writes": (world.writes() - writes) / plan.jobs,
                    "create_cpu": running.cpu() - cpu}


def _switch(running: Running, plan: Plan, verb: str, pods: int) -> dict[str, float]:
    call = getattr(running.contestant, verb)
    calls = [call(JOBS, f"job-{number}") for number in range(plan.jobs)]
    costs = Costs(running.world, verb)
    running.world.send_all(calls)
    return costs.until(running.wait_for_pods(JOBS, pods, plan.wait_seconds))


def rest(running: Running, plan: Plan) -> dict[str, float]:
    """Half of the jobs wait for a place, half are paused; nothing changes."""
    running.warm_up()
    running.world.namespace(JOBS)
    running.create(JOBS, "job", plan.jobs, plan.pods)
    running.wait_for_pods(JOBS, plan.jobs * plan.pods, plan.wait_seconds)
    paused = plan.jobs // 2
    running.world.send_all([running.contestant.pause(JOBS, f"job-{number}")
                            for number in range(paused)])
    running.wait_for_pods(JOBS, (plan.jobs - paused) * plan.pods, plan.wait_seconds)
    running.settle()
    # Explanations for people come a while after the fact (kExplainAfter); they are no rest yet.
    time.sleep(min(30, plan.steady_seconds))
    writes, cpu, start = running.world.writes(), running.cpu(), time.monotonic()
    time.sleep(plan.steady_seconds)
    share = (running.cpu() - cpu) / (time.monotonic() - start)
    return {"steady_writes": running.world.writes() - writes, "steady_cpu": 100 * share}


def keep_many(running: Running, plan: Plan, say) -> dict[str, float]:
    """Very many jobs that wait. Progress is said: this takes minutes."""
    world, total = running.world, plan.idle_jobs * plan.idle_pods
    running.warm_up()
    world.namespace(JOBS)
    step = max(1, plan.idle_jobs // 20)
    for first in range(0, plan.idle_jobs, step):
        last = min(first + step, plan.idle_jobs)
        world.send_all([running.contestant.create(JOBS, f"job-{number}", plan.idle_pods)
                        for number in range(first, last)])
        running.wait_for_pods(JOBS, last * plan.idle_pods, plan.wait_seconds)
        say(f"{last * plan.idle_pods} of {total} pods, RSS {running.rss_mib():.1f} MiB")
    running.settle()
    return {"idle_rss": running.rss_mib(), "idle_rss_peak": running.rss_mib(peak=True)}


def start_with_many(running: Running) -> dict[str, float]:
    """Another process finds them all. It is there when it has made the pods of a new job."""
    running.world.namespace(GANG)
    running.create(GANG, "late", 1, 2)
    running.wait_for_pods(GANG, 2, START_SECONDS_MAX)
    running.settle()
    return {"idle_start_rss": running.rss_mib(peak=True)}
