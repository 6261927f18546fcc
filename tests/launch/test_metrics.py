"""Metrics of a launcher: one page where a port is given, and no harm to the trainer."""

import contextlib
import socket
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from launch import Launch, python, wait_for  # noqa: E402

STEPS = """
import time
from amdahl import job
for n in range(1, 31):
    job.step(n, 30)
    time.sleep(0.03)
time.sleep(60)
"""
OK = b"HTTP/1.1 200 "


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(port: int, request: bytes = b"GET /metrics") -> bytes:
    """The whole answer; nothing if there is none."""
    with contextlib.suppress(OSError):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            client.sendall(request + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return client.makefile("rb").read()
    return b""


class Metrics(unittest.TestCase):
    # promises: B9
    def test_steps_phases_and_memory_are_served(self):
        port = free_port()
        with Launch(*python(STEPS), env={"AMDAHL_METRICS_PORT": str(port)}):
            wait_for(lambda: b"\namdahl_launch_step 30\n" in ask(port))
            text = ask(port)
            self.assertIn(b'amdahl_launch_phase_seconds_total{phase="Train"}', text)
            self.assertIn(b"\namdahl_launch_memory_peak_bytes ", text)

    # promises: B9
    def test_only_one_page_is_served_and_idle_connections_keep_nobody_waiting(self):
        port = free_port()
        command = ("sh", "-c", "while [ ! -e go ]; do sleep 0.1; done; exit 4")
        with contextlib.ExitStack() as stack:
            launch = stack.enter_context(
                Launch(*command, env={"AMDAHL_METRICS_PORT": str(port)}))
            wait_for(lambda: ask(port).startswith(OK))
            self.assertTrue(ask(port, b"GET /").startswith(b"HTTP/1.1 404 "))
            self.assertTrue(ask(port, b"POST /metrics").startswith(b"HTTP/1.1 405 "))
            self.assertFalse(ask(port, b"GET /metrics?" + b"x" * 4096).startswith(OK))
            for _ in range(40):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            wait_for(lambda: ask(port).startswith(OK))
            (launch.path / "go").write_text("")
            self.assertEqual(launch.wait(), 4, launch.errors())

    # promises: B9
    def test_a_port_in_use_costs_the_metrics_only(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            env = {"AMDAHL_METRICS_PORT": str(taken.getsockname()[1])}
            with Launch("sh", "-c", "exit 3", env=env) as launch:
                self.assertEqual(launch.wait(), 3)
                self.assertIn("no metrics: ", launch.errors())


if __name__ == "__main__":
    unittest.main()
