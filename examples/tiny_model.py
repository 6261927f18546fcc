"""A small classifier and its data: the same numbers in every run, for the examples that train it.

A batch depends on nothing but its step and its rank. So a step that is done again, after a pause
or a lost rank, is the same step.
"""

import torch
from torch import nn

FEATURES, HIDDEN, CLASSES = 16, 64, 8
BATCH = 32
SEED = 20_240
STEPS_MAX = 1 << 30  # steps of evaluation begin here: no training ever sees those batches


def make_model() -> nn.Module:
    torch.manual_seed(SEED)
    return nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, CLASSES))


def make_batch(step: int, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs, and the class that a fixed network gives each of them."""
    chance = torch.Generator().manual_seed(step * 4096 + rank)
    inputs = torch.randn(BATCH, FEATURES, generator=chance)
    return inputs, _TEACHER(inputs).argmax(dim=1)


def _make_teacher() -> nn.Module:
    torch.manual_seed(SEED + 1)
    return nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, CLASSES))


_TEACHER = _make_teacher().requires_grad_(False)
