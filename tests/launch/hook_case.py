"""Trainers with hooks in them, and frameworks that are stand-ins (fake_frameworks.py)."""

import tempfile
import unittest
from pathlib import Path

import fake_frameworks
from launch import ROOT, Launch, python

START = "import os, sys, time, torch.optim as optim\n"
SGD = START + "one = optim.SGD([0])\n"
LOOP = "for n in range(%d): one.step()\n"
DEEPSPEED = START + "from deepspeed.runtime.engine import *\n"


class HookCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="amdahl-hooks-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        fake_frameworks.write(self.folder)

    def launch(self, code, **env):
        path = env.pop("PYTHONPATH", f"{self.folder}:{ROOT / 'python'}")
        launch = Launch(*python(code), env={"AMDAHL_HOOKS": "1", "PYTHONPATH": path, **env})
        launch.__enter__()
        self.addCleanup(launch.__exit__)
        return launch

    def word(self, code, **env):
        """The last one of a trainer that ended well."""
        launch = self.launch(code, **env)
        self.assertEqual(launch.wait(), 0, launch.errors())
        self.printed = launch.output()
        self.complained = launch.errors()
        return launch.last_word()

    def step(self, code, **env):
        word = self.word(code, **env)
        self.assertEqual(word.get("stepSource"), "Hook", self.complained)
        return word["step"]

    def silent(self, code, **env):
        word = self.word(code, **env)
        self.assertNotIn("step", word)
        self.assertNotIn("stepSource", word)
