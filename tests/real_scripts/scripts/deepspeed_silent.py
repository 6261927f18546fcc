"""DeepSpeed at its default log level, which prints no steps: ZeRO stage 1, one rank on a CPU."""

import time

import deepspeed
import torch
from torch import nn

CONFIG = {"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2,
          "optimizer": {"type": "Adam", "params": {"lr": 1e-3, "torch_adam": True}},
          "zero_optimization": {"stage": 1, "reduce_scatter": False}}

# It would compile C++ for ranks that share memory, which takes torch's headers and a minute.
deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
torch.manual_seed(7)
torch.set_num_threads(1)
deepspeed.init_distributed(dist_backend="gloo")
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
# Two groups, so that the optimizer inside has more to do in a step.
groups = [{"params": model[0].parameters()}, {"params": model[2].parameters()}]
engine, *_ = deepspeed.initialize(model=model, model_parameters=groups, config=CONFIG)
for _ in range(80):
    engine.backward(engine(torch.randn(4, 8)).square().mean())
    engine.step()
    time.sleep(0.05)
