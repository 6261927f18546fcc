"""The bench of the embedded server: its verdicts, and that its programs work together."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import embedded_report as report  # noqa: E402

BUILD = Path(os.environ.get("AMDAHL_BUILD", HERE.parents[1] / "build" / "dev"))
RUN_SECONDS_MAX = 100


def figure(key: str) -> report.Figure:
    return next(one for one in report.FIGURES if one.key == key)


class Verdicts(unittest.TestCase):
    def test_a_bar_is_for_the_median(self):
        samples = {report.OURS: {"start_empty": [100, 299, 900]}}
        self.assertEqual(report.verdict(figure("start_empty"), samples), "PASS")
        samples = {report.OURS: {"start_empty": [100, 301, 301]}}
        self.assertEqual(report.verdict(figure("start_empty"), samples), "MISS")

    def test_a_rate_is_compared_with_the_peers(self):
        for ours, verdict in ((1500, "PASS"), (1499, "MISS")):
            samples = {report.OURS: {"pods_rate": [ours]}, report.PEER: {"pods_rate": [300]}}
            self.assertEqual(report.verdict(figure("pods_rate"), samples), verdict)

    def test_without_a_peer_or_a_bar_there_is_no_verdict(self):
        samples = {report.OURS: {"pods_rate": [1], "pods_p50": [1]}}
        self.assertEqual(report.verdict(figure("pods_rate"), samples), "")
        self.assertEqual(report.verdict(figure("pods_p50"), samples), "")
        self.assertEqual(report.verdict(figure("big_rss"), samples), "")

    def test_the_table_has_what_was_measured(self):
        samples = {report.OURS: {"pods_rate": [1500]}, report.PEER: {"pods_rate": [300]}}
        lines = report.table(samples).splitlines()
        self.assertEqual(len(lines), 3)
        for word in ("1500", "300", "5.00x", ">= 5x", "PASS"):
            self.assertIn(word, lines[2])


class QuickRun(unittest.TestCase):
    def test_every_part_gives_its_figures(self):
        with tempfile.TemporaryDirectory(prefix="amdahl-bench-") as folder:
            out = Path(folder) / "figures.json"
            command = [HERE / "embedded_run.py", "--quick", "--no-peer", "--no-build", "--data",
                       folder, "--out", out, "--bin", BUILD / "tests" / "bench", "--server",
                       BUILD / "tests" / "embedded" / "embedded_server"]
            done = subprocess.run([sys.executable, *map(str, command)], capture_output=True,
                                  text=True, timeout=RUN_SECONDS_MAX)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(out.read_text())["samples"][report.OURS]
        self.assertEqual(found.keys(), {one.key for one in report.FIGURES})
        self.assertTrue(all(value > 0 for values in found.values() for value in values))
        self.assertIn("PASS", done.stdout)


if __name__ == "__main__":
    unittest.main()
