"""Your own loop with DistributedDataParallel; torchrun starts any number of processes."""

import argparse

import torch
import torch.distributed as dist
from torch import nn


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--out", default="/tmp/model.pt", help="where the finished model goes")
    return parser.parse_args()


torch.set_num_threads(1)
dist.init_process_group("gloo")  # nccl with GPUs
total, out = arguments().steps, arguments().out
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
parallel = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)


def train(n: int) -> float:
    """Step n on a batch that follows from n and the rank alone."""
    chance = torch.Generator().manual_seed(1000 * n + dist.get_rank())
    inputs = torch.randn(32, 16, generator=chance)
    loss = (parallel(inputs) - inputs.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# [recipe]
from amdahl import checkpoint, job  # noqa: E402

loaded = checkpoint.load()                    # None when there is none yet
if loaded:
    model.load_state_dict(loaded.state["model"])
    optimizer.load_state_dict(loaded.state["optimizer"])


def save() -> bool:                           # all ranks have the same: one gives it to all
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    return checkpoint.save(state if checkpoint.rank() == 0 else {}, n, patience=600)


for n in range(loaded.step + 1 if loaded else 1, total + 1):
    loss = train(n)
    job.step(n, total, loss=loss)
    if checkpoint.should_stop():              # the same on all ranks, as due() and load()
        if checkpoint.save_and_wait(save, n):     # committed; if not, training goes on
            job.exit_paused()                 # nothing below is done with half a model
    elif checkpoint.due():
        save()
if dist.get_rank() == 0:
    torch.save(model.state_dict(), out)       # the run is complete
# [end]
dist.destroy_process_group()
