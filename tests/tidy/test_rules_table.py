#!/usr/bin/env python3
"""The table of rules: what counts as a test that proves one."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools")]

import rules_table  # noqa: E402
from tree import Tree  # noqa: E402

RULES = "# comment\n\n= L List and watch\nL1 One.\nL2 Two.\n= Q Queue\nQ1 Three.\n"


def proofs(path: str, text: str) -> dict[str, list[str]]:
    found = rules_table.read_tests(Tree({path: text}))
    return {rule: [test.name for test in tests] for rule, tests in found.items()}


class RulesTable(unittest.TestCase):
    def test_tags_of_a_test_case(self):
        text = 'TEST_CASE("Store is \\"new\\" "\n          "again", "[L1][slow][Q12]") {\n'
        want = {"L1": ['Store is "new" again'], "Q12": ['Store is "new" again']}
        self.assertEqual(proofs("operator/kube/a_test.cpp", text), want)
        method = 'TEST_CASE_METHOD(Fixture, "Queue keeps order", "[Q1]") {\n'
        self.assertEqual(proofs("tests/sim/a.cpp", method), {"Q1": ["Queue keeps order"]})

    def test_what_is_not_a_proof(self):
        self.assertEqual(proofs("base/a_test.cpp", '// TEST_CASE("a", "[L1]")\n'), {})
        self.assertEqual(proofs("base/a_test.cpp", 'TEST_CASE("mentions [L1] only") {\n'), {})
        self.assertEqual(proofs("base/a.cpp", 'TEST_CASE("a", "[L1]") {\n'), {})

    def test_comment_above_a_python_test(self):
        text = "    # rules: L4, L7\n    @slow\n    def test_going_back_is_noticed(self):\n"
        want = {"L4": ["going back is noticed"], "L7": ["going back is noticed"]}
        self.assertEqual(proofs("tests/runtime/test_a.py", text), want)

    def test_a_rule_without_a_test_is_visible(self):
        sections = rules_table.read_rules(RULES)
        self.assertEqual(list(sections), ["List and watch", "Queue"])
        test = rules_table.Test("base/a_test.cpp", "A | b")
        text = rules_table.page(sections, {"L1": [test, test]})
        self.assertIn("1 of 3 rules have a test", text)
        self.assertIn("One. | A \\| b ([a_test.cpp](../../base/a_test.cpp)) |", text)
        self.assertIn("| L2 | Two. | **missing** |", text)

    def test_a_line_that_is_no_rule_is_refused(self):
        with self.assertRaises(SystemExit):
            rules_table.read_rules("= L List\nL1 no full stop\n")


if __name__ == "__main__":
    unittest.main()
