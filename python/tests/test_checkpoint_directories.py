"""Folders that are captured and restored: those of DeepSpeed's layout, and of the real one where it
is installed (`make frameworks`, run_with_frameworks.py)."""

import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from amdahl import checkpoint  # noqa: E402
from amdahl.checkpoint import directories, restoring  # noqa: E402
from states import LibraryCase  # noqa: E402

RANK_SECONDS_MAX = 300
DEEPSPEED = '''
import os, sys
os.environ["DS_ACCELERATOR"] = "cpu"
import torch, torch.distributed as dist, deepspeed
from amdahl import checkpoint
folder, steps, resume = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "resume"
deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
deepspeed.init_distributed("gloo")
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
config = {"train_micro_batch_size_per_gpu": 4,
          "optimizer": {"type": "Adam", "params": {"lr": 0.01, "torch_adam": True}},
          "zero_optimization": {"stage": 1, "reduce_scatter": False}}
engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
if resume:
    assert checkpoint.restore_capture(folder) == "global_step3"
    path, _ = engine.load_checkpoint(folder)
    assert path is not None
while engine.global_steps < steps:
    torch.manual_seed(100 * engine.global_steps + dist.get_rank())
    loss = engine(torch.randn(4, 8)).pow(2).mean()
    engine.backward(loss)
    engine.step()
    if engine.global_steps == 3:
        engine.save_checkpoint(folder)
        checkpoint.capture(folder, 3)
        checkpoint.default().close()
if dist.get_rank() == 0:
    print("weights", float(sum(p.double().sum() for p in engine.module.parameters())).hex(),
          file=sys.stderr)
dist.barrier()  # a rank that is left alone at its end may abort in gloo
dist.destroy_process_group()
'''


def tree_of(folder: str) -> dict:
    root = pathlib.Path(folder)
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*")
            if path.is_file()}


class Case(LibraryCase):
    def setUp(self):
        super().setUp()
        self.folder += "/ds"

    def write(self, tag: str, seed: int, folder: str = "") -> dict:
        """Files as DeepSpeed names them."""
        chance = random.Random(seed)
        root = pathlib.Path(folder or self.folder)
        for name, size in (("mp_rank_00_model_states.pt", 5000),
                           ("zero_pp_rank_0_mp_rank_00_optim_states.pt", 70_001),
                           ("zero_pp_rank_1_mp_rank_00_optim_states.pt", 1), ("empty", 0),
                           ("inner/configuration.json", 300)):
            path = root / tag / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(chance.randbytes(size))
        (root / "latest").write_text(tag)
        return tree_of(str(root / tag))


class Folders(Case):
    def test_a_folder_comes_back_as_it_was(self):
        mine = self.open()
        written = self.write("global_step5", 5)
        self.assertTrue(checkpoint.capture(self.folder, 5, checkpointer=mine))
        for path in pathlib.Path(self.folder, "global_step5").rglob("*.pt"):
            path.unlink()  # what was captured is copied
        mine.wait()
        other = self.folder + "-other"
        self.assertEqual(checkpoint.restore_capture(other, checkpointer=self.open()),
                         "global_step5")
        self.assertEqual(tree_of(other + "/global_step5"), written)
        self.assertEqual(sorted(os.listdir(other)), ["global_step5", "latest"])
        self.assertEqual(directories.read_latest(other), "global_step5")

    def test_the_newest_or_the_step_that_is_asked_for(self):
        mine = self.open()
        written = {}
        for step in (1, 2):
            written[step] = self.write(f"global_step{step}", step)
            checkpoint.capture(self.folder, step, checkpointer=mine)
            mine.wait()
        self.assertEqual(checkpoint.restore_capture(self.folder, 1, checkpointer=mine),
                         "global_step1")
        self.assertEqual(directories.read_latest(self.folder), "global_step1")
        self.assertEqual(checkpoint.restore_capture(self.folder, checkpointer=mine),
                         "global_step2")
        self.assertEqual(tree_of(self.folder + "/global_step2"), written[2])

    def test_a_torn_folder_is_replaced_and_latest_is_last(self):
        mine = self.open()
        written = self.write("global_step5", 5)
        checkpoint.capture(self.folder, 5, checkpointer=mine)
        mine.wait()
        self.write("global_step5", 6)  # as if torn
        with mock.patch.object(restoring, "_write_latest", side_effect=OSError("power is lost")):
            pathlib.Path(self.folder, "latest").write_text("global_step4")
            with self.assertRaises(OSError):
                checkpoint.restore_capture(self.folder, checkpointer=mine)
        self.assertEqual(directories.read_latest(self.folder), "global_step4")
        checkpoint.restore_capture(self.folder, checkpointer=mine)
        self.assertEqual(tree_of(self.folder + "/global_step5"), written)
        self.assertEqual(sorted(os.listdir(self.folder)), ["global_step5", "latest"])

    def test_everything_is_durable_before_latest_names_it(self):
        mine = self.open()
        written = self.write("t", 5)
        checkpoint.capture(self.folder, 5, checkpointer=mine)
        mine.wait()
        events, fsync, rename = [], os.fsync, os.rename

        def synced(descriptor):
            events.append(("sync", os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))))
            fsync(descriptor)

        def renamed(source, target):
            events.append(("rename", os.path.basename(target)))
            rename(source, target)

        with mock.patch("os.fsync", synced), mock.patch("os.rename", renamed):
            checkpoint.restore_capture(self.folder + "-other", checkpointer=mine)
        moved = events.index(("rename", "t"))
        for path in written:
            self.assertIn(("sync", os.path.basename(path)), events[:moved])
        self.assertIn(("sync", "inner"), events[:moved])
        self.assertEqual(events[moved + 1], ("sync", "ds-other"))
        self.assertRegex(events[moved + 2][1], "^.latest.*tmp$")
        self.assertEqual(events[moved + 3:], [("rename", "latest"), ("sync", "ds-other")])

    def test_damage_falls_back_one_step(self):
        mine = self.open()
        for step in (1, 2):
            self.write(f"global_step{step}", step)
            checkpoint.capture(self.folder, step, checkpointer=mine)
            mine.wait()
        name = next(pathlib.Path(self.uri).glob(f"data/{2:020d}-*"))
        damaged = bytearray(name.read_bytes())
        damaged[-5] ^= 1
        name.write_bytes(damaged)
        with self.assertWarnsRegex(RuntimeWarning, "is damaged"):
            tag = checkpoint.restore_capture(self.folder + "-other", checkpointer=mine)
        self.assertEqual(tag, "global_step1")

    # promises: D12
    def test_a_latest_of_another_run_is_not_what_was_restored(self):
        self.write("global_step9", 9)
        self.assertIsNone(checkpoint.restore_capture(self.folder, checkpointer=self.open()))

    def test_when_all_are_damaged_it_is_an_error_and_not_a_first_run(self):
        mine = self.open()
        self.write("global_step1", 1)
        checkpoint.capture(self.folder, 1, checkpointer=mine)
        mine.wait()
        for name in pathlib.Path(self.uri).glob("data/*"):
            name.write_bytes(name.read_bytes()[:-5] + b"wrong")
        with self.assertWarnsRegex(RuntimeWarning, "is damaged"), \
                self.assertRaises(checkpoint.CheckpointError):
            checkpoint.restore_capture(self.folder + "-other", checkpointer=mine)
        self.assertFalse(os.path.exists(self.folder + "-other/latest"))

    def test_paths_out_of_the_folder_are_refused(self):
        mine = self.open()
        for number, (tag, path) in enumerate((("t", "../x"), ("t", "/etc/x"), ("..", "x"),
                                              ("t", "a//b"), ("t", "a/./b"), ("", "x")), start=1):
            state = {"kind": "capture", "tag": tag, "files": [{"path": path, "bytes": 0}]}
            mine.save_tensors([], [], state, number)
            mine.wait()
            with self.assertRaisesRegex(checkpoint.CheckpointError, "cannot have the path"):
                checkpoint.restore_capture(self.folder, checkpointer=mine)
        self.assertFalse(os.path.exists(self.folder + "/latest"))

    def test_errors_name_what_is_missing(self):
        mine = self.open()
        os.mkdir(self.folder)
        self.assertIsNone(checkpoint.restore_capture(self.folder, checkpointer=mine))
        with self.assertRaisesRegex(FileNotFoundError, "no file 'latest'"):
            checkpoint.capture(self.folder, 1, checkpointer=mine)
        with self.assertRaisesRegex(FileNotFoundError, "has no files"):
            checkpoint.capture(self.folder, 1, tag="none", checkpointer=mine)
        self.write("t", 1)
        os.symlink("/etc/hostname", self.folder + "/t/link")
        with self.assertRaisesRegex(ValueError, "link: no file or folder"):
            checkpoint.capture(self.folder, 1, checkpointer=mine)
        mine.save({"epoch": 1}, 2)
        mine.wait()
        with self.assertRaisesRegex(checkpoint.CheckpointError, "is no folder"):
            checkpoint.restore_capture(self.folder, checkpointer=mine)

    def test_nodes_with_disks_of_their_own(self):
        ranks = [self.open(rank=n, world_size=2, attempt="x") for n in range(2)]
        written = []
        for one in ranks:
            written.append(self.write("t", one.rank, f"{self.folder}-{one.rank}"))
            checkpoint.capture(f"{self.folder}-{one.rank}", 1, checkpointer=one, shared=False)
        for one in ranks:
            one.wait()
        for one in ranks:
            other = f"{self.folder}-other-{one.rank}"
            self.assertEqual(checkpoint.restore_capture(other, checkpointer=one, shared=False), "t")
            self.assertEqual(tree_of(other + "/t"), written[one.rank])


class Cut(Case):
    def test_files_may_be_cut_once_they_are_copied(self):
        mine = self.open()
        written = self.write("t", 1)
        save = mine.save_tensors

        def cut_and_save(*arguments, **options):
            for path in pathlib.Path(self.folder, "t").rglob("*.pt"):
                os.truncate(path, 0)
            return save(*arguments, **options)

        with mock.patch.object(mine, "save_tensors", cut_and_save):
            checkpoint.capture(self.folder, 1, checkpointer=mine)
        mine.wait()
        checkpoint.restore_capture(self.folder, checkpointer=mine)
        self.assertEqual(tree_of(self.folder + "/t"), written)

    def test_after_an_error_the_next_capture_works(self):
        mine = self.open()
        written = self.write("t", 1)
        with mock.patch.object(directories, "_look", side_effect=directories._changed("x", "grew")):
            with self.assertRaisesRegex(checkpoint.CheckpointError, "nothing was saved"):
                checkpoint.capture(self.folder, 1, checkpointer=mine)
        checkpoint.capture(self.folder, 1, checkpointer=mine)
        mine.wait()
        self.assertEqual([one["step"] for one in mine.list()], [1])
        checkpoint.restore_capture(self.folder + "-other", checkpointer=mine)
        self.assertEqual(tree_of(self.folder + "-other/t"), written)


class RealDeepspeed(Case):
    def setUp(self):
        super().setUp()
        try:
            import deepspeed  # noqa: F401, PLC0415
        except ImportError as error:
            self.skipTest(f"DeepSpeed is not installed: {error}")

    def ranks(self, folder: str, resume: str) -> str:
        """Weights after 6 steps of two ranks with ZeRO stage 1, in hexadecimal."""
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        environment = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                       "MASTER_PORT": str(port), "PYTHONPATH": str(HERE.parent),
                       "AMDAHL_CHECKPOINT_URI": self.uri, "OMP_NUM_THREADS": "1"}
        started = [subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", DEEPSPEED, folder, "6", resume], text=True,
            env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for rank in range(2)]
        said = [one.communicate(timeout=RANK_SECONDS_MAX)[1] for one in started]
        self.assertEqual([one.returncode for one in started], [0, 0], "\n".join(said))
        return next(line for line in said[0].splitlines() if line.startswith("weights"))

    def test_resumed_from_another_folder_it_ends_with_the_same_bits(self):
        whole = self.ranks(self.folder, "start")
        with checkpoint.Checkpointer(self.uri) as mine:
            self.assertEqual([one["step"] for one in mine.list()], [3])
            self.assertIn("optim_states", json.dumps(mine.open_step()["state"]))
        self.assertEqual(self.ranks(self.folder + "-other", "resume"), whole)


if __name__ == "__main__":
    unittest.main()
