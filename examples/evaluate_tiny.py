"""Evaluates the classifier that train_tiny.py trained, shared out over the nodes of a job.

Runtime Python: one process a node, which takes every AMDAHL_NODES-th batch. The results of all are
added up, and those of rank 0 end in the status of the job. On the embedded cluster:
examples/local-evaluation.yaml. By hand: python3 examples/evaluate_tiny.py CHECKPOINT_FOLDER
"""

import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

from tiny_job import job
from tiny_model import BATCH, STEPS_MAX, make_batch, make_model


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoints", type=Path, help="folder of train_tiny.py")
    parser.add_argument("--batches", type=int, default=200)
    return parser.parse_args()


def load_newest(folder: Path) -> tuple[nn.Module, int]:
    newest = max(folder.glob("step-*.pt"), default=None)
    if newest is None:
        raise SystemExit(f"{folder} holds no checkpoint: train first")
    state = torch.load(newest)
    model = make_model()
    model.load_state_dict(state["model"])
    return model.eval(), state["step"]


def evaluate(model: nn.Module, batches: range) -> torch.Tensor:
    """Right answers, the sum of the losses, answers."""
    sums = torch.zeros(3, dtype=torch.float64)
    for done, batch in enumerate(batches, start=1):
        inputs, labels = make_batch(STEPS_MAX + batch, 0)
        scores = model(inputs)
        loss = nn.functional.cross_entropy(scores, labels, reduction="sum")
        right = (scores.argmax(dim=1) == labels).sum()
        sums += torch.tensor([right.item(), loss.item(), len(labels)], dtype=torch.float64)
        if job is not None:
            job.step(done, len(batches))
    return sums


def print_results(results: dict[str, float]) -> None:
    """The table of lm-eval, which the launcher understands without the package."""
    print("|Tasks|Version|Filter|n-shot| Metric |   |Value |")
    print("|-----|------:|------|-----:|--------|---|-----:|")
    for name, value in results.items():
        print(f"|tiny |      1|none  |     0|{name:8s}|   |{value:.4f}|", flush=True)


@torch.no_grad()
def main() -> None:
    options = arguments()
    torch.set_num_threads(1)
    rank = int(os.environ.get("AMDAHL_RANK", "0"))
    nodes = int(os.environ.get("AMDAHL_NODES", "1"))
    model, step = load_newest(options.checkpoints)
    print(f"rank {rank} of {nodes}: the model of step {step}", flush=True)
    sums = evaluate(model, range(rank, options.batches, nodes))
    if nodes > 1:
        address = f"tcp://{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        dist.init_process_group("gloo", init_method=address, rank=rank, world_size=nodes)
        dist.all_reduce(sums)
    right, loss, answers = sums.tolist()
    assert answers == options.batches * BATCH
    results = {"accuracy": right / answers, "loss": loss / answers}
    if rank == 0:
        print_results(results)
    if job is not None:
        mine = len(range(rank, options.batches, nodes))
        job.step(mine, mine, **results)


if __name__ == "__main__":
    main()
