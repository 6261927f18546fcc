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
# Lightning starts torch.distributed after this, by the variables of torchrun.
LIGHTNING = """
import os, sys, torch, torch.distributed as dist
from amdahl.checkpoint import hooks
print('step', torch.load(hooks.restore_lightning(sys.argv[2]))['made'])
dist.init_process_group("gloo")
""" + END


@unittest.skipIf(torch is None, "no torch")
class OneStep(LibraryCase):
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
        names = sorted(pathlib.Path(self.uri).glob("data/*02-*-00001-*"))
        self.assertEqual(len(names), 1, list(pathlib.Path(self.uri).glob("data/*")))
        damaged = bytearray(names[0].read_bytes())
        damaged[-5] ^= 1
        names[0].write_bytes(damaged)

    def ranks(self, code: str, **variables: str) -> list[str]:
        """What each rank prints."""
        meeting = tempfile.mkdtemp(dir=self.folder)
        env = {**os.environ, "WORLD_SIZE": "2", "PYTHONPATH": str(HERE.parent),
               "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1",
               "AMDAHL_CHECKPOINT_URI": self.uri, "AMDAHL_ATTEMPT_ID": "y", **variables}
        started = [subprocess.Popen([sys.executable, "-c", code, meeting + "/ranks",
                                     f"{meeting}/{rank}"], stdout=subprocess.PIPE, text=True,
                                    stderr=subprocess.STDOUT, env={**env, "RANK": str(rank)})
                   for rank in range(2)]
        try:
            said = [one.communicate(timeout=SECONDS_MAX)[0] for one in started]
        finally:
            for one in started:
                one.kill()
        self.assertEqual([one.returncode for one in started], [0, 0], said)
        return said

    def check(self, said: list[str]) -> None:
        self.assertEqual([text.splitlines()[-1] for text in said], ["step 1"] * 2, said)
        self.assertIn("of this rank in the checkpoint of step 2 is damaged", said[1])

    # promises: D3
    def test_load_and_the_hook_for_hugging_face(self):
        self.save("huggingface")
        self.check(self.ranks(LOAD))

    # promises: D3
    def test_the_hook_for_lightning_before_torch_distributed_is_started(self):
        self.save("lightning")
        store = torch.distributed.TCPStore("127.0.0.1", 0, None, True,  # as torchrun's agent has it
                                           wait_for_workers=False)
        self.check(self.ranks(LIGHTNING, TORCHELASTIC_USE_AGENT_STORE="True",
                              TORCHELASTIC_RESTART_COUNT="0", MASTER_ADDR="127.0.0.1",
                              MASTER_PORT=str(store.port)))


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
