"""What the pods of these tests run: ranks that cannot make a step without each other.

At every step each rank gives a number to rank 0, over TCP, by the name the operator told it, and
gets the sum of all back. Rank 0 saves the last step where it was paused. Needs no more than Python
and the package `amdahl`.
"""

import argparse
import json
import os
import socket
import sys
import time
from pathlib import Path

from amdahl import job

MEET_SECONDS = 30
RANK, NODES = int(os.environ["PET_NODE_RANK"]), int(os.environ["PET_NNODES"])
MASTER = (os.environ["PET_MASTER_ADDR"], int(os.environ["PET_MASTER_PORT"]))


class Gang:
    """Lines of JSON between rank 0 and each of the others."""

    def __init__(self):
        self._peers = [self._call()] if RANK else self._listen()

    def sum(self, numbers: list[int]) -> list[int]:
        """Of all ranks, place by place."""
        if RANK:
            self._write(self._peers[0], numbers)
            return self._read(self._peers[0])
        total = [sum(column) for column in zip(numbers, *map(self._read, self._peers))]
        for peer in self._peers:
            self._write(peer, total)
        return total

    def _listen(self) -> list:
        with socket.create_server(("", MASTER[1])) as server:
            server.settimeout(MEET_SECONDS)
            peers = []
            while len(peers) < NODES - 1:
                connection, (address, _) = server.accept()
                peers.append(connection.makefile("rw"))
                rank = self._read(peers[-1])
                name = os.environ["AMDAHL_HOST_PATTERN"].format(rank)
                if socket.gethostbyname(name) != address:
                    sys.exit(f"{name} is not {address}")
                print(f"rank {rank} is {name} at {address}", flush=True)
        return peers

    def _call(self):
        deadline = time.monotonic() + MEET_SECONDS
        while True:
            try:
                peer = socket.create_connection(MASTER, timeout=MEET_SECONDS).makefile("rw")
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        self._write(peer, RANK)
        return peer

    @staticmethod
    def _read(peer):
        line = peer.readline()
        if not line:
            raise ConnectionError("connection closed by peer")
        return json.loads(line)

    @staticmethod
    def _write(peer, value) -> None:
        peer.write(json.dumps(value) + "\n")
        peer.flush()


def misbehave(how: str) -> None:
    if how == "memory":
        hoard = []
        while True:  # up to the limit of the container, which is what ends it
            hoard.append(b"x" * (4 << 20))
    raise ValueError("the tokenizer has no word 7")


def train(gang: Gang, options: argparse.Namespace) -> None:
    checkpoint = options.checkpoints and options.checkpoints / "checkpoint.json"
    first = int(os.environ.get("AMDAHL_RESUME_STEP", "0"))
    if first:
        saved = json.loads(checkpoint.read_text())["step"]
        if saved != first:
            sys.exit(f"told to go on from step {first}, the checkpoint has {saved}")
        print(f"going on after step {saved}", flush=True)
    early = os.environ["AMDAHL_ATTEMPT"] == "1"
    for step in range(first + 1, options.steps + 1):
        with job.phase("DataWait"):
            time.sleep(options.step_seconds)
        if early and options.bad_rank == RANK and step == options.bad_step:
            misbehave(options.bad)
        ranks, stop = gang.sum([RANK + 1, int(job.should_stop())])
        if ranks != NODES * (NODES + 1) // 2:
            sys.exit(f"the sum of all ranks is {ranks}")
        job.step(step, options.steps, loss=1 / step)
        if stop:
            if checkpoint:
                save(gang, step, checkpoint)
            return


def save(gang: Gang, step: int, checkpoint: Path) -> None:
    with job.phase("CheckpointSave"):
        if RANK == 0:
            checkpoint.write_text(json.dumps({"step": step}))
        gang.sum([0])  # nobody says that it is saved before it is
    job.committed(step, str(checkpoint))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--step-seconds", type=float, default=0.1)
    parser.add_argument("--checkpoints", type=Path)
    parser.add_argument("--bad", choices=("memory", "error"), default="error")
    parser.add_argument("--bad-rank", type=int, default=-1)
    parser.add_argument("--bad-step", type=int, default=5)
    train(Gang(), parser.parse_args())


if __name__ == "__main__":
    main()
