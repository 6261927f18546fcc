#!/usr/bin/python3
"""Trains a small network on this repository's own text and writes its weights as bf16.

  kernels_weights.py OUT.bf16 [--seconds 90]

There is no hub of models to fetch from. The exponents of a network that has really been trained are
what the codec's ratio depends on, so one is trained: a model of characters, eight layers of causal
convolutions, 2.1 million parameters, AdamW. Convolutions, because Debian's torch runs them through
oneDNN and everything else through the reference BLAS, ten times slower. The seed is fixed; how far
it gets depends on the machine, and the loss is printed.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import torch
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
WIDTH, LAYERS, CONTEXT, BATCH = 256, 8, 128, 4


class Layer(nn.Module):
    def __init__(self, dilation: int):
        super().__init__()
        self.before = 2 * dilation  # characters that the first output needs
        self.norm = nn.GroupNorm(1, WIDTH)
        self.mix = nn.Conv1d(WIDTH, WIDTH, 3, dilation=dilation)
        self.out = nn.Conv1d(WIDTH, WIDTH, 1)

    def forward(self, x):
        padded = nn.functional.pad(self.norm(x), (self.before, 0))
        return x + self.out(nn.functional.gelu(self.mix(padded)))


class Model(nn.Module):
    def __init__(self, letters: int):
        super().__init__()
        self.letter = nn.Embedding(letters, WIDTH)
        self.layers = nn.Sequential(*(Layer(2 ** (i % 4)) for i in range(LAYERS)))
        self.head = nn.Conv1d(WIDTH, letters, 1)
        for value in self.parameters():
            if value.dim() > 1:
                nn.init.normal_(value, std=0.02)

    def forward(self, text):
        return self.head(self.layers(self.letter(text).transpose(1, 2)))


def corpus() -> torch.Tensor:
    names = subprocess.run(["git", "-C", str(ROOT), "ls-files", "*.cpp", "*.hpp", "*.md", "*.py"],
                           capture_output=True, text=True, check=True).stdout.split()
    text = "".join((ROOT / name).read_text(errors="ignore") for name in names)
    return torch.frombuffer(bytearray(text.encode("ascii", "ignore")), dtype=torch.uint8).long()


def train(model: Model, text: torch.Tensor, seconds: float) -> tuple[int, float]:
    steps, loss_shown, end = 0, 0.0, time.monotonic() + seconds
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
    while time.monotonic() < end:
        starts = torch.randint(0, len(text) - CONTEXT - 1, (BATCH,))
        windows = torch.stack([text[s : s + CONTEXT + 1] for s in starts])
        logits = model(windows[:, :-1])
        loss = nn.functional.cross_entropy(logits, windows[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps, loss_shown = steps + 1, float(loss)
    return steps, loss_shown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=90)
    args = parser.parse_args()
    torch.set_num_threads(1)  # two would spend the time waiting for each other on a busy machine
    torch.manual_seed(1)
    text = corpus()
    model = Model(128)
    steps, loss = train(model, text, args.seconds)
    values = torch.cat([value.detach().flatten() for value in model.parameters()])
    halves = values.bfloat16().view(torch.int16).numpy()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_bytes(halves.tobytes())
    print(f"{len(halves)} values after {steps} steps, loss {loss:.2f} (uniform is 4.85)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
