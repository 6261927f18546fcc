#!/usr/bin/env python3
"""Whether a snapshot is of the moment of the call: every tensor changes right after save() returns.

  checkpoint_torn.py [--mib 128] [--tensors 4] [--contestants amdahl,torchsnapshot]

Prints for each way of saving that returns early how many tensors came back with values that they
got later. No figure of a trainer that is held for a shorter time counts where that is not 0. Arrays
of JAX cannot change, so Orbax is not asked. --child is for itself: one process for each.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import checkpoint_environments as environments
from checkpoint_peers import CONTESTANTS, make_group

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "build" / "bench"
CHILD_SECONDS_MAX = 300
SAVED, LATER = 1.0, 2.0
ASKED = tuple(name for name, (kind, runs_in, _) in CONTESTANTS.items()
              if kind.background and runs_in == "torch")


class State:
    """What contestants need of a state: tensors, all of one value."""

    def __init__(self, tensors: int, mib: int):
        import torch

        self.tensors = {f"layer.{i}": torch.full(((mib << 20) // 4,), SAVED)
                        for i in range(tensors)}
        self.bytes = tensors * mib << 20


def torn(name: str, args: argparse.Namespace) -> int:
    kind = CONTESTANTS[name][0]
    if kind.needs_group:
        make_group(0, 1)
    with tempfile.TemporaryDirectory(prefix="torn-", dir=OUT) as folder:
        state = State(args.tensors, args.mib)
        own = kind(Path(folder), state, 0, 1)
        own.save(1)
        for tensor in state.tensors.values():
            tensor.fill_(LATER)
        own.wait(1)
        loaded = own.load(1)
        own.close()
        return sum(bool((tensor != SAVED).any()) for tensor in loaded.values())


def asked(name: str, args: argparse.Namespace) -> str:
    command = [environments.python_for("torch"), __file__, "--child", name,
               "--mib", str(args.mib), "--tensors", str(args.tensors)]
    group = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    done = subprocess.run(command, env={**environments.variables(), **group}, text=True,
                          capture_output=True, timeout=CHILD_SECONDS_MAX, check=False)
    if done.returncode:
        return "broke: " + (done.stderr.strip().splitlines() or ["no message"])[-1]
    return f"{done.stdout.split()[-1]} of {args.tensors} tensors have later values"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=128, help="of each tensor")
    parser.add_argument("--tensors", type=int, default=4)
    parser.add_argument("--contestants", default=",".join(ASKED))
    parser.add_argument("--child", choices=ASKED)
    args = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    if args.child:
        count = torn(args.child, args)
        print(count, flush=True)
        os._exit(0)  # threads of a peer are not waited for
    for name in args.contestants.split(","):
        print(f"{name:<16}{asked(name, args)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
