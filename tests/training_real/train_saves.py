"""A trainer without torch: counts, saves every step, and says what it loaded.

    train_saves.py --steps 10 [--bytes N] [--fail-after STEP] [--stay]

--fail-after ends the first attempt with code 1 after that step; --stay goes on without saving until
a pause is asked for.
"""

import argparse
import os
import sys
import time

import numpy

from amdahl import checkpoint, job


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--bytes", type=int, default=1024)
    parser.add_argument("--fail-after", type=int, default=0)
    parser.add_argument("--stay", action="store_true")
    options = parser.parse_args()
    loaded = checkpoint.load()
    if loaded:
        print(f"loaded step {loaded.step} count {loaded.state['count']} "
              f"from {loaded.init_from or 'its own'}", flush=True)
    count = loaded.state["count"] if loaded else 0
    for step in range(loaded.step + 1 if loaded else 1, options.steps + 1):
        count += 1
        rng = numpy.random.default_rng(step)
        weights = rng.integers(0, 256, options.bytes, dtype=numpy.uint8)
        checkpoint.save({"count": count, "weights": weights}, step, patience=60)
        checkpoint.wait()
        job.step(step, options.steps)
        if step == options.fail_after and os.environ["AMDAHL_ATTEMPT"] == "1":
            return 1
    checkpoint.default().settle()  # until retention has removed what is not kept
    while options.stay and not checkpoint.should_stop():
        time.sleep(0.05)
    return 0


if __name__ == "__main__":
    sys.exit(main())
