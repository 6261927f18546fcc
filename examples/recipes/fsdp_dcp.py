"""A model that is cut across ranks by FSDP2, saved by torch.distributed.checkpoint."""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=400)
parser.add_argument("--out", default="/tmp/model.pt", help="where the finished model goes")
total, out = parser.parse_args().steps, parser.parse_args().out
torch.set_num_threads(1)
dist.init_process_group("gloo")  # nccl with GPUs
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)


def train(n: int) -> float:
    chance = torch.Generator().manual_seed(1000 * n + dist.get_rank())
    inputs = torch.randn(32, 16, generator=chance)
    loss = (model(inputs) - inputs.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# [recipe]
import torch.distributed.checkpoint as dcp  # noqa: E402
from torch.distributed.checkpoint.state_dict import (  # noqa: E402
    StateDictOptions, get_model_state_dict, get_state_dict, set_state_dict)

from amdahl import checkpoint, job  # noqa: E402
from amdahl.checkpoint.dcp import StorageReader, StorageWriter  # noqa: E402


def state() -> dict:
    weights, moments = get_state_dict(model, optimizer)
    return {"model": weights, "optimizer": moments, "step": done}


def save() -> None:
    dcp.save(state(), checkpoint_id=str(done), storage_writer=writer)


done, writer, reader = 0, StorageWriter(), StorageReader()    # once, on all ranks
if reader.newest() is not None:               # None on the first run: there is nothing to load
    loaded = state()
    dcp.load(loaded, storage_reader=reader)
    set_state_dict(model, optimizer, model_state_dict=loaded["model"],
                   optim_state_dict=loaded["optimizer"])
    done = loaded["step"]
while done < total:
    done += 1
    job.step(done, total, loss=train(done))
    stop = checkpoint.should_stop()
    if stop or checkpoint.due():              # dcp.save() waits in any case
        saved = checkpoint.save_and_wait(save, done, writer.checkpointer)
        if stop and saved:                    # committed; if not, training goes on
            job.exit_paused()                 # nothing below is done with half a model
whole = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))
if dist.get_rank() == 0:
    torch.save(whole, out)                    # the run is complete
# [end]
dist.destroy_process_group()
