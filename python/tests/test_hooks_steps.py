"""The callbacks with a stand-in for the store: which batches are steps, and what a save that fails
or is skipped does to a run. With the library: test_checkpoint_hooks.py."""

import contextlib
import io
import pathlib
import sys
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from amdahl import job  # noqa: E402
from amdahl.checkpoint import cadence, hooks  # noqa: E402
from test_save_and_wait import FULL  # noqa: E402


def store(**calls) -> mock.Mock:
    """A checkpointer of one rank."""
    return mock.Mock(rank=0, world_size=1, **calls)


def lightning_trainer(step: int = 0) -> types.SimpleNamespace:
    connector = types.SimpleNamespace(dump_checkpoint=lambda weights_only: {})
    return types.SimpleNamespace(global_step=step, max_steps=-1, should_stop=False,
                                 _checkpoint_connector=connector)


class LightningBatches(unittest.TestCase):
    # promises: D7
    def test_batches_that_only_accumulate_gradients_are_no_steps(self):
        for resumed in (0, 100):
            callback = hooks.LightningCallback(store(), 1e9)
            after = mock.patch.object(callback, "_after_step", return_value=False)
            trainer = lightning_trainer(resumed)
            with after as saves, mock.patch.object(job, "step") as told:
                for batch in range(1, 13):  # four to a step
                    callback.on_train_batch_start(trainer, None, None, batch)
                    trainer.global_step += batch % 4 == 0
                    callback.on_train_batch_end(trainer, None, None, None, batch)
            wanted = [resumed + 1, resumed + 2, resumed + 3]
            self.assertEqual([call.args[0] for call in saves.call_args_list], wanted)
            self.assertEqual([call.args[0] for call in told.call_args_list], wanted)


class Ends(unittest.TestCase):
    # promises: D7
    def test_a_run_is_complete_though_its_last_save_failed(self):
        said = io.StringIO()
        own = store(**{"wait.side_effect": FULL})
        with contextlib.redirect_stderr(said):
            control = object()
            self.assertIs(control, hooks.HuggingFaceCallback(own, 1e9).on_train_end(
                None, None, control))
            hooks.LightningCallback(own, 1e9).on_train_end(lightning_trainer(), None)
        self.assertEqual(said.getvalue().count("was not committed: disk full"), 2)


class Pauses(unittest.TestCase):
    # promises: D2
    def test_a_save_that_was_skipped_is_no_pause(self):
        own = store(**{"save.return_value": False, "status.return_value": {"committedStep": 3}})
        callback = hooks.HuggingFaceCallback(own, 1e9)
        with mock.patch.object(cadence, "asked_to_stop", return_value=True), \
                mock.patch.object(cadence.SAVES, "at", None), \
                contextlib.redirect_stderr(io.StringIO()), \
                mock.patch.object(job, "failed") as failed:
            self.assertFalse(callback._after_step(4, dict))  # noqa: SLF001
        self.assertIn("earlier saves are still being written", failed.call_args.args[0])

    def test_a_state_with_a_bug_is_raised(self):
        own = store()
        callback = hooks.HuggingFaceCallback(own, 1e9)
        with mock.patch.object(cadence, "asked_to_stop", return_value=True), \
                self.assertRaises(ZeroDivisionError):
            callback._after_step(4, lambda: {"x": 1 / 0})  # noqa: SLF001
        own.save.assert_not_called()


if __name__ == "__main__":
    unittest.main()
