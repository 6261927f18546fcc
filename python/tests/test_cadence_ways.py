"""One cadence for all ways to save: after each of them checkpoint.due() says no.

DCP needs a torch of today: run_with_frameworks.py.
"""

import itertools
import os
import pathlib
import sys
import time
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from amdahl import checkpoint  # noqa: E402
from amdahl.checkpoint import cadence, hooks  # noqa: E402
from states import LibraryCase  # noqa: E402

try:
    import torch
    import torch.distributed.checkpoint as torch_dcp

    from amdahl.checkpoint import dcp
except ImportError:
    torch_dcp = None
HOUR = 3600.0


class Ways(LibraryCase):
    def setUp(self):
        super().setUp()
        self.ours = cadence.Cadence(HOUR)
        self.ours._since -= 2 * HOUR  # noqa: SLF001
        self.mine = self.open(keepLast=100)
        for patch in (mock.patch.object(checkpoint, "_cadence", self.ours),
                      mock.patch.object(checkpoint, "_default", self.mine)):
            patch.start()
            self.addCleanup(patch.stop)
        self.assertTrue(checkpoint.due())
        self.ours._yes_at = None  # noqa: SLF001: what is seen below is not the floor
        self.assertTrue(checkpoint.due())
        self.ours._yes_at = None  # noqa: SLF001

    def folder_of_deepspeed(self) -> str:
        folder = pathlib.Path(self.folder) / "zero"
        (folder / "global_step1").mkdir(parents=True, exist_ok=True)
        (folder / "global_step1" / "mp_rank_00_model_states.pt").write_bytes(b"x" * 100)
        (folder / "latest").write_text("global_step1")
        return str(folder)

    # promises: D6
    def test_save(self):
        self.assertTrue(checkpoint.save({"a": 1}, 1))
        self.assertFalse(checkpoint.due())

    # promises: D6
    def test_save_of_a_checkpointer_of_its_own(self):
        with checkpoint.Checkpointer(self.uri + "-other") as other:
            other.save({"a": 1}, 1)
        self.assertFalse(checkpoint.due())

    # promises: D6
    def test_capture(self):
        self.assertTrue(checkpoint.capture(self.folder_of_deepspeed(), 1))
        self.assertFalse(checkpoint.due())

    # promises: D6
    def test_the_callbacks(self):
        connector = types.SimpleNamespace(dump_checkpoint=lambda weights_only: {"w": 1})
        trainer = types.SimpleNamespace(global_step=1, max_steps=-1, should_stop=False,
                                        _checkpoint_connector=connector)
        hooks.LightningCallback(self.mine, HOUR, every_steps=1).on_train_batch_end(trainer, None)
        self.assertFalse(checkpoint.due())

    # promises: D6
    @unittest.skipUnless(hasattr(torch_dcp, "async_save"), "needs torch 2.3 or later")
    def test_torch_distributed_checkpoint(self):
        state = {"w": torch.ones(3)}
        torch_dcp.save(state, checkpoint_id="1", storage_writer=dcp.StorageWriter(self.uri + "-d"))
        self.assertFalse(checkpoint.due())

    # promises: D6
    def test_a_loop_that_captures_when_it_is_due_does_so_once_a_second_at_most(self):
        folder = self.folder_of_deepspeed()
        with mock.patch.dict(os.environ, {cadence.INTERVAL_VARIABLE: "0.001"}), \
                mock.patch.object(checkpoint, "_cadence", cadence.Cadence()):
            began, captured = time.monotonic(), 0
            for step in itertools.count(1):
                if checkpoint.due():
                    checkpoint.capture(folder, step)
                    captured += 1
                seconds = time.monotonic() - began
                if captured >= 2 or seconds > 60:
                    break
        self.assertEqual(captured, 2)
        self.assertGreaterEqual(seconds, 2 * cadence.BETWEEN_SECONDS_MIN)

    # promises: D6
    def test_a_callback_leaves_out_steps_that_come_within_a_second_of_the_last_save(self):
        now, saves = [100.0], cadence.Saves()
        callback = hooks.HuggingFaceCallback(self.mine, every_steps=2)
        callback._cadence = cadence.Cadence(HOUR, lambda: now[0], saves=saves)  # noqa: SLF001
        noted = types.SimpleNamespace(note=lambda: saves.note(now[0]))
        with mock.patch.object(cadence, "SAVES", noted):
            for step in range(1, 21):
                now[0] += 0.3  # so multiples of 2 are 0.6 s apart
                callback._after_step(step, dict)  # noqa: SLF001
                self.mine.wait()
        self.assertEqual([one["step"] for one in self.mine.list()], [18, 14, 10, 6, 2])

    # promises: D6
    def test_a_call_of_save_is_never_put_off(self):
        self.assertEqual([checkpoint.save({"a": n}, n, patience=60) for n in (1, 2, 3)], [True] * 3)
        checkpoint.wait()
        self.assertEqual([one["step"] for one in self.mine.list()], [3, 2, 1])


if __name__ == "__main__":
    unittest.main()
