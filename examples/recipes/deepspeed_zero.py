"""DeepSpeed ZeRO stage 1: its own files, captured as one checkpoint."""

import argparse
import os
import shutil

import deepspeed
import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=400)
parser.add_argument("--folder", default="/tmp/zero", help="that all nodes share")
parser.add_argument("--out", default="/tmp/model.pt", help="where the finished model goes")
given = parser.parse_args()
total, folder, out = given.steps, given.folder, given.out
torch.set_num_threads(1)
if os.environ.get("DS_ACCELERATOR") == "cpu":  # else it compiles for minutes what gloo can do
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
deepspeed.init_distributed("gloo" if os.environ.get("DS_ACCELERATOR") == "cpu" else "nccl")
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
config = {"train_micro_batch_size_per_gpu": 32,
          "optimizer": {"type": "Adam", "params": {"lr": 0.003, "torch_adam": True}},
          "zero_optimization": {"stage": 1, "reduce_scatter": False}}
engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)


def train(n: int) -> float:
    chance = torch.Generator().manual_seed(1000 * n + engine.global_rank)
    inputs = torch.randn(32, 16, generator=chance)
    loss = (engine(inputs) - inputs.sum(1, keepdim=True)).pow(2).mean()
    engine.backward(loss)
    engine.step()
    return loss.item()


# [recipe]
from amdahl import checkpoint, job  # noqa: E402

if checkpoint.restore_capture(folder):        # nothing on the first run
    path, _ = engine.load_checkpoint(folder)
    if path is None:                          # DeepSpeed only warns of it
        raise RuntimeError(f"DeepSpeed cannot load what was restored to {folder}")


def save() -> bool:
    tag = f"global_step{engine.global_steps}"
    engine.save_checkpoint(folder, tag=tag)
    taken = checkpoint.capture(folder, engine.global_steps, tag=tag)   # on all ranks
    if engine.global_rank == 0:
        shutil.rmtree(os.path.join(folder, tag))                       # it has been copied
    return taken


while engine.global_steps < total:
    loss = train(engine.global_steps + 1)
    job.step(engine.global_steps, total, loss=loss)
    if checkpoint.should_stop():
        if checkpoint.save_and_wait(save, engine.global_steps):    # if not, training goes on
            job.exit_paused()                 # nothing below is done with half a model
    elif checkpoint.due():
        save()
if engine.global_rank == 0:
    torch.save(engine.module.state_dict(), out)                    # the run is complete
# [end]
if torch.distributed.is_initialized():
    torch.distributed.destroy_process_group()
