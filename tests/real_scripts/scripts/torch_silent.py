"""A plain loop over optimizer steps that prints nothing."""

import time

import torch
from torch import nn

torch.manual_seed(7)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 50)
for _ in range(60):
    for _ in range(2):  # gradient accumulation
        model(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
    time.sleep(0.05)
