"""A small run of the operator's bench on a real API server: every part gives its figures.

Not named test_*: `make test`, which has no real API server, must not find it. Peers whose programs
are not built are left out, which the bench says in capitals.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import operator_report as report  # noqa: E402

PROGRAM = Path(os.environ.get("AMDAHL_OPERATOR", HERE.parents[1]
                              / "build/dev/operator/process/amdahl-operator"))
RUN_SECONDS_MAX = 500
BY_ROUNDS = {"create_writes", "settled_writes", "create_cpu", "work_rss"} | {
    f"{step}_{what}" for step in ("create", "pause", "resume", "gang")
    for what in ("wall", "server_cpu")}


class QuickRun(unittest.TestCase):
    def test_every_part_gives_its_figures(self):
        with tempfile.TemporaryDirectory(prefix="amdahl-bench-") as folder:
            out = Path(folder) / "figures.json"
            command = [HERE / "operator_run.py", "--quick", "--no-build", "--out", out,
                       "--operator", PROGRAM]
            done = subprocess.run([sys.executable, *map(str, command)], capture_output=True,
                                  text=True, timeout=RUN_SECONDS_MAX)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(out.read_text())
        print(done.stdout)
        samples, left_out = found["samples"], found["left_out"]
        self.assertEqual(samples[report.OURS].keys(), {one.key for one in report.FIGURES})
        for peer in {"job", "job-our-pods", "kubeflow", "volcano"} - set(left_out):
            self.assertEqual(samples[peer].keys(), BY_ROUNDS, peer)
        for peer in left_out:
            self.assertIn(f"LEFT OUT: {peer}", done.stdout)
        self.assertGreater(samples[report.OURS]["create_writes"][0], 8)  # pods, and more
        self.assertIn("3 jobs x 8: first create to all pods", done.stdout)
        self.assertNotIn("PASS", done.stdout)  # its sizes are not those of the bars


if __name__ == "__main__":
    unittest.main()
