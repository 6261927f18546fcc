"""Each peer against a real server: does it print what the README promises?

`python3 -m unittest discover tests/bench/peers`; PEER_PODS sets the number of pods (2000).
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "cluster"))

import testbed  # noqa: E402

PODS = "/api/v1/namespaces/default/pods"
COUNT = int(os.environ.get("PEER_PODS", "2000"))
MERGE = "application/merge-patch+json"


class Peer:
    """A running peer; its lines arrive through a thread, so that every wait is bounded."""

    def __init__(self, program: Path, kubeconfig: Path, *flags: str):
        command = [program, "--kubeconfig", kubeconfig, *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._lines = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def expect(self, ev: str, seconds: float = 60) -> dict:
        """The next line of this kind; lines of other kinds before it are dropped."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no line {ev!r} within {seconds} s") from None
            if line["ev"] == ev:
                return line

    def stop(self) -> int:
        """Its exit code; may be called again."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            self._reader.join(5)
            self.process.stdout.close()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(json.loads(line))


class Peers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([Path(__file__).parent / "build"], check=True)
        cls.cluster = testbed.Cluster(f"peers-{os.getpid()}")
        cls.addClassCleanup(cls.cluster.down)
        cls.cluster.up()
        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(cls.create, range(COUNT))) == {201}

    @classmethod
    def create(cls, number: int) -> int:
        spec = {"containers": [{"name": "c", "image": "none"}]}
        body = {"metadata": {"name": f"pod-{number}"}, "spec": spec}
        return cls.cluster.request("POST", PODS, body)[0]

    def label(self, pod: int, seq: int) -> None:
        body = {"metadata": {"labels": {"bench.amdahl.dev/seq": str(seq)}}}
        status, _ = self.cluster.request("PATCH", f"{PODS}/pod-{pod}", body, content_type=MERGE)
        self.assertEqual(status, 200)

    def run_peer(self, name: str, *flags: str) -> None:
        peer = Peer(ROOT / "build" / "peers" / name, self.cluster.kubeconfig, *flags)
        self.addCleanup(peer.stop)
        start, synced = peer.expect("start"), peer.expect("synced")
        self.assertEqual(synced["objects"], COUNT)
        done = peer.expect("all_reconciled")
        self.assertEqual(done["keys"], COUNT)
        delays = [] if "--quiet" in flags else [self.one_change(peer, n) for n in range(1, 6)]
        if "--quiet" in flags:
            for number in range(1000):
                self.label(number % COUNT, time.monotonic_ns())
            self.assertEqual(peer.expect("events")["n"], 1000)
        peer.process.send_signal(signal.SIGUSR1)
        usage = peer.expect("rusage")
        self.assertGreater(usage["utime_us"], 0)
        self.assertLessEqual(usage["rss_kb"], usage["hwm_kb"])
        self.assertEqual(peer.stop(), 0)
        since_start = [(line["t_ns"] - start["t_ns"]) / 1e6 for line in (synced, done)]
        print(f"{name} {' '.join(flags)}: synced, all reconciled after {since_start} ms; {usage}; "
              f"write to reconcile {[d / 1e6 for d in delays]} ms", file=sys.stderr)

    def one_change(self, peer: Peer, number: int) -> int:
        """Labels one pod; returns the time from before the write to its reconcile, in ns."""
        seq = time.monotonic_ns()  # new each time, because a patch that changes nothing is no event
        self.label(number, seq)
        handled, reconciled = peer.expect("handler"), peer.expect("reconcile")
        self.assertEqual((handled["seq"], reconciled["seq"]), (seq, seq))
        self.assertLess(seq, handled["t_ns"])
        self.assertLessEqual(handled["t_ns"], reconciled["t_ns"])
        return reconciled["t_ns"] - seq

    def test_go(self):
        self.run_peer("go-controller-runtime")

    def test_go_stripped(self):
        self.run_peer("go-controller-runtime", "--strip")

    def test_rust(self):
        self.run_peer("rust-kube")

    def test_rust_stripped(self):
        self.run_peer("rust-kube", "--strip")

    def test_quiet(self):
        for name in ("go-controller-runtime", "rust-kube"):
            with self.subTest(name):
                self.run_peer(name, "--quiet")


if __name__ == "__main__":
    unittest.main()
