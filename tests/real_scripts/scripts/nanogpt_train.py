"""In the shape of nanoGPT's train.py, one process on a CPU."""

import math
import time

import torch
from torch import nn
from torch.nn import functional

eval_interval = 50
log_interval = 5
eval_iters = 4
max_iters = 200
batch_size = 8
block_size = 16
gradient_accumulation_steps = 2
learning_rate = 3e-3
warmup_iters = 10
vocab_size = 32

torch.manual_seed(1337)
torch.set_num_threads(1)
tokens_per_iter = gradient_accumulation_steps * batch_size * block_size
print(f"tokens per iteration will be: {tokens_per_iter:,}")
data = torch.arange(4096) % vocab_size


def get_batch():
    ix = torch.randint(len(data) - block_size - 1, (batch_size,))
    x = torch.stack([data[i:i + block_size] for i in ix])
    y = torch.stack([data[i + 1:i + 1 + block_size] for i in ix])
    return x, y


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, 32)
        self.mlp = nn.Linear(32, 32)
        self.lm_head = nn.Linear(32, vocab_size, bias=False)
        print("number of parameters: %.2fM" % (sum(p.numel() for p in self.parameters()) / 1e6,))

    def forward(self, idx, targets):
        logits = self.lm_head(functional.gelu(self.mlp(self.wte(idx))))
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)


@torch.no_grad()
def estimate_loss():
    model.eval()
    out = {split: sum(model(*get_batch()).item() for _ in range(eval_iters)) / eval_iters
           for split in ("train", "val")}
    model.train()
    return out


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / (warmup_iters + 1)
    return learning_rate * 0.5 * (1.0 + math.cos(math.pi * it / max_iters))


X, Y = get_batch()
t0 = time.time()
iter_num = 0
running_mfu = -1.0
while True:
    for param_group in optimizer.param_groups:
        param_group["lr"] = get_lr(iter_num)
    if iter_num % eval_interval == 0:
        losses = estimate_loss()
        print(f"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
    for micro_step in range(gradient_accumulation_steps):
        loss = model(X, Y) / gradient_accumulation_steps
        X, Y = get_batch()
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    t1 = time.time()
    dt = t1 - t0
    t0 = t1
    if iter_num % log_interval == 0:
        lossf = loss.item() * gradient_accumulation_steps
        print(f"iter {iter_num}: loss {lossf:.4f}, time {dt * 1000:.2f}ms, "
              f"mfu {running_mfu * 100:.2f}%")
    iter_num += 1
    if iter_num > max_iters:
        break
