"""What tests of pauses share: trainers, and an operator that asks them."""

import unittest

from launch import Launch, Operator, python, wait_for

MARK = """
import json, os, signal, sys, time
marker = os.environ["AMDAHL_CHECKPOINT_MARKER"]
def mark(step):
    with open(marker + ".tmp", "w") as file:
        json.dump({"step": step, "path": "/ckpt/%d" % step}, file)
    os.rename(marker + ".tmp", marker)
"""
LOOP = "print('ready', flush=True)\nwhile True: time.sleep(0.1)\n"


class PauseCase(unittest.TestCase):
    def setUp(self):
        self.operator = Operator()
        self.addCleanup(self.operator.__exit__)

    def run_trainer(self, code, **env):
        launch = Launch(*python(code), env={"AMDAHL_REPORT_URL": self.operator.url, **env})
        launch.__enter__()
        self.addCleanup(launch.__exit__)
        return launch

    def ask(self, request, seconds=30):
        self.operator.reply = {"request": request, "deadlineSeconds": seconds,
                               "reportEverySeconds": 1}

    def reaches(self, state, way=None):
        wait_for(lambda: self.operator.pause_state() == state)
        if way:
            self.assertEqual(self.operator.last()["pause"]["way"], way)
