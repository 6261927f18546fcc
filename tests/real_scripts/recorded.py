"""Runs a script as it is, and writes down the steps that rank 0 makes.

usage: recorded.py FOLDER SCRIPT [ARGUMENT ..]

FOLDER/losses gets a line of JSON for each step; FOLDER/pace holds the seconds that a step takes at
least, and may change meanwhile. The script is a trainer that calls amdahl.job.step(), or whose
hooks do.
"""

import json
import os
import runpy
import sys
import time
from pathlib import Path

from amdahl import job

# Ranks hear of an interval at different moments. With others than rank 0 it is a day, so that no
# save would ever be complete if each decided by itself.
if os.environ.get("RANK", "0") != "0":
    job.checkpoint_interval = lambda: 86400.0

folder = Path(sys.argv[1])
tell = job.step


def step(n: int, total: int | None = None, **metrics: float) -> None:
    tell(n, total, **metrics)
    if os.environ.get("RANK", "0") == "0":
        line = {"attempt": int(os.environ.get("AMDAHL_ATTEMPT", "0")), "step": n,
                "loss": metrics.get("loss", 0.0)}
        with open(folder / "losses", "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    time.sleep(float((folder / "pace").read_text()))


job.step = step
sys.argv = sys.argv[2:]
sys.path.insert(0, str(Path(sys.argv[0]).parent))
runpy.run_path(sys.argv[0], run_name="__main__")
