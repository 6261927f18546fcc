#!/usr/bin/env python3
"""The mutation check itself: a safeguard nobody misses must be reported."""

import contextlib
import io
import stat
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import mutation  # noqa: E402

# Answers as a Catch2 program with one test case, tagged [L1], that fails under the given condition.
STAND_IN = """#!/usr/bin/env python3
import os, sys
if "--list-test-names-only" in sys.argv:
    sys.exit(sys.argv[1] == "[L1]")
off = os.environ.get("AMDAHL_SWITCH_OFF")
bad = {condition}
print(f'<TestCase name="Store starts consistent" tags="[L1]">')
print(f'<OverallResult success="{{str(not bad).lower()}}"/></TestCase>')
sys.exit(bad)
"""


class Mutation(unittest.TestCase):
    def judge(self, condition: str, rule: str = "L1") -> tuple[list[str], str]:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "kube_test"
            program.write_text(STAND_IN.format(condition=condition))
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            with contextlib.redirect_stdout(io.StringIO()) as out:
                return mutation.judge(rule, [str(program)]), out.getvalue()

    def test_a_test_that_notices_is_named(self):
        problems, out = self.judge('off == "L1"')
        self.assertEqual(problems, [])
        self.assertEqual(out, "L1 off: caught by kube_test: Store starts consistent\n")

    def test_a_test_that_never_fails_is_a_problem(self):
        self.assertIn("no test tagged [L1] noticed", self.judge("False")[0][0])

    def test_a_test_that_always_fails_is_a_problem(self):
        self.assertIn("fails as it is", self.judge("True")[0][0])

    def test_a_rule_without_a_tag_is_a_problem(self):
        self.assertIn("no test case carries", self.judge("False", rule="W2")[0][0])

    def test_the_rules_are_read_from_the_header(self):
        self.assertEqual(mutation.switches(), ["L1", "W1", "W2", "W3", "E2"])


if __name__ == "__main__":
    unittest.main()
