"""Trains the small classifier of train_tiny.py with DeepSpeed: ZeRO stage 1 on CPUs, over gloo.

On the embedded cluster: examples/local-deepspeed.yaml. Needs DeepSpeed, DS_ACCELERATOR=cpu.
"""

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("DS_ACCELERATOR", "cpu")

import deepspeed  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402

from tiny_job import Job, checkpoint_folder  # noqa: E402
from tiny_model import BATCH, make_batch, make_model  # noqa: E402

CONFIG = {
    "train_micro_batch_size_per_gpu": BATCH,
    "optimizer": {"type": "Adam", "params": {"lr": 0.005, "torch_adam": True}},
    "zero_optimization": {"stage": 1, "reduce_scatter": False},
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--step-seconds", type=float, default=0.05, help="a step takes at least")
    parser.add_argument("--checkpoint-steps", type=int, default=50)
    parser.add_argument("--losses", type=Path, help="add a line of JSON for each step to this file")
    return parser.parse_args()


def start_engine() -> deepspeed.DeepSpeedEngine:
    # It would compile C++ for ranks that share memory, which takes torch's headers and a minute.
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    deepspeed.init_distributed(dist_backend="gloo")
    # gloo cannot gather into one tensor (torch 1.13); without a function for it lists are used.
    deepspeed.comm.comm.cdb.all_gather_function = None
    model = make_model()
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(),
                                      config=CONFIG)
    return engine


def train_step(engine: deepspeed.DeepSpeedEngine, here: Job) -> float:
    """One step on all ranks; the mean of their losses."""
    inputs, labels = make_batch(engine.global_steps, here.rank)
    loss = nn.functional.cross_entropy(engine(inputs), labels)
    engine.backward(loss)
    engine.step()
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    return mean.item() / here.world


def save(engine: deepspeed.DeepSpeedEngine, here: Job, folder: Path) -> None:
    """Every rank writes its part; after the barrier all parts are there."""
    with here.phase("CheckpointSave"):
        name = f"step-{engine.global_steps:08d}"
        engine.save_checkpoint(str(folder), tag=name)
        dist.barrier()
    here.committed(engine.global_steps, folder / name)


def restore(engine: deepspeed.DeepSpeedEngine, here: Job, folder: Path) -> None:
    """Not by DeepSpeed's file `latest`: rank 0 writes that while others may still save."""
    newest = here.last_committed()
    if newest is None:
        return
    with here.phase("CheckpointRestore"):
        engine.load_checkpoint(str(folder), tag=newest.name)
    print(f"rank {here.rank} of {here.world}: resumed from step {engine.global_steps}", flush=True)


def train(options: argparse.Namespace) -> None:
    engine = start_engine()
    here = Job(options.losses)
    folder = checkpoint_folder()
    if folder is not None:
        restore(engine, here, folder)
    while engine.global_steps < options.steps:
        began = time.monotonic()
        loss = train_step(engine, here)
        here.step(engine.global_steps, options.steps, loss)
        stop = here.should_stop()
        due = engine.global_steps % options.checkpoint_steps == 0
        last = engine.global_steps == options.steps
        if folder is not None and (stop or due or last):
            save(engine, here, folder)
            if stop:
                return
        time.sleep(max(0.0, began + options.step_seconds - time.monotonic()))


if __name__ == "__main__":
    torch.set_num_threads(1)
    train(arguments())
