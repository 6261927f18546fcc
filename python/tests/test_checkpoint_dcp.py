"""amdahl.checkpoint.dcp with torch.distributed.checkpoint: one rank, two ranks, another number.

Needs torch 2.3 or later: `make frameworks` installs one, run_with_frameworks.py uses it.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from amdahl import checkpoint  # noqa: E402
from states import LibraryCase  # noqa: E402

try:
    import torch
    import torch.distributed.checkpoint as torch_dcp

    from amdahl.checkpoint import dcp
except ImportError as error:
    torch_dcp, MISSING = None, str(error)
else:
    MISSING = "" if hasattr(torch_dcp, "async_save") else f"torch {torch.__version__} is too old"

RANK_SECONDS_MAX = 300

# What ranks do: rows of `w` are shared out, `mine` is each rank's, the rest is replicated.
TRAINER = '''
import os, sys, torch, torch.distributed as dist, torch.distributed.checkpoint as torch_dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from amdahl.checkpoint import dcp
uri, step = sys.argv[1], int(sys.argv[2])
dist.init_process_group("gloo", init_method="file://" + os.environ["AMDAHL_MEETING_FILE"],
                        rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
rank, world = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (world,))
def state_at(step):
    whole = torch.arange(7 * 5, dtype=torch.float32).reshape(7, 5) + 100 * step
    return {"w": distribute_tensor(whole, mesh, [Shard(0)]), "same": torch.full((3,), float(step)),
            "scalar": torch.tensor(step), "epoch": step, "half": torch.ones(4).bfloat16(),
            "optimizer": {"state": {0: {"exp_avg": torch.full((2, 2), -float(step))}}},
            f"mine{rank}": torch.tensor([rank, step])}
'''
SAVE = TRAINER + '''
torch_dcp.save(state_at(step), checkpoint_id=str(step), storage_writer=dcp.StorageWriter(uri))
'''
LOAD = TRAINER + '''
target = state_at(0)
torch_dcp.load(target, storage_reader=dcp.StorageReader(uri))
wanted = state_at(step)
assert torch.equal(target["w"].full_tensor(), wanted["w"].full_tensor()), target["w"]
assert target["epoch"] == step and int(target["scalar"]) == step
assert torch.equal(target["same"], wanted["same"])
exp_avg = target["optimizer"]["state"][0]["exp_avg"]
assert torch.equal(exp_avg, wanted["optimizer"]["state"][0]["exp_avg"])
assert target[f"mine{rank}"].tolist() == [rank, step]
print("loaded", flush=True)
'''
LEAVES_EARLY = '''
import atexit, os, sys
ended = []
atexit.register(lambda: ended and (sys.stdout.flush(), os._exit(0)))
'''
KILLED = TRAINER + '''
import signal
def die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)
if rank == int(sys.argv[3]):
    setattr(dcp.StorageWriter, sys.argv[4], die)
torch_dcp.save(state_at(step), checkpoint_id=str(step), storage_writer=dcp.StorageWriter(uri))
'''


class Case(LibraryCase):
    def setUp(self):
        if MISSING:
            self.skipTest(MISSING)
        super().setUp()

    def ranks(self, count: int, code: str, *words: object) -> list[int]:
        """Exit codes of so many ranks; when one is killed, the others are ended."""
        # Ranks meet by a file and speak to files: a port that was free a moment ago may be taken,
        # and a pipe that nobody reads yet may fill up.
        meeting = tempfile.mkdtemp(dir=self.folder)
        environment = {**os.environ, "WORLD_SIZE": str(count), "PYTHONPATH": str(HERE.parent),
                       "AMDAHL_MEETING_FILE": meeting + "/ranks",
                       "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
        # A thread of torch that comes back to Python while it finalises aborts the process, which
        # says nothing about us: a rank that came to its end leaves when its exit handlers have run.
        code = LEAVES_EARLY + textwrap.dedent(code) + \
            "\ndist.destroy_process_group()\nended.append(True)\n"
        command = [sys.executable, "-c", code, self.uri, *map(str, words)]
        logs = [pathlib.Path(meeting, f"rank-{rank}.txt") for rank in range(count)]
        started = []
        for rank, log in enumerate(logs):
            with log.open("w") as stream:
                started.append(subprocess.Popen(command, env={**environment, "RANK": str(rank)},
                                                stderr=stream, stdout=stream))
        first = int(words[1]) if len(words) > 1 else 0
        started[first].wait(RANK_SECONDS_MAX)
        if started[first].returncode == -signal.SIGKILL:
            for one in started:
                one.kill()
        for one in started:
            one.wait(RANK_SECONDS_MAX)
        self.said = "\n".join(f"rank {rank}, exit code {one.returncode}: "
                              + log.read_text(errors="replace")
                              for rank, (one, log) in enumerate(zip(started, logs)))
        return [one.returncode for one in started]


class OneRank(Case):
    def state(self, step: int) -> dict:
        return {"a": {"w": torch.arange(12.0).reshape(3, 4) + step, "n": torch.tensor(step)},
                "bf": torch.ones(5, dtype=torch.bfloat16) * step, "text": "x", "none": None,
                "gaps": torch.arange(6.0).reshape(2, 3).t() * step, "empty": torch.empty(0, 3)}

    def save(self, step: int, writer=None) -> None:
        torch_dcp.save(self.state(step), checkpoint_id=f"step-{step}",
                       storage_writer=writer or dcp.StorageWriter(self.uri))

    # promises: D12
    def test_a_first_run_finds_nothing_and_a_later_one_the_newest(self):
        reader = dcp.StorageReader(self.uri)
        self.assertIsNone(reader.newest())
        with self.assertRaisesRegex(checkpoint.CheckpointError, "on a first run"):
            reader.read_metadata()
        self.save(7)
        self.assertEqual(reader.newest(), 7)
        torch_dcp.load(self.state(0), storage_reader=reader)

    def test_every_kind_of_value_comes_back(self):
        writer = dcp.StorageWriter(self.uri)
        for step in (3, 4):
            self.save(step, writer)
        for checkpoint_id, step in ((None, 4), ("3", 3)):
            target = self.state(0)
            torch_dcp.load(target, checkpoint_id=checkpoint_id,
                           storage_reader=dcp.StorageReader(self.uri))
            wanted = self.state(step)
            self.assertTrue(torch.equal(target["a"]["w"], wanted["a"]["w"]))
            self.assertEqual(int(target["a"]["n"]), step)
            self.assertTrue(torch.equal(target["bf"], wanted["bf"]))
            self.assertTrue(torch.equal(target["gaps"], wanted["gaps"]))
            self.assertEqual((target["text"], target["none"]), ("x", None))

    def test_targets_of_another_type_or_with_gaps_are_converted(self):
        self.save(2)
        target = {"a": {"w": torch.zeros(3, 4, dtype=torch.float64)}, "gaps": torch.zeros(2, 3).t()}
        torch_dcp.load(target, storage_reader=dcp.StorageReader(self.uri))
        wanted = self.state(2)
        self.assertTrue(torch.equal(target["a"]["w"], wanted["a"]["w"].double()))
        self.assertTrue(torch.equal(target["gaps"], wanted["gaps"]))

    def test_async_save_copies_before_it_returns(self):
        state = {"w": torch.ones(1000)}
        writer = dcp.StorageWriter(self.uri)
        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0,
                                             world_size=1)
        self.addCleanup(torch.distributed.destroy_process_group)
        future = torch_dcp.async_save(state, checkpoint_id="1", storage_writer=writer)
        state["w"].fill_(7)
        future.result()
        torch_dcp.load(state, storage_reader=dcp.StorageReader(self.uri))
        self.assertTrue(torch.equal(state["w"], torch.ones(1000)))

    def test_tensors_keep_their_names(self):
        self.save(1)
        with checkpoint.Checkpointer(self.uri) as mine:
            names = {info["name"] for info in mine.open_step()["tensors"]}
            self.assertLessEqual({"a.w", "bf", "gaps", "bytes/text"}, names)

    def test_errors_say_what_to_do(self):
        with self.assertRaisesRegex(BaseException, "no checkpoint in"):
            torch_dcp.load({"w": torch.ones(1)}, storage_reader=dcp.StorageReader(self.uri))
        with self.assertRaisesRegex(ValueError, "expected a step"):
            torch_dcp.save({}, checkpoint_id="last", storage_writer=dcp.StorageWriter(self.uri))
        with self.assertRaisesRegex(BaseException, "which step"):
            torch_dcp.save({}, storage_writer=dcp.StorageWriter(self.uri))
        with checkpoint.Checkpointer(self.uri) as mine:
            mine.save({"w": torch.ones(1)}, 1)
        with self.assertRaisesRegex(BaseException, "was not saved by torch.distributed"):
            torch_dcp.load({"w": torch.ones(1)}, storage_reader=dcp.StorageReader(self.uri))

    def test_damage_is_refused(self):
        self.save(1)
        name = next(pathlib.Path(self.uri).glob("data/*"))
        damaged = bytearray(name.read_bytes())
        damaged[-3] ^= 1
        name.write_bytes(damaged)
        with self.assertRaisesRegex(BaseException, "is damaged"):
            torch_dcp.load(self.state(0), storage_reader=dcp.StorageReader(self.uri))


class Ranks(Case):
    def test_two_save_and_two_or_one_load(self):
        self.assertEqual(self.ranks(2, SAVE, 5), [0, 0], getattr(self, "said", ""))
        self.assertEqual(self.ranks(2, LOAD, 5), [0, 0], self.said)
        self.assertEqual(self.ranks(1, LOAD, 5), [0], self.said)

    def test_one_saves_and_two_load_what_is_shared(self):
        self.assertEqual(self.ranks(1, SAVE, 6), [0], getattr(self, "said", ""))
        code = LOAD.replace('f"mine{rank}": torch', '"mine0": torch').replace(
            '[f"mine{rank}"].tolist() == [rank, step]', '["mine0"].tolist() == [0, step]')
        self.assertEqual(self.ranks(2, code, 6), [0, 0], self.said)

    def test_a_save_that_was_killed_is_not_there(self):
        self.assertEqual(self.ranks(2, SAVE, 5), [0, 0], getattr(self, "said", ""))
        for step, rank, where in ((6, 0, "finish"), (7, 1, "write_data")):
            with self.subTest(rank=rank, where=where):
                codes = self.ranks(2, KILLED, step, rank, where)
                self.assertEqual(codes[rank], -signal.SIGKILL, self.said)
                self.assertEqual(self.ranks(2, LOAD, 5), [0, 0], self.said)
        self.assertEqual(self.ranks(2, SAVE, 20), [0, 0], self.said)
        self.assertEqual(self.ranks(1, LOAD, 20), [0], self.said)


if __name__ == "__main__":
    unittest.main()
