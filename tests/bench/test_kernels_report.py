"""The bench of the kernels: its verdicts, and that its program measures every figure."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import kernels_report as report  # noqa: E402


def figure(key: str) -> report.Figure:
    return next(one for one in report.FIGURES if one.key == key)


class Verdicts(unittest.TestCase):
    def test_a_bar_is_for_the_median_of_the_pairs(self):
        for ours, verdict in (([10, 10, 1], "PASS"), ([9, 9, 40], "MISS")):
            samples = {"crc_64": {"ours": ours, "peer": [10, 10, 10]}}
            self.assertEqual(report.verdict(figure("crc_64"), samples), verdict)

    def test_the_ratio_has_a_bar_of_its_own(self):
        for ours, verdict in ((1.40, "PASS"), (1.39, "MISS")):
            samples = {"ratio": {"ours": [ours], "peer": [9.0]}}
            self.assertEqual(report.verdict(figure("ratio"), samples), verdict)

    def test_a_figure_without_a_bar_has_no_verdict(self):
        samples = {"copy_1": {"ours": [1.0], "peer": [9.0]}}
        self.assertEqual(report.verdict(figure("copy_1"), samples), "")

    def test_every_figure_of_the_table_is_measured(self):
        build = Path(os.environ.get("AMDAHL_BUILD", HERE.parents[1] / "build" / "dev"))
        program = build / "tests" / "bench" / "bench_kernels"
        with tempfile.NamedTemporaryFile() as weights:
            weights.write(bytes(range(256)) * 4096)
            weights.flush()
            done = subprocess.run([program, weights.name, "quick"], check=True, text=True,
                                  stdout=subprocess.PIPE, timeout=100)
        measured = json.loads(done.stdout)
        self.assertEqual(set(measured["samples"]), {one.key for one in report.FIGURES})
        self.assertIn("CRC32C of 64 KB", report.table(measured["samples"]))


if __name__ == "__main__":
    unittest.main()
