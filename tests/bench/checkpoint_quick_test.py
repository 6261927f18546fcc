"""A small run of the bench of checkpoints: every figure is measured, every kill is judged.

Peers that are not installed are skipped, with the reason. AMDAHL_CHECKPOINT_LIBRARY names ours.
"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import checkpoint_report as report  # noqa: E402

RUN_SECONDS_MAX = 200


class Quick(unittest.TestCase):
    def test_every_figure_of_ours_is_measured(self):
        done = subprocess.run([sys.executable, HERE / "checkpoint_run.py", "--quick", "--no-build"],
                              text=True, capture_output=True, timeout=RUN_SECONDS_MAX, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        print(done.stdout)
        path = HERE.parents[1] / "build" / "bench" / "checkpoint-quick.json"
        found = json.loads(path.read_text())
        self.assertEqual(found["broken"], [])
        ours = found["samples"]["fp32-16"]["amdahl"]
        self.assertLessEqual(set(report.FIGURES) - {"block_p95"} | set(report.FLOORS), set(ours))
        for one in found["kills"]["amdahl"]:
            self.assertFalse(one["unloadable"] or one["mixed"] or one["older"], one)
            self.assertEqual(one["orphan_bytes"], 0)
        for name, why in found["not_installed"].items():
            self.assertIn(f"{name}: not installed: {why}", done.stdout)


if __name__ == "__main__":
    if not os.environ.get("AMDAHL_CHECKPOINT_LIBRARY"):
        print("AMDAHL_CHECKPOINT_LIBRARY is not set: the library of build/release is used")
    unittest.main()
