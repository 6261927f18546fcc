"""Steps of torch in scripts that tell of none: counted, continued after a kill, switched off."""

import sys
import unittest

from job_case import PYTHON, has_torch
from script_case import ScriptCase

LOOP = """
import sys, time, torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for n in range(int(sys.argv[1])):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    time.sleep(0.05)
"""
# Saves by its own means, where we do not look, and is killed once.
SAVES = """
import os, signal, sys, time, torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
file = sys.argv[1]
step = 0
if os.path.exists(file):
    state = torch.load(file)
    step = state["step"]
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
while step < 60:
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    step += 1
    if step % 10 == 0:
        torch.save({"step": step, "model": model.state_dict(),
                    "optimizer": optimizer.state_dict()}, file + ".tmp")
        os.rename(file + ".tmp", file)
    if step == 35 and os.environ["AMDAHL_ATTEMPT"] == "1":
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
"""


class Hooks(ScriptCase):
    def counted(self, status: dict) -> bool:
        return "step" in status.get("progress", {})

    # promises: D8, D11
    def test_a_loop_that_prints_nothing_shows_its_steps(self):
        script = self.write("loop.py", LOOP)
        self.submit("loop", PYTHON, script, "120", runtime="Python", gpus=1)
        first = self.until("loop", self.counted, "a step")
        self.assertEqual(first["progress"]["source"], "Hook")
        self.assertLess(first["progress"]["step"], 120)
        self.assertNotIn("job.step()", self.home.run("describe", "loop").stdout)
        status = self.until_end("loop", "Succeeded")
        self.assertEqual((status["progress"]["step"], status["progress"]["source"]), (120, "Hook"))
        self.assertNotIn("totalSteps", status["progress"])
        self.assertEqual(self.logs("loop"), "")
        phases = {row["name"]: row["seconds"] for row in status["gpuSeconds"]["phases"]}
        self.assertGreaterEqual(phases["productive"], 4)  # 120 pauses of 50 ms, rounded
        self.assertGreater(status["gpuSeconds"]["goodput"], 0)

    # promises: D8
    # fields: spec.hooks
    def test_off_shows_unknown_and_an_edit_counts_from_the_next_attempt_on(self):
        script = self.write("endless.py", LOOP)
        self.submit("off", PYTHON, script, "100000", runtime="Python", gpus=1, hooks="Off",
                    checkpoint={"pause": {"policy": "BestEffort", "deadline": "2s"}})
        self.until("off", lambda seen: seen.get("progress", {}).get("source") == "Unknown",
                   "the first report")
        self.edit("off", hooks="Auto")
        self.edit("off", suspend=True)
        paused = self.until("off", lambda seen: seen.get("phase") == "Paused", "a pause")
        self.assertEqual(paused["progress"]["source"], "Unknown")
        self.assertNotIn("step", paused["progress"])
        self.edit("off", suspend=False)
        status = self.until("off", self.counted, "a step")
        self.assertEqual((status["attempt"], status["progress"]["source"]), (2, "Hook"))
        self.edit("off", cancel=True)
        self.until_end("off", "Cancelled")

    # promises: D8
    def test_steps_go_on_where_a_script_resumed_by_itself(self):
        script = self.write("saves.py", SAVES)
        self.submit("saves", PYTHON, script, self.home.path / "own-checkpoint", runtime="Python")
        status = self.until_end("saves", "Succeeded")
        self.assertEqual((status["progress"]["step"], status["progress"]["source"]), (60, "Hook"))
        first, second = status["attempts"]
        self.assertEqual(first["outcome"], "Failed")
        self.assertTrue(30 <= first["lastStep"] <= 35, first)  # five messages per second
        self.assertGreater(second["firstStep"], 30)
        self.assertEqual(second["lastStep"], 60)


if __name__ == "__main__":
    if not has_torch():
        print(f"skipped: {PYTHON} has no torch; tools/setup installs it")
        sys.exit(77)
    unittest.main()
