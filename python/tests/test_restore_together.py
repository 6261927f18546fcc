"""Two processes restore one step, also when the newest is damaged for one of them."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from amdahl import agreement, checkpoint  # noqa: E402
from amdahl.checkpoint import hooks, together  # noqa: E402
from states import LibraryCase, torch  # noqa: E402

SECONDS_MAX = 120
GLOO = """
import os, sys, torch, torch.distributed as dist
from amdahl import checkpoint
from amdahl.checkpoint import hooks
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=int(os.environ["RANK"]),
                        world_size=2)
"""
END = "\ndist.barrier(); dist.destroy_process_group()\n"
LOAD = GLOO + """
assert checkpoint.load().step == 1
print('step', hooks.restore_huggingface(sys.argv[2])[-1])
""" + END
# As a script does whose framework starts torch.distributed later.
LOAD_FIRST = """
import os, sys, torch, torch.distributed as dist
from amdahl import checkpoint
loaded = checkpoint.load()
print('step', loaded.step)
dist.init_process_group("gloo")
""" + END
# Lightning starts torch.distributed after this, by the variables of torchrun.
LIGHTNING = """
import os, sys, torch, torch.distributed as dist
from amdahl.checkpoint import hooks
print('step', torch.load(hooks.restore_lightning(sys.argv[2]))['made'])
dist.init_process_group("gloo")
""" + END
CAPTURE = GLOO + """
folder, shared = sys.argv[3].replace("RANK", os.environ["RANK"]), sys.argv[4] == "shared"
print('tag', checkpoint.restore_capture(folder, shared=shared))
""" + END


CAPTURE_AND_RESTORE = GLOO + """
from amdahl.checkpoint import directories
directories.SEEN_SECONDS_MAX = 0.5
folder = sys.argv[3].replace("RANK", os.environ["RANK"])
os.makedirs(folder + "/t", exist_ok=True)
open(folder + "/t/model" + os.environ["RANK"], "w").write("x" * 100)
for call in lambda: checkpoint.capture(folder, 1, tag="t"), \\
        lambda: checkpoint.restore_capture(folder):
    try:
        print(call())
    except checkpoint.CheckpointError as error:
        print(error.code, error)
    checkpoint.default().settle()
""" + END
RESTORE = GLOO + """
try:
    checkpoint.restore_capture(sys.argv[3])
except checkpoint.CheckpointError as error:
    print(error)
""" + END
FAIL = GLOO + """
import time
began = time.monotonic()
if os.environ["RANK"] in sys.argv[3]:
    os.environ["AMDAHL_CHECKPOINT_URI"] = sys.argv[4]
try:
    checkpoint.load()
except checkpoint.CheckpointError as error:
    print("soon" if time.monotonic() - began < 15 else "late", error)
"""
SAVE_AND_WAIT = GLOO + """
def save():
    if step == 2 and os.environ["RANK"] == "1":
        raise checkpoint.CheckpointError("too_large", "no room in the arena")
    return checkpoint.save({"w": step}, step, patience=30)
for step in 1, 2:
    print(step, checkpoint.save_and_wait(save, step))
print(checkpoint.default().status()["committedStep"], flush=True)
dist.barrier()
os._exit(0)  # at its end rank 0 would wait for the other part of step 2
"""


class TwoRanks(LibraryCase):
    """Processes that share a process group of torch.distributed."""

    def save(self, kind: str) -> None:
        """Steps 1 and 2 of two ranks; that of rank 1 is damaged in step 2."""
        ranks = [self.open(rank=n, world_size=2, attempt="x") for n in range(2)]
        for step in (1, 2):
            for one in ranks:
                shared = hooks.HuggingFaceCallback(one, 1e9)._shared  # noqa: SLF001
                one.save(shared(lambda step=step: {
                    "kind": kind, "model": {"w": torch.full((9,), float(step))}, "trainer": "{}",
                    "checkpoint": {"made": step}}), step, patience=60)
            for one in ranks:
                one.wait()
        self.damage_step_2_of_rank_1()

    def damage_step_2_of_rank_1(self) -> None:
        names = sorted(pathlib.Path(self.uri).glob(f"data/{2:020}-*-00001-*"))
        self.assertEqual(len(names), 1, list(pathlib.Path(self.uri).glob("data/*")))
        damaged = bytearray(names[0].read_bytes())
        damaged[-5] ^= 1
        names[0].write_bytes(damaged)

    def ranks(self, code: str, *arguments: str, **variables: str) -> list[str]:
        """What each rank prints."""
        meeting = tempfile.mkdtemp(dir=self.folder)
        env = {**os.environ, "WORLD_SIZE": "2", "PYTHONPATH": str(HERE.parent),
               "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1",
               "AMDAHL_CHECKPOINT_URI": self.uri, "AMDAHL_ATTEMPT_ID": "y", **variables}
        started = [subprocess.Popen([sys.executable, "-c", code, meeting + "/ranks",
                                     f"{meeting}/{rank}", *arguments], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    env={**env, "RANK": str(rank)})
                   for rank in range(2)]
        try:
            said = [one.communicate(timeout=SECONDS_MAX)[0] for one in started]
        finally:
            for one in started:
                one.kill()
        self.assertEqual([one.returncode for one in started], [0, 0], said)
        return said


@unittest.skipIf(torch is None, "no torch")
class OneStep(TwoRanks):
    def check(self, said: list[str]) -> None:
        self.assertEqual([text.splitlines()[-1] for text in said], ["step 1"] * 2, said)
        self.assertIn("of this rank in the checkpoint of step 2 is damaged", said[1])

    # promises: D3
    def test_load_and_the_hook_for_hugging_face(self):
        self.save("huggingface")
        self.check(self.ranks(LOAD))

    def agent_store(self) -> dict:
        """A store as torchrun's agent has it, for ranks that meet before they form a group."""
        self.store = torch.distributed.TCPStore("127.0.0.1", 0, None, True, wait_for_workers=False)
        return {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0",
                "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(self.store.port)}

    # promises: D3
    def test_load_before_torch_distributed_is_started(self):
        self.save("huggingface")
        self.check(self.ranks(LOAD_FIRST, **self.agent_store()))

    # promises: D12
    def test_a_rank_that_the_saved_run_did_not_have_is_told_that_the_state_is_not_its_own(self):
        self.save("huggingface")
        ranks = [self.open(rank=n, world_size=4, attempt="y") for n in range(4)]
        found = [one.load(1) for one in ranks]
        self.assertEqual([one.own for one in found], [True, True, False, False])
        self.assertEqual(found[3].state.keys(), found[0].state.keys())

    # promises: D2
    def test_a_save_that_one_rank_cannot_make_is_no_pause_and_nobody_waits_for_it(self):
        said = self.ranks(SAVE_AND_WAIT)
        for text in said:
            lines = [line for line in text.splitlines() if not line.startswith("amdahl: ")]
            self.assertEqual(lines, ["1 True", "2 False", "1"], said)
        self.assertIn("another rank could not save its part", said[0])
        self.assertIn("no room in the arena", said[1])

    # promises: D3
    def test_the_hook_for_lightning_before_torch_distributed_is_started(self):
        self.save("lightning")
        self.check(self.ranks(LIGHTNING, **self.agent_store()))


@unittest.skipIf(torch is None, "no torch")
class OneFails(TwoRanks):
    # promises: D3
    def test_an_init_from_that_rank_0_cannot_find_is_raised_on_both_ranks(self):
        said = self.ranks(FAIL, "", "", AMDAHL_JOB_UID="a", LOCAL_RANK="0",
                          AMDAHL_CHECKPOINT_INIT_FROM=self.folder + "/gone")
        reason = f"checkpoint.initFrom {self.folder}/gone: no checkpoint is committed there"
        told = ["", "rank 0 failed in amdahl.checkpoint.load(): "]
        self.assertEqual([text.strip() for text in said], [f"soon {one}{reason}" for one in told])

    # promises: D3
    def test_a_uri_below_a_file_on_rank_1_or_on_both_is_raised_on_both(self):
        self.save("huggingface")
        pathlib.Path(self.folder, "file").write_text("")
        for failing in ("1", "01"):
            said = self.ranks(FAIL, failing, f"{self.folder}/file/run")
            self.assertEqual("rank 1 failed in amdahl" in said[0], failing == "1", said)
            for text in said:
                self.assertRegex(text.splitlines()[-1], "^soon .*/file/run", said)


@unittest.skipIf(torch is None, "no torch")
class OneTag(TwoRanks):
    """restore_capture(): the same answer on all ranks, and only what is committed."""

    def write(self, folder: str, tag: str) -> None:
        """As DeepSpeed does, which also leaves this behind when it is killed before the commit."""
        path = pathlib.Path(folder, tag)
        path.mkdir(parents=True)
        (path / "model.pt").write_bytes(f"{folder} {tag}".encode() * 100)
        (path.parent / "latest").write_text(tag)

    def restored(self, folder: str, kind: str) -> list[str]:
        return [text.splitlines()[-1]
                for text in self.ranks(CAPTURE, folder, kind, LOCAL_RANK="0")]

    # promises: D12
    def test_a_latest_that_was_left_behind_is_no_checkpoint(self):
        for kind in ("shared", "each"):
            self.write(f"{self.folder}/{kind}", "global_step7")
            self.assertEqual(self.restored(f"{self.folder}/{kind}", kind), ["tag None"] * 2)

    # promises: D12
    def test_all_ranks_hear_the_tag_that_was_committed(self):
        mine = [self.open(rank=n, world_size=2, attempt="x") for n in range(2)]
        self.write(self.folder + "/ds", "global_step3")
        for one in mine:
            checkpoint.capture(self.folder + "/ds", 3, checkpointer=one)
        for one in mine:
            one.wait()
        self.write(self.folder + "/ds", "global_step7")  # and was killed
        self.assertEqual(self.restored(self.folder + "/ds", "shared"), ["tag global_step3"] * 2)
        self.assertEqual(pathlib.Path(self.folder, "ds/latest").read_text(), "global_step3")

    # promises: D3
    def test_nodes_go_back_together_when_the_newest_of_one_is_damaged(self):
        mine = [self.open(rank=n, world_size=2, attempt="x") for n in range(2)]
        for step in (1, 2):
            for one in mine:
                self.write(f"{self.folder}/node{one.rank}", f"global_step{step}")
                checkpoint.capture(f"{self.folder}/node{one.rank}", step, checkpointer=one,
                                   shared=False)
            for one in mine:
                one.wait()
        self.damage_step_2_of_rank_1()
        self.assertEqual(self.restored(f"{self.folder}/nodeRANK", "each"),
                         ["tag global_step1"] * 2)
        for rank in range(2):
            self.assertEqual(pathlib.Path(f"{self.folder}/node{rank}/latest").read_text(),
                             "global_step1")


@unittest.skipIf(torch is None, "no torch")
class OneFolder(TwoRanks):
    """capture() and restore_capture() with shared=True, on two ranks."""

    # promises: D12
    def test_a_folder_that_each_rank_has_for_itself_is_an_error_that_says_what_to_do(self):
        said = self.ranks(CAPTURE_AND_RESTORE, f"{self.folder}/nodeRANK")
        for rank, text in enumerate(said):
            error = f"invalid {self.folder}/node{rank}: not all ranks see what rank 0 writes there"
            self.assertEqual([line.split(".")[0] for line in text.splitlines()], [error] * 2)
            self.assertIn("shared=False", text)
            self.assertEqual(os.listdir(f"{self.folder}/node{rank}"), ["t"])
        with self.open() as mine:
            self.assertEqual(mine.list(), [])

    def test_a_folder_that_rank_0_cannot_write_to_is_an_error_on_all_ranks(self):
        pathlib.Path(self.folder, "file").write_text("")
        said = self.ranks(RESTORE, f"{self.folder}/file/zero")
        for text in said:
            self.assertIn(f"{self.folder}/file/zero: rank 0 cannot write there", text)

    def test_what_proves_a_shared_folder_is_removed(self):
        said = self.ranks(CAPTURE_AND_RESTORE, f"{self.folder}/zero")
        self.assertEqual([text.split() for text in said], [["True", "t"]] * 2)
        self.assertEqual(sorted(os.listdir(f"{self.folder}/zero")), ["latest", "t"])
        self.assertEqual(sorted(os.listdir(f"{self.folder}/zero/t")), ["model0", "model1"])


class Alone(unittest.TestCase):
    # promises: D3
    def test_nothing_that_all_can_read_is_an_error(self):
        """As rank 0 sees it: another rank can read neither step."""
        answers = iter([(2, "state"), (1, "state"), None])
        look = mock.Mock(side_effect=lambda *_: next(answers))
        with mock.patch.object(agreement, "all_say", return_value=False), \
                self.assertRaisesRegex(checkpoint.CheckpointError, "no checkpoint loads on all"):
            together.newest("load", look)
        self.assertEqual(look.call_args_list, [mock.call(None, n) for n in (-1, 2, 1)])

    def test_none_yet_is_nothing_and_one_that_this_process_can_read_is_taken(self):
        self.assertIsNone(together.newest("load", lambda *_: None))
        self.assertEqual(together.newest("load", lambda *_: (7, "state")), (7, "state"))


if __name__ == "__main__":
    unittest.main()
