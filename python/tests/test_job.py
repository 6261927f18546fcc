"""amdahl.job beside a stand-in for the launcher: what is sent, and that nothing ever hurts."""

import contextlib
import importlib
import json
import os
import socket
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from amdahl import job  # noqa: E402

CALL_SECONDS_MAX = 20e-6  # of a step that is not sent, with room for a slow machine


class StandIn:
    """Listens as the launcher does."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "launch.sock")
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.server.bind(self.path)
        self.server.listen(8)
        self.server.settimeout(5)
        self.peer = None

    def lines(self):
        """All lines so far, of the newest connection."""
        if self.peer is None:
            self.peer, _ = self.server.accept()
            self.peer.setblocking(False)
        data = b""
        with contextlib.suppress(BlockingIOError):
            while chunk := self.peer.recv(65536):
                data += chunk
        return [json.loads(line) for line in data.splitlines()]

    def say(self, **message):
        self.peer.sendall(json.dumps(message).encode() + b"\n")

    def close(self):
        for one in (self.peer, self.server):
            if one is not None:
                one.close()
        self.folder.cleanup()


class Time:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class JobTest(unittest.TestCase):
    def setUp(self):
        self.stand_in = StandIn()
        self.addCleanup(self.stand_in.close)
        self.time = Time()
        self.launcher = job.Launcher(self.stand_in.path, self.time)
        self.addCleanup(lambda: self.launcher._close())

    def test_a_step_says_hello_first_and_then_what_is_known(self):
        self.launcher.step(3, 10, {"loss": 1.5, "bad": float("nan"), "odd": object})
        hello, state = self.stand_in.lines()
        self.assertEqual(hello["type"], "hello")
        self.assertEqual(hello["pid"], os.getpid())
        self.assertEqual((state["step"], state["total"], state["phase"]), (3, 10, "Train"))
        self.assertEqual(state["metrics"]["loss"], 1.5)
        self.assertEqual(state["metrics"]["bad"], "nan")
        self.assertIsInstance(state["metrics"]["odd"], str)

    def test_fast_steps_are_summed_up_and_the_last_one_is_told(self):
        for n in range(1, 101):
            self.launcher.step(n, 100, {})
        steps = [line["step"] for line in self.stand_in.lines() if "step" in line]
        self.assertEqual(steps, [1, 100])
        self.time.now += job.SEND_EVERY_SECONDS
        self.launcher.step(50, None, {})
        self.assertEqual([line["step"] for line in self.stand_in.lines()], [50])

    def test_a_checkpoint_is_never_ahead_of_the_steps(self):
        for n in range(1, 8):
            self.launcher.step(n, 100, {"loss": n})
        self.launcher.committed(7, "/c/7", 0)
        self.launcher.committed(7, "/c/7", 0)
        told = [(line["type"], line["step"]) for line in self.stand_in.lines()[1:]]
        self.assertEqual(told, [("state", 1), ("state", 7), ("committed", 7), ("committed", 7)])

    def test_phases_nest_and_data_waits_ride_with_the_next_step(self):
        self.launcher.enter("Eval")
        self.launcher.enter("DataWait")
        self.launcher.leave("DataWait", 0.25)
        self.launcher.leave("Eval", 1)
        self.launcher.enter("DataWait")
        self.launcher.leave("DataWait", 0.5)
        self.time.now += 1
        self.launcher.step(1, None, {})
        lines = self.stand_in.lines()[1:]
        self.assertEqual([line["phase"] for line in lines], ["Eval", "Train", "Train"])
        self.assertEqual([line.get("dataWait") for line in lines], [None, 0.25, 0.5])

    def test_should_stop_hears_stop_and_continue(self):
        self.assertFalse(self.launcher.should_stop())
        self.assertEqual([line["type"] for line in self.stand_in.lines()], ["hello", "listening"])
        self.stand_in.say(type="stop", deadlineSeconds=5)
        self.assertTrue(self.launcher.should_stop())
        self.launcher.stops()
        self.launcher.stops()
        self.launcher.committed(7, "/c/7", 12, {"stallSeconds": 0.5, "secret": "x"})
        self.launcher.failed("disk full")
        heard, committed, failed = self.stand_in.lines()
        self.assertEqual(heard, {"type": "heard"})
        self.assertEqual(committed, {"type": "committed", "step": 7, "path": "/c/7", "bytes": 12,
                                     "stallSeconds": 0.5})
        self.assertEqual(failed, {"type": "failed", "message": "disk full"})
        self.stand_in.say(type="continue")
        self.assertFalse(self.launcher.should_stop())

    # promises: D2, D3
    def test_stopping_is_said_once_all_ranks_agree(self):
        agreed = iter([False, True])
        self.launcher.should_stop()
        self.stand_in.lines()
        self.stand_in.say(type="stop", deadlineSeconds=5)
        with mock.patch.object(job, "_launcher", self.launcher), \
                mock.patch.object(job._stop, "ask", lambda own: own() and next(agreed)):
            self.assertFalse(job.should_stop())
            self.launcher.committed(6, "/c/6", 0)  # a usual one
            self.assertTrue(job.should_stop())
        self.assertEqual([line["type"] for line in self.stand_in.lines()], ["committed", "heard"])

    # promises: D2
    def test_stopping_is_said_after_the_step_that_will_be_saved(self):
        self.launcher.step(1, None, {})
        self.launcher.step(2, None, {})  # kept back: too soon after the first
        self.launcher.should_stop()
        self.launcher.stops()  # nobody asked
        self.assertEqual([(line["type"], line.get("step")) for line in self.stand_in.lines()],
                         [("hello", None), ("state", 1), ("listening", None)])
        self.stand_in.say(type="stop", deadlineSeconds=5)
        self.assertTrue(self.launcher.should_stop())
        self.launcher.stops()
        self.assertEqual([(line["type"], line.get("step")) for line in self.stand_in.lines()],
                         [("state", 2), ("heard", None)])

    def test_the_interval_is_what_was_said_last_and_asking_is_not_listening(self):
        self.assertIsNone(self.launcher.interval())
        self.assertEqual([line["type"] for line in self.stand_in.lines()], ["hello"])
        self.stand_in.say(type="interval", seconds=416)
        self.stand_in.say(type="interval", seconds=832)
        self.assertEqual(self.launcher.interval(), 832)
        for bad in (0, -1, "x", None, float("nan"), float("inf"), 1e30, [1]):
            self.stand_in.say(type="interval", seconds=bad)
        self.stand_in.say(type="interval")
        self.assertEqual(self.launcher.interval(), 832)
        self.stand_in.say(type="stop", deadlineSeconds=5)
        self.assertTrue(self.launcher.should_stop())
        self.assertEqual(self.launcher.interval(), 832)

    def test_a_fork_has_a_connection_of_its_own(self):
        self.launcher.step(1, None, {})
        self.assertEqual(len(self.stand_in.lines()), 2)
        child = os.fork()
        if child == 0:
            self.launcher._sent_at = -1
            self.launcher.step(2, None, {})
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(self.stand_in.lines(), [])
        self.stand_in.peer.close()
        self.stand_in.peer = None
        self.assertEqual(self.stand_in.lines()[0]["pid"], child)

    def test_a_launcher_that_goes_away_hurts_nobody(self):
        self.launcher.step(1, None, {})
        self.stand_in.lines()
        self.stand_in.peer.close()
        self.stand_in.server.close()
        for n in range(5):
            self.time.now += 1
            self.launcher.step(n, None, {})
            self.assertFalse(self.launcher.should_stop())

    def test_a_launcher_that_does_not_read_delays_nobody(self):
        start = time.monotonic()
        for n in range(20_000):
            self.time.now += 1
            self.launcher.step(n, None, {"loss": 1.0})
        self.assertLess(time.monotonic() - start, 5)


class ModuleTest(unittest.TestCase):
    def test_without_a_launcher_every_call_does_nothing(self):
        self.assertNotIn("AMDAHL_SOCKET", os.environ)
        job.step(1, 2, loss=3)
        with job.phase("Eval"), job.phase("no such phase"):
            self.assertFalse(job.should_stop())
        self.assertIsNone(job.checkpoint_interval())
        job.committed(1, "/x")
        job.failed("x")
        job.step("nonsense", object(), loss=object())  # type: ignore[arg-type]

    def test_an_exception_passes_through_a_phase(self):
        with self.assertRaises(KeyError), job.phase("Eval"):
            raise KeyError

    def test_the_module_reads_its_socket_from_the_environment(self):
        stand_in = StandIn()
        self.addCleanup(stand_in.close)
        os.environ["AMDAHL_SOCKET"] = stand_in.path
        try:
            again = importlib.reload(job)
            again.step(5)
            self.assertEqual(stand_in.lines()[1]["step"], 5)
        finally:
            del os.environ["AMDAHL_SOCKET"]
            importlib.reload(job)

    def test_a_step_is_cheap(self):
        stand_in = StandIn()
        self.addCleanup(stand_in.close)
        launcher = job.Launcher(stand_in.path)
        launcher.step(0, None, {})
        rounds = 20_000
        start = time.perf_counter()
        for n in range(rounds):
            launcher.step(n, None, {})
        each = (time.perf_counter() - start) / rounds
        launcher._close()
        print(f"step(): {each * 1e6:.2f} us", file=sys.stderr)
        self.assertLess(each, CALL_SECONDS_MAX)


if __name__ == "__main__":
    unittest.main()
