"""Hooks count the steps of scripts that know nothing of us; what a script tells counts more.

tests/training_real/test_hooks.py has real frameworks.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import fake_frameworks  # noqa: E402
from hook_case import DEEPSPEED, LOOP, SGD, START, HookCase  # noqa: E402
from launch import Operator, wait_for  # noqa: E402


class Counts(HookCase):
    # promises: D8
    def test_steps_of_an_optimizer_with_the_hooks_of_torch_and_without(self):
        for torch in (fake_frameworks.TORCH_2, fake_frameworks.TORCH_1):
            fake_frameworks.write(self.folder, torch)
            self.assertEqual(self.step(SGD + LOOP % 30), 30)
            word = self.word(SGD + LOOP % 1 + "time.sleep(0.5)\n" + LOOP % 2)
            self.assertEqual(word["step"], 3)
            phases = {one["name"]: one["seconds"] for one in word["phases"]}
            self.assertGreaterEqual(phases["Train"], 0.4)
            self.assertNotIn("Unattributed", phases)

    # promises: D8
    def test_the_first_step_is_told_at_once(self):
        with Operator() as operator:
            self.launch(SGD + "one.step()\ntime.sleep(600)", AMDAHL_REPORT_URL=operator.url)
            wait_for(lambda: operator.last().get("step") == 1)

    # promises: D8
    def test_a_step_that_calls_that_of_its_base_is_one(self):
        for torch in (fake_frameworks.TORCH_2, fake_frameworks.TORCH_1):
            fake_frameworks.write(self.folder, torch)
            code = START + "two = optim.SGD([0])\ntwo.step()\none = optim.Further([0])\n"
            self.assertEqual(self.step(code + LOOP % 10), 10)
            # One that failed half way is no step, and spoils no other.
            broken = ("def bad(self): raise ValueError\noptim.SGD.step = bad\n"
                      "try: one.step()\nexcept ValueError: pass\n")
            self.assertEqual(self.step(SGD + broken + "class Good(optim.SGD):\n"
                                       "  def step(self): pass\none = Good([0])\n" + LOOP % 4), 4)

    # promises: D8
    def test_the_largest_count_of_several_optimizers(self):
        gan = ("two = optim.Adam([1])\nfor n in range(20):\n  one.step()\n"
               "  if n % 5 == 4: two.step()\n")
        self.assertEqual(self.step(SGD + gan), 20)
        # One after the other, as in folds: the second goes on from the first.
        fold = "one = optim.SGD([0])\n" + LOOP % 10
        self.assertEqual(self.step(START + fold + fold), 19)

    # promises: D8
    def test_an_optimizer_that_was_resumed_knows_its_step(self):
        resumed = "one = optim.Adam([0, 1])\none.state = {0: {'step': optim.Tensor(120)}}\n"
        self.assertEqual(self.step(START + resumed + LOOP % 3), 123)
        self.assertEqual(self.step(START + resumed + LOOP % 3, AMDAHL_RESUME_STEP="5"), 123)
        numbered = resumed.replace("optim.Tensor(120)", "120").replace("Adam", "SGD")
        self.assertEqual(self.step(START + numbered + LOOP % 3), 122)  # it is not counted on there
        # SGD keeps no count, and one on a GPU is not waited for.
        self.assertEqual(self.step(SGD + LOOP % 3, AMDAHL_RESUME_STEP="50"), 53)
        on_gpu = "optim.Adam.where = 'cuda'\none = optim.Adam([0])\n"
        self.assertEqual(self.step(START + on_gpu + LOOP % 3, AMDAHL_RESUME_STEP="50"), 53)
        for wrong in ("", "x", "-7", "9" * 40):
            self.assertEqual(self.step(SGD + LOOP % 3, AMDAHL_RESUME_STEP=wrong), 3)

    # promises: D8
    def test_steps_of_deepspeed_and_not_those_of_its_optimizers(self):
        inner = "engine = DeepSpeedEngine(*[optim.SGD([n]) for n in range(4)], every=2)\n"
        self.assertEqual(self.step(DEEPSPEED + inner + "for n in range(20): engine.step()\n"), 10)
        resumed = "engine = DeepSpeedEngine(optim.SGD([0]), global_steps=300)\n"
        self.assertEqual(self.step(DEEPSPEED + resumed + "engine.step()\n",
                                   AMDAHL_RESUME_STEP="7"), 301)
        pipeline = "engine = PipelineEngine(optim.SGD([0]), optim.SGD([1]))\n"
        self.assertEqual(self.step(DEEPSPEED + pipeline +
                                   "for n in range(6): engine.train_batch()\n"), 6)

    # promises: D8
    def test_every_process_counts_and_the_lowest_rank_tells(self):
        code = START + ("child = os.fork()\nos.environ['LOCAL_RANK'] = '01'[child == 0]\n"
                        "one = optim.SGD([0])\nfor n in range(40 if child else 70):\n"
                        "  one.step()\n  time.sleep(0.01)\n"
                        "if child: os.waitpid(child, 0)\n")
        self.assertEqual(self.step(code), 40)

    # promises: D8
    def test_a_fork_has_a_connection_for_itself(self):
        code = SGD + LOOP % 5 + ("child = os.fork()\n" + LOOP % 5 +
                                 "if child: os.waitpid(child, 0)\n")
        self.assertEqual(self.step(code), 10)
        only_child = SGD + ("child = os.fork()\nif child: os.waitpid(child, 0)\n"
                            "else:\n  for n in range(8): one.step()\n")
        self.assertEqual(self.step(only_child), 8)


class Package(HookCase):
    # promises: D8
    def test_the_script_and_the_log_outrank_hooks(self):
        told = ("from amdahl import job\nfor n in range(1, 21):\n  one.step()\n"
                "  job.step(10 * n, 1000)\n")
        word = self.word(SGD + told)
        self.assertEqual((word["stepSource"], word["totalSteps"]), ("Script", 1000))
        self.assertEqual(word["step"] % 10, 0)
        log = "for n in range(30):\n  one.step()\n  print('iter %d: loss 2.5' % (100 * n))\n"
        word = self.word(SGD + log)
        self.assertEqual((word["stepSource"], word["step"]), ("Log", 2900))
        epochs = "for n in range(3):\n  one.step()\n  print('Epoch %d/3, Loss: 0.5' % (n + 1))\n"
        word = self.word(SGD + epochs)
        self.assertEqual((word["stepSource"], word["step"]), ("Hook", 3))
        self.assertEqual(word["metrics"][0]["value"], "0.5")

    # promises: D2, D8
    def test_a_hook_does_not_come_between_the_package_and_a_pause(self):
        # The hook connects first, and its steps have other numbers than the checkpoint.
        code = SGD + """
one.step()
from amdahl import job
for n in range(1, 100000):
    one.step(); one.step()
    if job.should_stop():
        job.committed(n, "/ckpt/%d" % n)
        break
    time.sleep(0.01)
"""
        with Operator() as operator:
            launch = self.launch(code, AMDAHL_REPORT_URL=operator.url)
            wait_for(lambda: operator.last().get("step", 0) > 10)
            self.assertEqual(operator.last()["stepSource"], "Hook")
            operator.reply = {"request": "Pause", "deadlineSeconds": 60, "reportEverySeconds": 1}
            self.assertEqual(launch.wait(), 0, launch.errors())
            word = launch.last_word()
        self.assertEqual((word["pause"]["state"], word["pause"]["way"]), ("Committed", "Helper"))
        self.assertEqual(word["pause"]["step"], word["checkpoint"]["step"])

    # promises: D8
    def test_garbage_on_the_socket_harms_nobody(self):
        code = SGD + r"""
import json, socket
def connect(*lines):
    one = socket.socket(socket.AF_UNIX)
    one.connect(os.environ["AMDAHL_SOCKET"])
    for line in lines:
        one.sendall(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
    return one
hello = {"type": "hello", "hook": True, "localRank": 0}
kept = [connect(), connect({"type": "hello", "hook": True, "localRank": 5},
                           {"type": "hook", "step": 10 ** 9}),
        connect(b"\xff" * 100000 + b"\n", hello, {"type": "hook", "step": -5}),
        connect(hello, {"type": "hook", "step": 10 ** 30}, {"type": "hook", "step": "9"},
                {"type": "hook"}, {"type": "state", "step": 77}, {"type": "listening"},
                {"type": "committed", "step": 88, "path": "/c"}, b"{" * 20000)]
time.sleep(0.5)
for one_of in kept: one_of.close()
time.sleep(0.5)
""" + LOOP % 5
        word = self.word(code)
        self.assertEqual((word["stepSource"], word["exit"]["code"]), ("Hook", 0))
        self.assertNotIn("checkpoint", word)


if __name__ == "__main__":
    unittest.main()
