"""Real lm-eval, as examples/local-lm-eval.yaml runs it: progress and results in the status."""

import subprocess
import unittest

from job_case import ROOT
from lm_eval_folder import NotInstalled, frameworks_python, lm_eval_folder
from script_case import ScriptCase

QUESTIONS = 1500
REQUESTS = 2 * QUESTIONS  # one for each choice


class LmEval(ScriptCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.python = frameworks_python()
            cls.packages = lm_eval_folder(cls.python)
        except NotInstalled as why:
            raise unittest.SkipTest(f"no lm-eval: {why}") from why
        super().setUpClass()

    # promises: B7
    def test_the_example_shows_its_requests_and_its_result(self):
        folder = self.home.path / "lm-eval"
        made = subprocess.run([self.python, ROOT / "examples/lm_eval_tiny.py", folder,
                               str(QUESTIONS)], text=True, capture_output=True, timeout=300)
        self.assertEqual(made.returncode, 0, made.stderr)
        text = (ROOT / "examples/local-lm-eval.yaml").read_text()
        for old, new in {"/path/to/python": self.python, "/path/to/lm-eval": str(folder),
                         "        env:\n": "        env:\n        - {name: PYTHONPATH, value: "
                                           f"{self.packages}}}\n"}.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.home.run("apply", "-f", "-", text=text)
        self.addCleanup(self.home.run, "delete", "trainingjob", "tiny-lm-eval")
        seen = []  # percentages, in the order in which they were shown

        def ended(status: dict) -> bool:
            percent = status.get("progress", {}).get("percent")
            if percent is not None and percent not in seen:
                seen.append(percent)
            return status.get("phase") in ("Succeeded", "Failed")
        status = self.until("tiny-lm-eval", ended, "the end", 400)
        self.assertEqual(status["phase"], "Succeeded", self.logs("tiny-lm-eval"))
        progress = status["progress"]
        self.assertEqual((progress["step"], progress["totalSteps"]), (REQUESTS, REQUESTS))
        self.assertEqual(progress["source"], "Framework")
        self.assertEqual(seen, sorted(seen), "contexts that were built counted as work")
        self.assertIn("tiny_mc/acc", [metric["name"] for metric in progress["metrics"]])


if __name__ == "__main__":
    unittest.main()
