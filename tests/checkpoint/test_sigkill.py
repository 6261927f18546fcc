"""SIGKILL at random times in the middle of saves to a directory.

After each: the newest checkpoint is sound, is no older than the last commit that was announced, has
the bytes of its step; the next save commits; then no file of ours is there that is not needed.
AMDAHL_KILLS says how often (make kill-checkpoints: 1,000), AMDAHL_SEED with which times.
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VICTIM = os.environ.get("AMDAHL_VICTIM",
                        str(ROOT / "build/dev/tests/checkpoint/checkpoint_victim"))
KILLS = int(os.environ.get("AMDAHL_KILLS", "6"))
SEED = int(os.environ.get("AMDAHL_SEED", "1"))
FOREIGN = pathlib.Path("data") / "notes.txt"


def run_and_kill(folder: str, first: int, seconds: float) -> int:
    """The last step that was said to be committed, or -1."""
    with subprocess.Popen([VICTIM, "save", folder, str(first)], stdout=subprocess.PIPE,
                          text=True) as victim:
        committed = -1
        line = victim.stdout.readline()  # the first commit: from then on saves follow one another
        if line:
            committed = int(line.split()[1])
        time.sleep(seconds)
        victim.kill()
        for line in victim.stdout:
            if line.endswith("\n"):
                committed = int(line.split()[1])
    return committed


class Sigkill(unittest.TestCase):
    def test_resume_finds_the_newest_commit_and_nothing_is_left(self):
        chance = random.Random(SEED)
        with tempfile.TemporaryDirectory(prefix="amdahl-kill-") as folder:
            foreign = pathlib.Path(folder) / FOREIGN
            foreign.parent.mkdir()
            foreign.write_text("mine")
            step = 0
            for kill in range(KILLS):
                with self.subTest(kill=kill, seed=SEED):
                    committed = run_and_kill(folder, step, chance.uniform(0.0, 0.4))
                    checked = subprocess.run([VICTIM, "check", folder, str(committed)],
                                             capture_output=True, text=True, check=False)
                    self.assertEqual(checked.returncode, 0, checked.stderr)
                    words = checked.stdout.split()
                    self.assertEqual((words[0], words[2]), ("newest", "unneeded"))
                    self.assertEqual(words[3], "0")
                    step = int(words[1]) + 2
                    self.assertEqual(foreign.read_text(), "mine")
                    hidden = pathlib.Path(folder) / ".amdahl-tmp"
                    self.assertEqual(list(hidden.glob("*")) if hidden.exists() else [], [])
        print(f"{KILLS} kills, seed {SEED}, last step {step}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
