"""Trains a small classifier with torchrun: checkpoints, pauses, resumes. CPU only, any world.

On the embedded cluster: examples/local-torchrun.yaml. By hand, with Debian's torch:
    tools/debian-torch/python3 -m torch.distributed.run --nproc_per_node 2 examples/train_tiny.py
"""

import argparse
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from tiny_job import Job, checkpoint_folder, replace_file
from tiny_model import make_batch, make_model

KEPT = 2  # checkpoints


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--step-seconds", type=float, default=0.05, help="a step takes at least")
    parser.add_argument("--checkpoint-steps", type=int, default=50)
    parser.add_argument("--losses", type=Path, help="add a line of JSON for each step to this file")
    return parser.parse_args()


class Trainer:
    def __init__(self, here: Job, folder: Path | None) -> None:
        self.here, self.folder = here, folder
        self.model = make_model()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.005)
        self.done = 0  # steps

    def train_step(self) -> float:
        """One step on all ranks; the mean of their losses."""
        inputs, labels = make_batch(self.done, self.here.rank)
        loss = nn.functional.cross_entropy(self.model(inputs), labels)
        self.optimizer.zero_grad()
        loss.backward()
        # One sum over one vector: its order never changes, so that a step done again gives the same
        # bits. DistributedDataParallel groups gradients anew after its first step.
        gradients = [parameter.grad for parameter in self.model.parameters()]
        total = torch.cat([parameters_to_vector(gradients), loss.detach().reshape(1)])
        dist.all_reduce(total)
        total /= self.here.world
        vector_to_parameters(total[:-1], gradients)
        self.optimizer.step()
        self.done += 1
        return total[-1].item()

    def restore(self) -> None:
        """From the newest checkpoint. Rank 0 looks, so that all ranks take the same one."""
        newest = torch.tensor([0])
        if self.here.rank == 0 and self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            newest[0] = max((step_of(path) for path in self.folder.glob("step-*.pt")), default=0)
        dist.broadcast(newest, src=0)
        if newest.item() == 0:
            return
        with self.here.phase("CheckpointRestore"):
            state = torch.load(self.path_of(int(newest.item())))
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.done = state["step"]
        if self.here.rank == 0:
            print(f"resumed from step {self.done}", flush=True)

    def should_stop(self) -> bool:
        return self.here.should_stop()

    def save_for_pause(self) -> bool:
        """Whether it is complete."""
        return self.save()

    def save(self) -> bool:
        """By rank 0, into a folder that all nodes share; every rank learns whether it is there."""
        assert self.folder is not None
        saved = torch.tensor([1])
        path = self.path_of(self.done)
        with self.here.phase("CheckpointSave"):
            if self.here.rank == 0:
                state = {"step": self.done, "model": self.model.state_dict(),
                         "optimizer": self.optimizer.state_dict()}
                try:
                    replace_file(path, lambda file: torch.save(state, file))
                except OSError as error:
                    saved[0] = 0
                    self.here.failed(str(error))
            dist.broadcast(saved, src=0)
        if saved.item() == 0:
            return False
        self.here.committed(self.done, path)
        if self.here.rank == 0:
            for old in sorted(self.folder.glob("step-*.pt"), key=step_of)[:-KEPT]:
                old.unlink()
        return True

    def path_of(self, step: int) -> Path:
        return self.folder / f"step-{step:08d}.pt"


def step_of(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])


def train(options: argparse.Namespace, make=Trainer) -> None:
    here = Job(options.losses)
    trainer = make(here, checkpoint_folder())
    trainer.restore()
    while trainer.done < options.steps:
        began = time.monotonic()
        loss = trainer.train_step()
        here.step(trainer.done, options.steps, loss)
        stop = trainer.should_stop()
        due = trainer.done % options.checkpoint_steps == 0 or trainer.done == options.steps
        if trainer.folder and stop and trainer.save_for_pause():
            if here.rank == 0:
                print(f"stopped at step {trainer.done}, as asked", flush=True)
            return
        if trainer.folder and due and not stop:
            trainer.save()
        time.sleep(max(0.0, began + options.step_seconds - time.monotonic()))


def main(make=Trainer) -> None:
    torch.set_num_threads(1)  # processes of one machine share its cores
    dist.init_process_group("gloo")
    train(arguments(), make)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
