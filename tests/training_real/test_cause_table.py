"""The table of causes in docs/explanation/why.md: every class is in it, with a test that has it."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "explanation" / "why.md"
ENUM = ROOT / "operator" / "api" / "training_job_cause.hpp"


def classes() -> list[str]:
    body = re.search(r"enum class CauseClass [^{]*{([^}]*)}", ENUM.read_text())[1]
    return re.findall(r"\bk(\w+),", body)


def rows() -> list[tuple[str, list[str]]]:
    """Class and test files."""
    section = PAGE.read_text().partition("## Where each cause comes from")[2]
    found = re.findall(r"^\| (\w+) \| [^|]+ \| ([^|]+) \|$", section, re.MULTILINE)
    return [(name, re.findall(r"`([^`]+)`", tests)) for name, tests in found if name != "class"]


class CauseTable(unittest.TestCase):
    # promises: B3
    def test_every_class_is_in_the_table_once(self):
        self.assertEqual(len(classes()), 29)
        self.assertEqual(sorted(name for name, _ in rows()), sorted(classes()))

    # promises: B3
    def test_every_class_has_a_test_that_expects_it(self):
        for name, tests in rows():
            with self.subTest(name):
                self.assertTrue(tests)
                for test in tests:
                    self.assertIn(f'"{name}"', (ROOT / test).read_text(), test)


if __name__ == "__main__":
    unittest.main()
