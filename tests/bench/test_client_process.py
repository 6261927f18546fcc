"""How a measured program is watched, stopped and believed: with a small stand-in for a client."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from client_process import ClientProcess, MeasurementError  # noqa: E402
from machine import Strangers, cpu_seconds  # noqa: E402

# Behaves as the peers do; the word after it says how it misbehaves.
STAND_IN = """
import json, os, signal, sys, time
def emit(ev, **fields):
    line = json.dumps({"ev": ev, "t_ns": time.monotonic_ns(), **fields}) + chr(10)
    os.write(1, line.encode())  # not print: a signal may arrive inside it
def answer(*_):
    answers.append(1)
    emit("rusage", events=len(answers))
answers = []
signal.signal(signal.SIGUSR1, answer)
signal.signal(signal.SIGTERM, signal.SIG_IGN if "deaf" in sys.argv else lambda *_: sys.exit(0))
emit("start")
if "dies" in sys.argv: sys.exit("out of luck")
until = time.process_time() + 0.2
while time.process_time() < until: pass
emit("synced", objects=3)
if "garbles" in sys.argv: print("no json", flush=True)
for seq in (5, 6, 5): emit("handler", seq=seq)
while True: time.sleep(0.01)
"""


class Client(unittest.TestCase):
    def start(self, *how: str) -> ClientProcess:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        client = ClientProcess("stand-in", [sys.executable, "-c", STAND_IN, *how], folder / "log")
        self.addCleanup(client.stop, check=False)
        return client

    def test_events_are_found_before_and_after_they_come(self):
        client = self.start()
        self.assertGreater(client.wait_for("start", 10)["t_ns"], client.started_ns)
        self.assertEqual(client.wait_for("handler", 10, lambda line: line["seq"] == 6)["seq"], 6)
        self.assertEqual(client.wait_for("synced", 0)["objects"], 3)
        client.stop()

    def test_the_first_line_of_a_number_counts(self):
        client = self.start()
        client.wait_for("handler", 10, lambda line: line["seq"] == 6)
        client.settle()
        seen = client.seqs("handler")
        self.assertEqual(sorted(seen), [5, 6])
        self.assertLess(seen[5], seen[6])

    def test_cpu_time_is_the_clients_own(self):
        client = self.start()
        client.wait_for("synced", 10)
        self.assertGreater(client.cpu_seconds_at("synced") - client.cpu_seconds_at("start"), 0.19)
        self.assertLessEqual(client.cpu_seconds_at("synced"), client.cpu_seconds())

    def test_each_usage_is_a_fresh_answer(self):
        client = self.start()
        client.wait_for("synced", 10)
        self.assertEqual([client.usage()["events"] for _ in range(3)], [1, 2, 3])

    def test_a_frozen_client_uses_no_cpu_and_wakes_again(self):
        client = self.start()
        client.wait_for("synced", 10)
        with client.frozen():
            before = client.cpu_seconds()
            os.kill(client.pid, 0)
            time.sleep(0.1)
            self.assertEqual(client.cpu_seconds(), before)
        self.assertEqual(client.usage()["events"], 1)

    def test_a_missing_event_is_an_error_within_its_time(self):
        client, start = self.start(), time.monotonic()
        with self.assertRaisesRegex(MeasurementError, "gave none within 0.3 s"):
            client.wait_for("all_reconciled", 0.3)
        self.assertLess(time.monotonic() - start, 5)

    def test_a_client_that_dies_is_an_error_that_quotes_it(self):
        client = self.start("dies")
        with self.assertRaisesRegex(MeasurementError, "(?s)ended with 1.*out of luck"):
            client.wait_for("synced", 10)
        with self.assertRaisesRegex(MeasurementError, "ended with 1"):
            client.stop()

    def test_a_client_that_ignores_sigterm_is_killed_and_is_an_error(self):
        client = self.start("deaf")
        client.wait_for("synced", 10)
        with unittest.mock.patch("client_process.EXIT_SECONDS", 0.2):
            with self.assertRaisesRegex(MeasurementError, "ignored SIGTERM"):
                client.stop()
        self.assertFalse(Path(f"/proc/{client.pid}").exists())

    def test_lines_that_are_no_events_do_no_harm(self):
        client = self.start("garbles")
        self.assertEqual(client.wait_for("garbage", 10)["text"], "no json\n")
        client.wait_for("handler", 10)


class Machine(unittest.TestCase):
    def test_a_strangers_work_is_noticed_and_known_pids_are_not_strangers(self):
        spin = [sys.executable, "-c", "while True: pass"]
        with subprocess.Popen(spin) as busy:
            self.addCleanup(busy.kill)
            with Strangers([]) as unknown, Strangers([busy.pid]) as known:
                time.sleep(0.5)
            used = cpu_seconds(busy.pid)
            busy.kill()
        self.assertGreater(used, 0)
        self.assertGreater(unknown.cores, known.cores)


if __name__ == "__main__":
    unittest.main()
