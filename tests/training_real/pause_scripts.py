"""Trainers of test_pauses.py: plain scripts that save, hear of a pause, or do neither."""

# Every script leaves a line for each step it makes, by its attempt: what it did, whatever it told.
STEPS = """
import json, os, signal, sys, time
folder = os.environ["FOLDER"]
def made(step):
    with open(folder + "/steps", "a") as file:
        file.write("%s %d\\n" % (os.environ["AMDAHL_ATTEMPT"], step))
    time.sleep(0.05)
"""
# Saves by its own means, at SIGUSR1 only, and says so by the marker file.
MARKER = STEPS + """
marker = folder + "/marker"
asked = []
signal.signal(signal.SIGUSR1, lambda *_: asked.append(1))
step = json.load(open(marker))["step"] if os.path.exists(marker) else 0
while step < int(sys.argv[1]):
    step += 1
    made(step)
    if asked:
        with open(marker + ".tmp", "w") as file:
            json.dump({"step": step, "path": folder + "/ckpt"}, file)
        os.rename(marker + ".tmp", marker)
        asked.clear()
"""
# Never calls job.step(): saves, and asks whether to stop.
SAVE_ONLY = STEPS + """
from amdahl import checkpoint
loaded = checkpoint.load()
for step in range(loaded.step + 1 if loaded else 1, int(sys.argv[1]) + 1):
    made(step)
    if step % 5 == 0 or checkpoint.should_stop():
        checkpoint.save({"step": step}, step, patience=30)
    if checkpoint.should_stop():
        checkpoint.wait()
        break
"""
# Hears of a pause only when all that it has done is committed already.
SAVED_ALREADY = STEPS + """
from amdahl import checkpoint
loaded = checkpoint.load()
for step in range(loaded.step + 1 if loaded else 1, int(sys.argv[1]) + 1):
    made(step)
    if step % 5 == 0:
        checkpoint.save({"step": step}, step, patience=30)
        checkpoint.wait()
        if checkpoint.should_stop():
            checkpoint.wait()
            break
"""
# Stops at a pause and does not save: only its periodic checkpoints are there.
STOPS_UNSAVED = STEPS + """
from amdahl import checkpoint, job
loaded = checkpoint.load()
for step in range(loaded.step + 1 if loaded else 1, int(sys.argv[1]) + 1):
    made(step)
    if step % 5 == 0:
        checkpoint.save({"step": step}, step, patience=30)
        checkpoint.wait()
    elif job.should_stop():
        break
"""
DEAF = STEPS + """
for step in range(1, int(sys.argv[1]) + 1):
    made(step)
    print("step %d" % step, flush=True)
"""
# Dies of the first save that fails.
DIES = STEPS + """
from amdahl import checkpoint, job
for step in range(1, int(sys.argv[1]) + 1):
    made(step)
    job.step(step)
    if checkpoint.should_stop():
        checkpoint.save({"step": step}, step)
        checkpoint.wait()
        break
"""
# The shape of a Hugging Face script: train() calls the callback, then the model is published.
TRAINER = STEPS + """
import dataclasses, types
from amdahl import checkpoint
from amdahl.checkpoint import hooks

@dataclasses.dataclass
class State:
    global_step: int = 0
    max_steps: int = int(sys.argv[1])

class Model:
    def state_dict(self):
        return {"step": state.global_step}

callback = hooks.HuggingFaceCallback(interval=float(os.environ.get("EVERY", "3600")),
                                     exit_on_pause=os.environ.get("GO_ON") is None)
loaded = checkpoint.load()
state = State(loaded.state["model"]["step"] if loaded else 0)
control = types.SimpleNamespace(should_training_stop=False)

def train():
    while state.global_step < state.max_steps and not control.should_training_stop:
        state.global_step += 1
        made(state.global_step)
        callback.on_step_end(None, state, control, model=Model())

train()
open(folder + "/published", "a").write("%d %s\\n" % (state.global_step, callback.paused))
"""
