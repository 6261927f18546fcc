#!/usr/bin/env python3
"""The table of promises: what counts as kept, and what fails the build."""

import json
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools")]

import promises_table  # noqa: E402
from tagged_tests import Test  # noqa: E402
from tree import Tree  # noqa: E402

PROMISES = "= A Tenants\nA1 One.\nopen A2 Two. -- the real cluster\n= D Scripts\nD1 Three.\n"
TEST = Test("tests/cli/test_a.py", "a job")


def faults(kept: dict, seen: dict, fields: list[str] = []) -> list[str]:
    sections = promises_table.read_promises(PROMISES)
    return list(promises_table.faults(sections, fields, kept, seen))


class PromisesTable(unittest.TestCase):
    def test_a_promise_without_a_test_is_a_fault(self):
        self.assertEqual(faults({"A1": [TEST], "D1": [TEST]}, {}), [])
        found = faults({"A1": [TEST]}, {})
        self.assertEqual(len(found), 1)
        self.assertIn("no test carries D1", found[0])

    def test_an_open_promise_says_what_is_missing(self):
        sections = promises_table.read_promises(PROMISES)
        text = promises_table.page(sections, [], {"A1": [TEST]}, {})
        self.assertIn("2 of 3 promises are kept in full", text)
        self.assertIn("| A2 | Two.<br>**Not yet**: the real cluster | none |", text)
        for line in ("open A2 Two.", "A2 Two. -- the real cluster", "A2 no full stop"):
            with self.assertRaises(SystemExit):
                promises_table.read_promises("= A Tenants\n" + line + "\n")

    def test_a_field_without_a_test_is_a_fault(self):
        rows = {"fields": [{"path": "restart"}, {"path": "restart.backoff"}, {"path": "nodes"}]}
        tree = Tree({promises_table.FIELDS: json.dumps(rows)})
        fields = promises_table.read_fields(tree)
        self.assertEqual(fields, ["spec.nodes", "spec.restart.backoff"])
        kept = {"A1": [TEST], "D1": [TEST]}
        found = faults(kept, {"spec.nodes": [TEST]}, fields)
        self.assertEqual(len(found), 1)
        self.assertIn("spec.restart.backoff", found[0])

    def test_tags_of_nothing_are_faults(self):
        kept = {"A1": [TEST], "D1": [TEST], "D99": [TEST]}
        found = faults(kept, {"spec.gone": [TEST]})
        self.assertEqual([name in text for name, text in zip(("D99", "spec.gone"), found)],
                         [True, True])

    def test_tags_of_fields_in_both_languages(self):
        files = {
            "tests/api/a_test.cpp": 'TEST_CASE("Nodes count", "[A1][field:spec.nodes]") {\n',
            "tests/cli/test_a.py":
                "# fields: spec.nodes\n# fields: spec.restart.backoff\ndef test_b(s):\n",
        }
        seen = promises_table.tests_by_tag(
            Tree(files), "fields", promises_table.FIELD, cpp_prefix="field:")
        self.assertEqual(len(seen["spec.nodes"]), 2)
        self.assertEqual([test.name for test in seen["spec.restart.backoff"]], ["b"])


if __name__ == "__main__":
    unittest.main()
