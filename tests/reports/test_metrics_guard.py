"""Metrics off loopback are for accounts that may read them."""

import socket
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from report_world import PROGRAM, ReportWorld  # noqa: E402

# Listens on loopback alone, but is no loopback address by its text: nothing is open to a network.
MAPPED = "[::ffff:127.0.0.1]:0"


def can_map() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind(("::ffff:127.0.0.1", 0))
        return True
    except OSError:
        return False


@unittest.skipUnless(can_map(), "needs IPv6, which this machine does not have")
class MetricsGuard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = ReportWorld()
        cls.addClassCleanup(cls.world.close)

    def probe(self, operator, path: str, token: str = "") -> int:
        return operator.probe(path, token)[0]

    # promises: A10
    def test_metrics_need_a_token_and_probes_need_none(self):
        operator = self.world.operator("--no-leader-election", f"--probe-address={MAPPED}")
        self.assertEqual(self.probe(operator, "/livez"), 200)
        self.assertEqual(self.probe(operator, "/metrics"), 401)
        self.assertEqual(self.probe(operator, "/metrics", "junk"), 403)
        self.assertEqual(self.probe(operator, "/metrics", self.world.server.token()), 200)
        self.assertTrue(any("plain HTTP" in line["message"] for line in operator.lines()))

    # promises: A10
    def test_a_flag_lets_everybody_read(self):
        operator = self.world.operator("--no-leader-election", f"--probe-address={MAPPED}",
                                       "--no-metrics-auth")
        self.assertEqual(self.probe(operator, "/metrics"), 200)


class PlainReports(unittest.TestCase):
    # promises: A10
    def test_tokens_of_pods_do_not_travel_in_the_clear(self):
        world = ReportWorld()
        self.addCleanup(world.close)
        local = "127.0.0.1:0"
        for url, address in (("http://amdahl-operator.amdahl-system:8443", local),
                             ("http://127.evil.com:8082", local),
                             ("https://amdahl-operator.amdahl-system:8443", "0.0.0.0:0")):
            ended = subprocess.run(
                [PROGRAM, "--kubeconfig", world.server.kubeconfig, "--report-url", url,
                 f"--probe-address={local}", f"--report-address={address}"],
                capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(ended.returncode, 1, ended.stderr)
            self.assertIn("--allow-plain-reports", ended.stderr)


if __name__ == "__main__":
    unittest.main()
