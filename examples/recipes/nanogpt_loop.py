"""A loop in the shape of nanoGPT's train.py: gradient accumulation, evaluation, random batches.

The lines between the marks are all that is added to it, but the last two.
"""

import argparse
import os
import time

import torch
from torch import nn
from torch.distributed import destroy_process_group, init_process_group
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=400)
parser.add_argument("--out", default="/tmp/ckpt.pt", help="where the finished model goes")
max_iters, out = parser.parse_args().steps, parser.parse_args().out
eval_interval, log_interval, gradient_accumulation_steps = 100, 10, 2
batch_size, block_size, vocabulary = 8, 16, 32
torch.set_num_threads(1)
ddp = int(os.environ.get("RANK", "-1")) != -1
if ddp:
    init_process_group("gloo")
rank = int(os.environ.get("RANK", "0"))
master_process = rank == 0
torch.manual_seed(1337 + rank)
data = torch.arange(4096) % vocabulary


class GPT(nn.Module):
    """As small as can be, with what matters to a checkpoint: tied weights, dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.wte = nn.Embedding(vocabulary, 32)
        self.dropout = nn.Dropout(0.1)
        self.mlp = nn.Linear(32, 32)
        self.lm_head = nn.Linear(32, vocabulary, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, index, targets):
        hidden = functional.gelu(self.mlp(self.dropout(self.wte(index))))
        logits = self.lm_head(hidden)
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def get_batch():
    starts = torch.randint(len(data) - block_size - 1, (batch_size,))
    rows = torch.stack([data[at:at + block_size + 1] for at in starts])
    return rows[:, :-1], rows[:, 1:]


@torch.no_grad()
def estimate_loss() -> float:
    model.eval()
    losses = [raw_model(*get_batch()).item() for _ in range(4)]
    model.train()
    return sum(losses) / len(losses)


raw_model = GPT()
optimizer = torch.optim.AdamW(raw_model.parameters(), lr=0.003)
iter_num = 0

# [recipe]
from amdahl import checkpoint, job  # noqa: E402
from amdahl.checkpoint import hooks  # noqa: E402


def save() -> bool:                           # generators too: every rank draws its own batches
    state = {"model": raw_model.state_dict(), "optimizer": optimizer.state_dict(),
             "rng": hooks.rng_state()}
    return checkpoint.save(state, iter_num, patience=600)


loaded = checkpoint.load()                    # in the place of init_from == "resume"
if loaded:
    raw_model.load_state_dict(loaded.state["model"])
    optimizer.load_state_dict(loaded.state["optimizer"])
    if loaded.own:                            # not on a rank that the saved run did not have
        hooks.set_rng_state(loaded.state["rng"])
    iter_num = loaded.step
model = DistributedDataParallel(raw_model) if ddp else raw_model
while iter_num < max_iters:
    # [end]
    t0 = time.time()
    if iter_num % eval_interval == 0 and master_process:
        with job.phase("Eval"):
            print(f"step {iter_num}: val loss {estimate_loss():.4f}", flush=True)
    for micro_step in range(gradient_accumulation_steps):
        if ddp:
            model.require_backward_grad_sync = micro_step == gradient_accumulation_steps - 1
        loss = model(*get_batch()) / gradient_accumulation_steps
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    lossf = loss.item() * gradient_accumulation_steps
    if iter_num % log_interval == 0 and master_process:
        print(f"iter {iter_num}: loss {lossf:.4f}, time {(time.time() - t0) * 1000:.2f}ms",
              flush=True)
    # [recipe]
    iter_num += 1                             # so many are done
    job.step(iter_num, max_iters, loss=lossf)
    if checkpoint.should_stop():
        if checkpoint.save_and_wait(save, iter_num):    # committed; if not, training goes on
            job.exit_paused()                 # what follows is for a run that is complete
    elif checkpoint.due():
        save()
if master_process:
    torch.save(raw_model.state_dict(), out)
# [end]
if ddp:
    destroy_process_group()
