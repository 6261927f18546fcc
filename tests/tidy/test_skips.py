"""What ctest skipped is counted, with the reason, however a test says so."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)" tests="4" skipped="1">
  <testcase name="a: whole" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
    <system-out>skipped: no frameworks
</system-out></testcase>
  <testcase name="b: some" status="run"><system-out>
test_x (m.X.test_x) ... skipped 'no torch'
test_y (m.X.test_y) ... skipped "DeepSpeed isn't there"
OK (skipped=2)
</system-out></testcase>
  <testcase name="c: quiet" status="run"><system-out>OK (skipped=3)
</system-out></testcase>
  <testcase name="d: fine" status="run"><system-out>OK
</system-out></testcase>
</testsuite>
"""


class Skips(unittest.TestCase):
    def run_tool(self, text: str) -> list[str]:
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([sys.executable, ROOT / "tools" / "skips.py", file.name],
                                  text=True, capture_output=True, check=True, timeout=60)
        return [line.strip() for line in done.stdout.splitlines()]

    # promises: B8
    def test_every_way_to_skip_is_counted_with_its_reason(self):
        self.assertEqual(self.run_tool(RESULTS), [
            "skipped: 6 in 4 tests", "1 x a: whole: no frameworks",
            "1 x b: some: DeepSpeed isn't there", "1 x b: some: no torch",
            "3 x c: quiet: run it with -v for the reason"])

    # promises: B8
    def test_results_that_cannot_be_read_are_not_taken_for_none(self):
        self.assertIn("skipped: unknown", self.run_tool("<testsuite")[0])

    # promises: B8
    def test_ci_installs_the_frameworks_and_prints_what_was_skipped_after_each_run_of_tests(self):
        lines = [line.split("#")[0].strip() for line in (ROOT / ".ci/run").read_text().splitlines()]
        for stage in ("stage make test", "stage make cluster-test"):
            self.assertEqual(lines[lines.index(stage) + 1], "skips")
        self.assertLess(lines.index("optional make frameworks"), lines.index("stage make test"))


if __name__ == "__main__":
    unittest.main()
