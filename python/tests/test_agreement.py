"""One answer for all ranks: what is sent, what is heard, and how often."""

import io
import pathlib
import sys
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from amdahl import agreement  # noqa: E402


class Store:
    """As torch's, in one process."""

    def __init__(self) -> None:
        self.values: dict = {}
        self.calls = 0

    def set(self, key: str, value: str) -> None:
        self.calls += 1
        self.values[key] = value.encode()

    def get(self, key: str) -> bytes:
        self.calls += 1
        return self.values[key]

    def add(self, key: str, amount: int) -> int:
        self.calls += 1
        value = int(self.values.get(key, b"0")) + amount
        self.values[key] = str(value).encode()
        return value

    def delete_key(self, key: str) -> bool:
        return self.values.pop(key, None) is not None


class Rank:
    """A process with a clock of its own, in which a step takes so long."""

    def __init__(self, rank: int, store: Store, step_seconds: float = 0.01, **kind) -> None:
        self.rank, self.store, self.step_seconds = rank, store, step_seconds
        self.now = 1000.0 * rank
        self.question = agreement.Question("test", clock=lambda: self.now, sleep=self.sleep, **kind)
        self.question._name = "amdahl/test"  # noqa: SLF001: the same in all processes

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def ask(self, own=lambda: False) -> bool:
        self.now += self.step_seconds
        ranks = types.SimpleNamespace(rank=self.rank, store=self.store)
        with mock.patch.object(agreement, "process_group", lambda: ranks):
            return self.question.ask(own)


class Agreed(unittest.TestCase):
    def setUp(self):
        self.store = Store()

    # promises: D3
    def test_all_ranks_hear_what_rank_0_says_at_the_same_question(self):
        zero, one = Rank(0, self.store), Rank(1, self.store, step_seconds=0.5)
        said = [zero.ask(lambda n=n: n > 40) for n in range(60)]
        heard = [one.ask(lambda: self.fail("nobody asks rank 1")) for _ in range(60)]
        self.assertEqual(said, heard)
        self.assertIn(True, said)
        self.assertFalse(any(said[:41]))

    # promises: D3
    def test_one_rank_that_was_asked_to_stop_stops_all_at_one_question(self):
        ranks = [Rank(n, self.store, any_rank=True, lasting=True) for n in range(3)]
        answers = [[rank.ask(lambda r=rank, n=n: r.rank == 2 and 30 <= n < 70) for rank in ranks]
                   for n in range(120)]
        self.assertTrue(all(len(set(row)) == 1 for row in answers), answers)
        stops = [n for n, row in enumerate(answers) if row[0]]
        self.assertLessEqual(30, stops[0])
        self.assertLessEqual(stops[0], 30 + 2 * agreement.GAP_MAX)
        # Taken back: it holds until then without a gap, and not after.
        self.assertEqual(stops, list(range(stops[0], stops[-1] + 1)))
        self.assertLessEqual(stops[-1], 71)

    def test_a_lasting_answer_holds_between_two_answers_and_another_is_given_once(self):
        for lasting in (True, False):
            zero = Rank(0, Store(), step_seconds=0.01, lasting=lasting)
            answers = [zero.ask(lambda: True) for _ in range(3)]
            self.assertEqual(answers, [True] * 3)  # after a yes rank 0 answers every question
            with mock.patch.object(zero.question, "_next", 10):
                self.assertEqual(zero.ask(lambda: True), lasting)

    # promises: D3
    def test_fast_steps_send_little_and_slow_ones_are_answered_each(self):
        fast = Rank(0, self.store, step_seconds=0.02)
        for _ in range(1000):  # 20 seconds
            fast.ask()
        self.assertLess(self.store.calls, 300)
        slow, calls = Rank(0, Store(), step_seconds=1.0), []
        for _ in range(20):
            before = slow.store.calls
            slow.ask()
            calls.append(slow.store.calls - before)
        self.assertTrue(all(calls), calls)

    def test_rank_0_waits_for_nobody_and_the_store_stays_small(self):
        zero = Rank(0, self.store, step_seconds=10)
        for _ in range(3 * agreement.ANSWERS_MAX):
            zero.ask()
        self.assertLessEqual(len(self.store.values), agreement.ANSWERS_MAX + 2)

    # promises: D3
    def test_a_rank_that_waits_says_for_whom_within_a_minute_and_gives_up_after_half_an_hour(self):
        one = Rank(1, self.store)
        with mock.patch("sys.stderr", io.StringIO()) as said, self.assertRaises(TimeoutError):
            one.ask()
        lines = said.getvalue().splitlines()
        self.assertRegex(lines[0], r"rank 1 has waited 30 s for rank 0 in test\(\): rank 0 stands")
        self.assertLess(len(lines), 10)
        self.assertLess(one.now, 1000 + agreement.WAIT_SECONDS_MAX + 1)

    def test_a_store_that_is_gone_gives_no_and_says_so_once(self):
        zero = Rank(0, self.store)
        with mock.patch.object(self.store, "set", side_effect=RuntimeError("reset by peer")), \
                mock.patch("sys.stderr", io.StringIO()) as said:
            self.assertEqual([zero.ask(lambda: True) for _ in range(50)], [False] * 50)
        self.assertEqual(said.getvalue().count("reset by peer"), 1)

    def test_a_new_process_group_begins_again(self):
        zero = Rank(0, self.store)
        for _ in range(20):
            zero.ask()
        zero.store = Store()
        one = Rank(1, zero.store)
        self.assertEqual([(zero.ask(lambda: True), one.ask()) for _ in range(5)],
                         [(True, True)] * 5)

    def test_alone_a_process_answers_for_itself(self):
        with mock.patch.object(agreement, "process_group", lambda: None):
            question = agreement.Question("alone")
            self.assertEqual([question.ask(lambda n=n: n == 1) for n in range(3)],
                             [False, True, False])
            self.assertEqual(agreement.tell_all("alone", lambda: 7), 7)

    def test_what_rank_0_found_is_told_to_the_others(self):
        told = []
        for rank in range(2):
            ranks = types.SimpleNamespace(rank=rank, store=self.store)
            with mock.patch.object(agreement, "process_group", lambda r=ranks: r), \
                    mock.patch.object(agreement, "_numbers", {"load": iter([0])}):
                told.append(agreement.tell_all("load", lambda: 31 if rank == 0 else self.fail()))
        self.assertEqual(told, [31, 31])

    # promises: D3
    def test_a_call_that_other_ranks_do_not_make_says_so_and_ends(self):
        now = [0.0]
        ranks = types.SimpleNamespace(rank=0, store=self.store, size=2)
        said = io.StringIO()
        with mock.patch.object(agreement, "_numbers", {"load-all": iter([0])}), \
                mock.patch("time.monotonic", lambda: now[0]), \
                mock.patch("time.sleep", lambda seconds: now.__setitem__(0, now[0] + seconds)), \
                mock.patch("sys.stderr", said), self.assertRaises(TimeoutError):
            agreement.all_say("load", lambda: True, ranks=ranks)
        self.assertEqual(said.getvalue().count("every rank must make this call"), 1)

    # promises: D7
    def test_rank_0_does_not_end_before_the_others_have_heard_it(self):
        """Without torchrun the store is in the process of rank 0."""
        heard = []

        def tell(rank: int) -> int:
            ranks = types.SimpleNamespace(rank=rank, store=self.store, size=2)
            with mock.patch.object(agreement, "process_group", lambda: ranks), \
                    mock.patch.object(agreement, "_numbers", {"agreed": iter([0])}):
                return agreement.tell_all("agreed", lambda: 1, ends=True)

        with mock.patch("time.sleep", lambda _: heard.append(tell(1))):
            self.assertEqual(tell(0), 1)
        self.assertEqual(heard, [1])

    def test_rank_0_waits_for_a_rank_that_died_no_longer_than_it_must(self):
        now = [0.0]
        ranks = types.SimpleNamespace(rank=0, store=self.store, size=2)

        def sleep(seconds: float) -> None:
            now[0] += seconds

        with mock.patch.object(agreement, "process_group", lambda: ranks), \
                mock.patch("time.sleep", sleep), mock.patch("time.monotonic", lambda: now[0]):
            self.assertEqual(agreement.tell_all("agreed", lambda: 1, ends=True), 1)
        self.assertAlmostEqual(now[0], agreement.HEARD_SECONDS_MAX, delta=1)


if __name__ == "__main__":
    unittest.main()
