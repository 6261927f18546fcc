"""checkpoint.save_and_wait(): what it says of a pause whose save fails, with a stand-in for the
store. By two real ranks: test_restore_together.py; by a recipe on a cluster: tests/real_scripts."""

import contextlib
import io
import pathlib
import pickle
import sys
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from amdahl import agreement, checkpoint, job  # noqa: E402
from amdahl.checkpoint import cadence, pauses  # noqa: E402
from test_agreement import Store  # noqa: E402

FULL = checkpoint.CheckpointError("unavailable", "disk full")


class CheckpointException(BaseException):
    """As torch's, which is no Exception."""

    def __init__(self, failures: dict) -> None:
        super().__init__("CheckpointException ranks: 0")
        self.failures = failures


class Saved:
    """What save_and_wait() asks of a checkpointer, whose store works unless told otherwise."""

    def __init__(self, fails: Exception | None = None, committed: int | None = None) -> None:
        self.fails, self.committed = fails, committed
        self.waited = 0

    def wait(self, seconds: float) -> None:
        self.waited += 1
        if self.fails:
            raise self.fails

    def status(self) -> dict:
        return {} if self.committed is None else {"committedStep": self.committed}

    def report(self, **_) -> None:
        pass


class Case(unittest.TestCase):
    def setUp(self):
        self.told = mock.patch.object(job, "failed").start()
        self.said = io.StringIO()
        mock.patch.object(checkpoint, "_pauses", pauses.Pauses()).start()
        mock.patch.object(cadence.SAVES, "at", None).start()
        self.addCleanup(mock.patch.stopall)

    def save(self, own: Saved, save, step: int = 7) -> bool:
        with contextlib.redirect_stderr(self.said):
            return checkpoint.save_and_wait(save, step, own)

    def failing(self, error: BaseException):
        return mock.Mock(side_effect=error)


class Outcomes(Case):
    # promises: D2
    def test_the_step_that_was_saved_is_committed(self):
        for result in (True, None, object()):  # as save(), a function without a result, dcp.save()
            self.assertTrue(self.save(Saved(committed=7), lambda r=result: r))
        self.told.assert_not_called()

    # promises: D2
    def test_what_is_not_committed_is_told_with_its_reason_and_raises_nothing(self):
        of_dcp = CheckpointException({0: (FULL, []), 1: (FULL, [])})
        for own, save, why in (
                (Saved(committed=5), self.failing(FULL), "disk full"),
                (Saved(fails=FULL, committed=5), lambda: True, "disk full"),
                (Saved(committed=5), self.failing(of_dcp), "rank 0: disk full; rank 1: disk full"),
                (Saved(committed=5), lambda: False, "earlier saves are still being written"),
                (Saved(committed=5), lambda: True, "the newest that is committed is 5"),
                (Saved(), lambda: True, "the newest that is committed is None")):
            self.assertFalse(self.save(own, save), why)
            self.assertRegex(self.told.call_args.args[0], f"^checkpoint of step 7: .*{why}")
            self.assertIn(why, self.said.getvalue())

    def test_a_bug_in_the_script_is_raised(self):
        for error in (TypeError("cannot be saved"), KeyboardInterrupt(),
                      CheckpointException({0: (FULL, []), 1: (TypeError("odd"), [])})):
            with self.assertRaises(type(error)):
                self.save(Saved(committed=7), self.failing(error))

    def test_ranks_can_send_each_other_the_error_of_a_store(self):
        again = pickle.loads(pickle.dumps(FULL))  # noqa: S301
        self.assertEqual((again.code, str(again)), ("unavailable", "disk full"))


class Ranks(Case):
    def save_on(self, rank: int, store: Store, own: Saved, save) -> bool:
        """As one of two processes that share a store; the other is played before or after it."""
        ranks = types.SimpleNamespace(rank=rank, store=store, size=2)
        with mock.patch.object(agreement, "process_group", lambda: ranks), \
                mock.patch.object(agreement, "HEARD_SECONDS_MAX", 0), \
                mock.patch.dict(agreement._numbers, clear=True):  # noqa: SLF001
            return self.save(own, save)

    # promises: D2, D3
    def test_no_rank_waits_for_a_part_that_another_could_not_save(self):
        store, own = Store(), Saved(committed=5)
        key = "amdahl/save_and_wait-all/0"
        store.add(f"{key}/no", 1)  # rank 1 has said so
        store.add(f"{key}/said", 1)
        self.assertFalse(self.save_on(0, store, own, lambda: True))
        self.assertEqual(own.waited, 0)
        self.assertIn("another rank could not save", self.told.call_args.args[0])

    def test_what_rank_0_knows_is_what_all_answer(self):
        for committed, answer in ((7, True), (5, False)):
            store = Store()
            store.add("amdahl/save_and_wait-all/0/said", 1)  # rank 1 has saved its part
            said = self.save_on(0, store, Saved(committed=committed), lambda: True)
            heard = self.save_on(1, store, Saved(committed=None if answer else 7), lambda: True)
            self.assertEqual((said, heard), (answer, answer))


class AfterARefusal(Case):
    def asked(self, stop: bool, due: bool = False) -> bool:
        with mock.patch.object(job, "should_stop", return_value=stop), \
                mock.patch.object(checkpoint._cadence, "asked", return_value=due):  # noqa: SLF001
            return checkpoint.should_stop()

    # promises: D2
    def test_should_stop_is_no_until_a_save_is_due_or_the_launcher_asks_again(self):
        self.assertTrue(self.asked(True))
        self.save(Saved(fails=FULL), lambda: True)
        self.assertEqual([self.asked(True, due) for due in (False, False, True, False)],
                         [False, False, True, False])
        self.assertFalse(self.asked(False))
        self.assertTrue(self.asked(True))

    # promises: D2
    def test_no_usual_save_is_due_until_the_pause_is_taken_back(self):
        def due() -> bool:
            with mock.patch.object(checkpoint._cadence, "asked", return_value=True):  # noqa: SLF001
                return checkpoint.due()

        self.assertTrue(due())
        self.assertTrue(self.asked(True))
        self.save(Saved(fails=FULL), lambda: True)
        self.assertFalse(self.asked(True))
        self.assertFalse(due(), "its commit would pass for that of the pause")
        self.assertFalse(self.asked(False))
        self.assertTrue(due())

    def test_a_usual_save_that_failed_refuses_no_pause(self):
        self.assertFalse(self.asked(False))
        self.save(Saved(fails=FULL), lambda: True)
        self.assertTrue(self.asked(True))

    def test_the_next_try_is_when_the_interval_is_over_again(self):
        self.save(Saved(fails=FULL), lambda: True)
        self.assertIsNotNone(cadence.SAVES.at)


if __name__ == "__main__":
    unittest.main()
