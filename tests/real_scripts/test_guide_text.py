"""The code of docs/guides/checkpoints.md is that of examples/recipes, which tests run.

usage: test_guide_text.py            compare
       test_guide_text.py --update   write it into the guide
"""

import re
import sys
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guides" / "checkpoints.md"
RECIPES = ROOT / "examples" / "recipes"
SHOWN = re.compile(r"(<!-- (?P<script>\w+\.py) -->\n```python\n)(?P<code>.*?)(```\n)", re.S)
PART = re.compile(r"^ *# \[recipe\]\n(.*?)^ *# \[end\]\n", re.S | re.M)


def shown_part(script: str) -> str:
    """What stands between the marks; between two such parts there is a line of dots."""
    text = (RECIPES / script).read_text()
    parts = [part.rstrip("\n") for part in PART.findall(text)]
    if not parts:
        raise ValueError(f"{script} has no part between # [recipe] and # [end]")
    whole = "\n    ...\n".join(parts) + "\n"
    return textwrap.dedent(re.sub(r"  # noqa[^\n]*", "", whole)).replace("\n\n\n", "\n\n")


def renewed(guide: str) -> str:
    return SHOWN.sub(lambda found: found[1] + shown_part(found["script"]) + found[4], guide)


class GuideText(unittest.TestCase):
    # promises: D12
    def test_the_guide_shows_what_is_run(self):
        guide = GUIDE.read_text()
        self.assertEqual(guide, renewed(guide), f"run {Path(__file__).name} --update")

    # promises: D12
    def test_every_recipe_is_shown_and_no_other_python(self):
        shown = [found["script"] for found in SHOWN.finditer(GUIDE.read_text())]
        self.assertEqual(sorted(shown), sorted(path.name for path in RECIPES.glob("*.py")))
        self.assertEqual(GUIDE.read_text().count("```python\n"), len(shown))

    # promises: D12
    def test_every_recipe_is_run_by_a_test(self):
        tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
        for path in RECIPES.glob("*.py"):
            self.assertIn(f'check_whole_life("{path.stem}"', tests)

    # promises: D12
    def test_an_index_opens_the_guide(self):
        opening = GUIDE.read_text().split("\n## ")[0]
        for path in RECIPES.glob("*.py"):
            self.assertIn(path.name, opening)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        GUIDE.write_text(renewed(GUIDE.read_text()))
    else:
        unittest.main()
