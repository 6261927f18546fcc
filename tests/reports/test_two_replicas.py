"""Two replicas behind one address: reports reach the one that leads, whoever that is."""

import contextlib
import re
import select
import socket
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent),
                str(Path(__file__).resolve().parents[1] / "launch")]

from launch import Launch, python  # noqa: E402
from report_world import MERGE, ReportWorld, pods_of, wait_for  # noqa: E402

RANKS = 3
SILENT_SECONDS_MAX = 15


class Balancer:
    """One address, every connection to the next replica, as a Service that knows no leader."""

    def __init__(self, ports: list[int]):
        self._ports, self._count = ports, 0
        self.taken: dict[int, list[float]] = {}  # by rank: when a report was answered with 200
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _dial(self) -> socket.socket | None:
        self._count += 1
        for number in (self._count, self._count + 1):  # a dead one refuses
            with contextlib.suppress(OSError):
                return socket.create_connection(("127.0.0.1", self._ports[number % 2]), 10)
        return None

    def _serve(self, client: socket.socket) -> None:
        replica = self._dial()
        if replica is None:
            client.close()
            return
        rank = None
        with client, replica:
            while True:
                for ready in select.select([client, replica], [], [])[0]:
                    try:
                        data = ready.recv(65536)
                        (replica if ready is client else client).sendall(data)
                    except OSError:
                        return
                    if not data:
                        return
                    said = re.search(rb'"rank":(\d+)', data)
                    if ready is client and said:
                        rank = int(said[1])
                    if ready is replica and data.startswith(b"HTTP/1.1 200"):
                        self.taken.setdefault(rank, []).append(time.monotonic())


class TwoReplicas(unittest.TestCase):
    def replica(self, name: str):
        self.world.ask("POST", pods_of("default"), {
            "metadata": {"name": name},
            "spec": {"containers": [{"name": "operator", "image": "none"}]}})
        return self.world.operator(f"--pod=default/{name}", name=name)

    def labelled(self) -> list[str]:
        found = self.world.ask("GET", pods_of("default") +
                               "?labelSelector=amdahl.dev/leader%3Dtrue")["items"]
        return [pod["metadata"]["name"] for pod in found]

    def launcher(self, rank: int) -> Launch:
        pod = self.world.start_pod("default", f"llama-1-{rank}")
        token = self.world.server.certs / f"token-{rank}"
        token.write_text(pod.token)
        one = Launch(*python("import time; time.sleep(600)"), env={
            "AMDAHL_REPORT_URL": f"http://127.0.0.1:{self.balancer.port}/v1/report",
            "AMDAHL_REPORT_TOKEN": str(token), "AMDAHL_JOB": "default/llama",
            "AMDAHL_POD": pod.name, "AMDAHL_RANK": str(rank)})
        self.enterContext(one)
        return one

    # promises: B5
    def test_no_rank_is_silent_for_long_when_the_leader_is_killed(self):
        self.world = ReportWorld()
        self.addCleanup(self.world.close)
        self.world.make_namespace("default")
        first = self.replica("first")
        wait_for(lambda: self.labelled() == ["first"])
        second = self.replica("second")
        self.balancer = Balancer([first.report_port(), second.report_port()])
        self.addCleanup(self.balancer.close)
        self.world.submit("default", "llama", nodes=RANKS)
        started = time.monotonic()
        for rank in range(RANKS):
            self.launcher(rank)
        taken = self.balancer.taken
        wait_for(lambda: len(taken) == RANKS and all(len(times) > 1 for times in taken.values()),
                 lambda: f"reports taken: {taken}")
        first.process.kill()
        killed = time.monotonic()
        wait_for(lambda: all(sum(at > killed for at in times) > 1 for times in taken.values()),
                 lambda: f"reports taken: {taken}, killed at {killed}")
        gaps = [max(b - a for a, b in zip(times, times[1:])) for times in taken.values()]
        waits = [times[0] - started for times in taken.values()]
        print(f"\nlongest silence {max(gaps):.1f} s, first report after {max(waits):.1f} s",
              end=" ", flush=True)
        self.assertLessEqual(max(gaps), SILENT_SECONDS_MAX)
        wait_for(lambda: self.labelled() == ["second"])


if __name__ == "__main__":
    unittest.main()
