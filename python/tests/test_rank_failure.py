"""A rank that fails while others wait for it: all raise, and soon. Ranks are threads here; by two
processes: test_restore_together.py."""

import itertools
import pathlib
import sys
import threading
import time
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from amdahl import agreement, checkpoint, job, rank_failure  # noqa: E402
from amdahl.checkpoint import pauses, together  # noqa: E402
from test_agreement import Store  # noqa: E402

GONE = checkpoint.CheckpointError("not_found", "no checkpoint is committed in /gone")
QUIET = {"COMPLAIN_SECONDS": 2.0, "WAIT_SECONDS_MAX": 4.0, "HEARD_SECONDS_MAX": 3.0}


class SafeStore(Store):
    """As torch's, which has a thread that answers one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def set(self, key: str, value: str) -> None:
        with self._lock:
            super().set(key, value)

    def add(self, key: str, amount: int) -> int:
        with self._lock:
            return super().add(key, amount)


class RanksCase(unittest.TestCase):
    def setUp(self):
        self.mine = threading.local()
        for name, value in QUIET.items():
            mock.patch.object(agreement, name, value).start()
        mock.patch.object(agreement, "process_group",
                          lambda: getattr(self.mine, "ranks", None)).start()
        # Every rank counts its calls; they all make the first one.
        mock.patch.object(agreement, "_numbers", _FirstCalls()).start()
        mock.patch.object(together, "ranks_of", lambda _: agreement.process_group()).start()
        self.addCleanup(mock.patch.stopall)

    def run_ranks(self, call, size: int = 2) -> list:
        """What call(rank) gives or raises on each of them."""
        store, ended = SafeStore(), [None] * size

        def run(rank: int) -> None:
            self.mine.ranks = types.SimpleNamespace(rank=rank, store=store, size=size)
            try:
                ended[rank] = call(rank)
            except BaseException as error:  # noqa: BLE001: an interrupt too
                ended[rank] = error

        threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
        began = time.monotonic()
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.seconds, self.store = time.monotonic() - began, store
        return ended

    def check(self, ended: list, failed: int, error: BaseException, text: str) -> None:
        self.assertLess(self.seconds, 1.5)
        for rank, one in enumerate(ended):
            if rank == failed:
                self.assertIs(one, error)
                continue
            self.assertIsInstance(one, checkpoint.CheckpointError, ended)
            self.assertIn(text, str(one))


class _FirstCalls(dict):
    def __missing__(self, _):
        return itertools.repeat(0)


def raises(error: BaseException):
    return mock.Mock(side_effect=error)


class Told(RanksCase):
    # promises: D3
    def test_what_rank_0_cannot_find_is_raised_on_all_ranks_with_its_reason(self):
        ended = self.run_ranks(lambda _: agreement.tell_all("load", raises(GONE)), size=3)
        self.check(ended, 0, GONE, f"rank 0 failed in amdahl.checkpoint.load(): {GONE}")
        self.assertEqual([one.code for one in ended], ["not_found"] * 3)

    # promises: D3
    def test_what_another_rank_cannot_read_is_raised_on_all_ranks(self):
        error = checkpoint.CheckpointError("io", "read /data/5: input/output error")

        def load(rank: int):
            return together.newest("load", raises(error) if rank == 2 else lambda *_: (5, "state"))

        self.check(self.run_ranks(load, size=4), 2, error,
                   "rank 2 failed in amdahl.checkpoint.load(): read /data/5")

    # promises: D3
    def test_nobody_waits_for_a_slow_rank_once_another_has_failed(self):
        def say(rank: int) -> bool:
            return agreement.all_say("load", (raises(GONE), lambda: True,
                                              lambda: time.sleep(1.2) or True)[rank])

        began, ended_at = time.monotonic(), {}

        def timed(rank: int) -> bool:
            try:
                return say(rank)
            finally:
                ended_at[rank] = time.monotonic() - began

        self.check(self.run_ranks(timed, size=3), 0, GONE, "rank 0 failed")
        self.assertLess(ended_at[1], 0.8)

    # promises: D3
    def test_ranks_that_fail_at_once_raise_their_own_errors(self):
        errors = [RuntimeError(f"error {rank}") for rank in range(3)]
        ended = self.run_ranks(lambda rank: agreement.all_say(
            "load", raises(errors[rank]) if rank < 2 else lambda: True), size=3)
        self.assertLess(self.seconds, 1.5)
        self.assertEqual(ended[:2], errors[:2])
        self.assertRegex(str(ended[2]), r"rank ([01]) failed in .*: RuntimeError: error \1")

    # promises: D3
    def test_an_interrupt_is_told_and_raised_at_once(self):
        for failed, call in ((0, agreement.tell_all), (0, agreement.all_say),
                             (1, agreement.all_say)):
            error = KeyboardInterrupt()
            ended = self.run_ranks(
                lambda rank: call("load", raises(error) if rank == failed else lambda: 1))
            self.check(ended, failed, error, f"rank {failed} failed in amdahl.checkpoint.load(): "
                                             "KeyboardInterrupt")

    def test_a_long_error_is_told_in_a_few_hundred_characters(self):
        error = checkpoint.CheckpointError("corrupt", "x\n" * 100_000)
        ended = self.run_ranks(lambda _: agreement.tell_all("load", raises(error)))
        self.assertLess(len(str(ended[1])), rank_failure.REASON_MAX + 100)
        self.assertNotIn("\n", str(ended[1]))
        self.assertIs(ended[0], error)

    def test_a_store_that_is_gone_hides_no_error(self):
        def load(_) -> int:
            return agreement.tell_all("load", raises(GONE))

        with mock.patch.object(SafeStore, "set", side_effect=RuntimeError("reset by peer")):
            self.assertIs(self.run_ranks(load, size=1)[0], GONE)

    # promises: D3
    def test_a_healthy_call_costs_the_messages_that_it_did(self):
        self.run_ranks(lambda _: agreement.tell_all("load", lambda: 7), size=1)
        self.assertEqual(self.store.calls, 2)
        self.run_ranks(lambda _: agreement.all_say("load", lambda: True), size=1)
        self.assertEqual(self.store.calls, 4)

    def test_alone_a_process_raises_its_own_error(self):
        for call in (agreement.tell_all, agreement.all_say,
                     lambda _, own: agreement.Question("alone").ask(own)):
            with self.assertRaises(KeyError):
                call("load", raises(KeyError("x")))


class Asked(RanksCase):
    """Questions of every step, which rank 0 answers for all."""

    def ask(self, failed: int, error: BaseException, size: int = 2) -> list:
        """The question is asked until it raises."""
        def ask(rank: int) -> int:
            question = agreement.Question("should_stop", any_rank=True, lasting=True)
            for _ in range(100):
                time.sleep(0.01)
                question.ask(raises(error) if rank == failed else lambda: False)
            return 0

        return self.run_ranks(ask, size)

    # promises: D3
    def test_all_ranks_raise_when_one_fails_at_a_question(self):
        for failed in (0, 1):
            error = RuntimeError("no socket")
            self.check(self.ask(failed, error, size=3), failed, error,
                       f"rank {failed} failed in amdahl.checkpoint.should_stop(): RuntimeError: no")

    # promises: D3
    def test_what_should_stop_cannot_report_is_raised_on_all_ranks(self):
        def stop(rank: int):
            stopping = agreement.Question("should_stop", any_rank=True, lasting=True)
            for _ in range(20):
                time.sleep(0.01)
                own = raises(GONE) if rank == 0 else mock.Mock(return_value=None)
                stopping.ask(lambda own=own: own() or False)

        self.check(self.run_ranks(stop), 0, GONE, "rank 0 failed")
        with mock.patch.object(checkpoint, "_default", mock.Mock(report=raises(GONE))), \
                mock.patch.object(job._stop, "ask", lambda own: own()), \
                self.assertRaises(checkpoint.CheckpointError):  # noqa: SLF001
            checkpoint.should_stop()


class Saved(RanksCase):
    """save_and_wait() of two ranks, by stand-ins for the store."""

    def save(self, saves: tuple, waits: tuple) -> list:
        def run(rank: int) -> bool:
            own = mock.Mock(wait=waits[rank], status=lambda: {"committedStep": 7})
            return pauses.Pauses().save_and_wait(rank_failure.Tried(lambda: own), 7, saves[rank])

        return self.run_ranks(run)

    # promises: D3
    def test_a_bug_in_the_save_of_one_rank_is_raised_on_all(self):
        for failed in (0, 1):
            error, fine = TypeError("odd"), lambda *_: None
            saves = [fine, fine]
            saves[failed] = raises(error)
            self.check(self.save(tuple(saves), (fine, fine)), failed, error,
                       f"rank {failed} failed in amdahl.checkpoint.save_and_wait(): TypeError: odd")

    # promises: D3
    def test_an_error_of_rank_0_while_it_waits_for_the_commit_is_raised_on_all(self):
        error, fine = KeyError("odd"), lambda *_: None
        self.check(self.save((fine, fine), (raises(error), fine)), 0, error, "KeyError")

    # promises: D3
    def test_a_rank_that_cannot_open_its_store_tells_the_others(self):
        for failed in (0, 1):
            def load(rank: int):
                own = rank_failure.Tried(raises(GONE) if rank == failed else lambda: None)
                return together.newest("load", lambda *_: (5, "state"), own)

            self.check(self.run_ranks(load), failed, GONE, f"rank {failed} failed")
            self.check(self.run_ranks(lambda rank: together.all_do(
                "restore_capture", raises(GONE) if rank == failed else lambda: 5,
                rank_failure.Tried(lambda: None))), failed, GONE, f"rank {failed} failed")


if __name__ == "__main__":
    unittest.main()
