"""Junk tokens and needless connections cost their senders something, and honest pods nothing."""

import concurrent.futures
import contextlib
import json
import os
import re
import resource
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from report_world import ReportWorld, wait_for  # noqa: E402
from tap import Tap  # noqa: E402

HERE = Path(__file__).resolve().parent
HONEST_PODS = 30
WAVES = 3  # in which they come
HEARD_SECONDS_MAX = 10
JUNK_PER_SECOND = 4000
JUNK_PER_WAVE = 1500
REVIEWS_MAX = 300  # of tokens; kPodReviewsBurst is 1,000, which junk would have spent
CONNECTIONS_OF_A_POD_MAX = 8
# "HONEST:STRANGERS" connections, and the descriptors that the operator may have.
CROWD = os.environ.get("AMDAHL_CROWD", "250:1500")
STRANGER_ADDRESSES = 16  # 127.0.0.2 and up
STRANGERS_OF_A_PEER_MAX = 512
PROBE_CROWD = 1100  # idle connections, more than an HTTP server has places for by default
RANKS_OF_A_JOB = 32
GREEDY_NEIGHBOURS = 20
GREEDY_DESCRIPTORS = 256  # half of them are places
DESCRIPTORS = int(os.environ.get("AMDAHL_CROWD_DESCRIPTORS", 1024))
TAKEN = 'amdahl_reports_total{result="taken"}'
LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/amdahl-operator"


class JunkTokens(unittest.TestCase):
    # promises: A5
    def test_new_pods_are_heard_while_junk_tokens_pour_in(self):
        world = ReportWorld()
        self.addCleanup(world.close)
        world.make_namespace("honest")
        api = Tap(world.server.port)
        self.addCleanup(api.close)
        operator = world.operator("--no-leader-election", server_port=api.port)
        port = operator.report_port()
        world.submit("honest", "llama", nodes=HONEST_PODS)
        pods = [world.start_pod("honest", f"llama-1-{rank}") for rank in range(HONEST_PODS)]
        world.submit("honest", "known")
        known = world.start_pod("honest", "known-1-0")
        flood = subprocess.Popen(
            [sys.executable, HERE / "flood.py", str(port), str(JUNK_PER_SECOND), "300",
             f"honest/known-1-0/{known.uid}"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(flood.stdout.close)
        self.addCleanup(flood.wait)
        self.addCleanup(flood.kill)
        self.assertEqual(flood.stdout.readline(), "flooding\n")
        waits = []
        for wave in range(WAVES):
            self.wait_for_junk(operator, JUNK_PER_WAVE)
            with concurrent.futures.ThreadPoolExecutor(HONEST_PODS) as pool:
                some = list(enumerate(pods))[wave::WAVES]
                waits += pool.map(lambda one: self.heard(port, *one), some)
        self.wait_for_junk(operator, JUNK_PER_WAVE)
        self.assertIsNone(flood.poll(), "the flood ended before the pods were heard")
        flood.terminate()
        flood.wait(timeout=60)
        said = json.loads(flood.stdout.read())
        print(f"\n{said['answered'] / said['seconds']:.0f} junk tokens per second; "
              f"slowest of {len(waits)} pods {max(waits):.1f} s", end=" ", flush=True)
        self.assertLessEqual(max(waits), HEARD_SECONDS_MAX, waits)
        refused = self.junk(operator)
        self.assertGreaterEqual(refused, (WAVES + 1) * JUNK_PER_WAVE)
        self.assertGreaterEqual(refused, 100 * operator.metric(TAKEN))
        # Every honest pod was asked about, and hardly any junk.
        asked = sum("/tokenreviews" in line for line in api.requests)
        print(f"{asked} tokens asked about", end=" ", flush=True)
        self.assertIn(asked, range(HONEST_PODS, REVIEWS_MAX))

    @staticmethod
    def junk(operator) -> float:
        return operator.metric("amdahl_reports_total") - operator.metric(TAKEN)

    def wait_for_junk(self, operator, count: int) -> None:
        """Until the operator has answered so much more of it, however long that takes."""
        enough = self.junk(operator) + count
        wait_for(lambda: self.junk(operator) >= enough,
                 lambda: f"{self.junk(operator):.0f} of {enough:.0f} junk reports were answered")

    @staticmethod
    def heard(port: int, rank: int, pod) -> float:
        start = time.monotonic()
        while (now := time.monotonic() - start) < 3 * HEARD_SECONDS_MAX:
            if pod.report(port, "honest/llama", rank=rank)[0] == 200:
                return time.monotonic() - start
            time.sleep(1)
        return now


class Connection:
    """One that is kept."""

    def __init__(self, port: int, source: str = "127.0.0.1"):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60,
                                               source_address=(source, 0))

    def report(self, pod, job: str, rank: int = 0) -> int:
        body = pod.body(job, 1, rank)
        self.socket.sendall((f"POST /v1/report HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                             f"{pod.token}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
        text = b""
        while b"\r\n\r\n" not in text:
            data = self.socket.recv(65536)
            if not data:
                return 0
            text += data
        head, _, rest = text.partition(b"\r\n\r\n")
        left = int(re.search(rb"(?i)content-length: (\d+)", head)[1]) - len(rest)
        while left > 0:
            left -= len(self.socket.recv(left))
        return int(head.split()[1])

    def closed_by_the_server(self) -> bool:
        with contextlib.suppress(ConnectionError):
            return self.socket.recv(1) == b""
        return True

    def still_open(self) -> bool:
        self.socket.setblocking(False)
        try:
            return self.socket.recv(1) != b""
        except BlockingIOError:
            return True
        except ConnectionError:
            return False


class Crowd(unittest.TestCase):
    # promises: A6
    def test_reports_the_api_and_the_lease_go_on_in_a_crowd_of_connections(self):
        self.raise_own_limit()
        honest, strangers = map(int, CROWD.split(":"))
        world = ReportWorld()
        self.addCleanup(world.close)
        world.make_namespace("default")
        operator = world.operator(descriptors=DESCRIPTORS)
        port = operator.report_port()
        ranks = self.start_ranks(world, -(-honest // CONNECTIONS_OF_A_POD_MAX))
        kept = []
        for number in range(honest):  # known before the next comes: strangers make room
            kept.append((self.connection(port), ranks[number % len(ranks)]))
            self.report_all(kept[-1:])
        # From many addresses, so that the limit of one is not what helps.
        idle = [self.connection(port, f"127.0.0.{2 + number % STRANGER_ADDRESSES}")
                for number in range(strangers)]
        print(f"\n{honest} known and {len(idle)} idle connections, {DESCRIPTORS} descriptors",
              end=" ", flush=True)
        renewed = world.ask("GET", LEASE)["spec"]["renewTime"]
        # Newcomers get in: a job is made, runs, and its pod reports.
        world.submit("default", "late")
        late = world.start_pod("default", "late-1-0")
        wait_for(lambda: late.report(port, "default/late")[0] == 200)
        wait_for(lambda: world.ask("GET", LEASE)["spec"]["renewTime"] > renewed)
        self.report_all(kept)
        # Those that say nothing are closed; nobody else is.
        wait_for(lambda: self.open_sockets(operator) < honest + 100,
                 lambda: f"{self.open_sockets(operator)} descriptors are open")
        self.report_all(kept)
        self.assertIsNone(operator.process.poll())
        self.assertEqual([line for line in operator.lines() if line["message"] == "accept failed"],
                         [])

    # promises: A6
    def test_strangers_of_one_address_make_room_for_each_other_only(self):
        self.raise_own_limit()
        world = ReportWorld()
        self.addCleanup(world.close)
        world.make_namespace("default")
        # Places for more than twice as many as come.
        operator = world.operator("--no-leader-election", descriptors=4096)
        port = operator.report_port()
        other = self.connection(port, "127.0.0.3")  # the oldest of all
        crowd = [self.connection(port, "127.0.0.2") for _ in range(STRANGERS_OF_A_PEER_MAX + 9)]
        for one in crowd[:9]:
            self.assertTrue(one.closed_by_the_server())
        self.assertTrue(other.still_open(), "a stranger of another address was closed")

    # promises: A6
    def test_probes_the_api_and_the_lease_go_on_beside_idle_connections_to_their_port(self):
        self.raise_own_limit()
        world = ReportWorld()
        self.addCleanup(world.close)
        world.make_namespace("default")
        operator = world.operator("--metrics-address=127.0.0.1:0", descriptors=DESCRIPTORS)
        wait_for(lambda: operator.probe("/readyz")[0] == 200)
        port = operator.probe_port()
        idle = [self.connection(port, f"127.0.0.{1 + number % STRANGER_ADDRESSES}")
                for number in range(PROBE_CROWD)]
        idle += [self.connection(port) for _ in range(PROBE_CROWD)]  # of the prober's own address
        for path in ("/livez", "/readyz"):
            self.assertEqual(operator.probe(path)[0], 200)
        renewed = world.ask("GET", LEASE)["spec"]["renewTime"]
        world.submit("default", "late")
        world.start_pod("default", "late-1-0")
        wait_for(lambda: world.ask("GET", LEASE)["spec"]["renewTime"] > renewed)
        self.assertEqual(operator.probe("/livez")[0], 200)
        self.assertTrue(idle[0].closed_by_the_server())
        self.assertIsNone(operator.process.poll())
        self.assertEqual([line for line in operator.lines() if line["message"] == "accept failed"],
                         [])

    # promises: A6
    def test_a_pod_that_opens_connections_without_end_keeps_nobody_out(self):
        world = ReportWorld()
        self.addCleanup(world.close)
        world.make_namespace("default")
        operator = world.operator("--no-leader-election", descriptors=GREEDY_DESCRIPTORS)
        port = operator.report_port()
        ranks = self.start_ranks(world, GREEDY_NEIGHBOURS)
        kept = [(self.connection(port), one) for one in ranks[::2]]
        self.report_all(kept)
        world.submit("default", "greedy")
        greedy = (world.start_pod("default", "greedy-1-0"), "default/greedy", 0)
        many = []
        for _ in range(2 * GREEDY_DESCRIPTORS):  # more than there are places
            many.append((self.connection(port), greedy))
            self.report_all(many[-1:])
        # Those that were there stay, and those that come get in.
        self.report_all(kept)
        kept += [(self.connection(port), one) for one in ranks[1::2]]
        self.report_all(kept)
        for connection, _ in many[:-CONNECTIONS_OF_A_POD_MAX]:
            self.assertTrue(connection.closed_by_the_server())
        self.report_all(many[-CONNECTIONS_OF_A_POD_MAX:])

    def start_ranks(self, world, count: int) -> list[tuple]:
        """Pods, each with the name of its job and its rank."""
        ranks = []
        for first in range(0, count, RANKS_OF_A_JOB):  # one at a time: starts are not the subject
            nodes = min(RANKS_OF_A_JOB, count - first)
            world.submit("default", f"job{first}", nodes=nodes)
            ranks += [(world.start_pod("default", f"job{first}-1-{rank}"), f"default/job{first}",
                       rank) for rank in range(nodes)]
        return ranks

    def report_all(self, kept: list[tuple]) -> None:
        for connection, (pod, job, rank) in kept:
            # 429: a pod may report once per second; the operator knows it all the same.
            self.assertIn(connection.report(pod, job, rank), (200, 429))

    @staticmethod
    def raise_own_limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE,
                           (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)

    def connection(self, port: int, source: str = "127.0.0.1") -> Connection:
        one = Connection(port, source)
        self.addCleanup(one.socket.close)
        return one

    @staticmethod
    def open_sockets(operator) -> int:
        return len(os.listdir(f"/proc/{operator.process.pid}/fd"))


if __name__ == "__main__":
    unittest.main()
