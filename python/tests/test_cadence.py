"""When to save: what the operator says later, and a floor."""

import pathlib
import sys
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from amdahl import agreement, job  # noqa: E402
from amdahl.checkpoint import cadence  # noqa: E402
from test_agreement import Store  # noqa: E402


class Followed(unittest.TestCase):
    def test_what_the_operator_says_later_counts_unless_the_script_has_an_interval_of_its_own(self):
        now, told = [100.0], [None]
        with mock.patch.dict("os.environ", {cadence.INTERVAL_VARIABLE: "30"}):
            following = cadence.Cadence(clock=lambda: now[0], told=lambda: told[0])
            own = cadence.Cadence(30, clock=lambda: now[0], told=lambda: told[0])
        seen = []
        # Longer, shorter than what is over already, and nothing new.
        for now[0], told[0] in ((129, None), (130, None), (131, 60.0), (140, 40.0), (141, None)):
            seen.append((following.due(), own.due()))
        self.assertEqual(seen, [(False, False), (True, True), (False, True), (True, True),
                                (True, True)])

    def test_the_interval_begins_again_with_a_save_of_this_process_whichever_way(self):
        now, saves = [100.0], cadence.Saves()
        ones = [cadence.Cadence(10, clock=lambda: now[0], saves=saves) for _ in range(2)]
        seen = []
        for now[0] in (109.9, 110.0, 115.0):
            seen.append([one.due() for one in ones])
        saves.note(115.0)
        for now[0] in (124.9, 125.0):
            seen.append([one.due() for one in ones])
        self.assertEqual(seen, [[False] * 2, [True] * 2, [True] * 2, [False] * 2, [True] * 2])
        ones[0].saved()
        now[0] = 130.0
        self.assertEqual([one.due() for one in ones], [False] * 2)

    # promises: D6
    def test_a_script_that_saves_by_its_own_means_begins_the_interval_by_committed(self):
        now = [100.0]
        with mock.patch.object(cadence.SAVES, "at", None), \
                mock.patch("time.monotonic", lambda: now[0]):
            one = cadence.Cadence(10, clock=lambda: now[0])
            seen = []
            for now[0] in (110.0, 112.0, 119.9, 120.0):
                seen.append(one.due())
                if now[0] == 110.0:
                    job.committed(1, "/ckpt/1")
            self.assertEqual(seen, [True, False, False, True])
            # A checkpointer tells of a commit long after it noted the save.
            job.committed(2, "/ckpt/2", engine={"stallSeconds": 1})
            self.assertEqual(cadence.SAVES.at, 110.0)

    # promises: D3
    def test_what_rank_0_says_is_what_all_do(self):
        said = []
        for rank, own in ((0, True), (1, False)):
            told = mock.Mock(side_effect=lambda _, value, r=rank, **__:
                             value() if r == 0 else said[0])
            with mock.patch.object(cadence.agreement, "tell_all", told):
                said.append(cadence.agreed("save_and_wait", lambda own=own: own))
        self.assertEqual(said, [True, True])

    # promises: D6
    def test_two_saves_are_at_least_a_second_apart_whatever_their_outcome(self):
        now, saves = [0.0], cadence.Saves()
        for saved in (True, False):
            one = cadence.Cadence(0.001, clock=lambda: now[0], saves=saves)
            answers = 0
            for _ in range(1000):  # ten seconds
                now[0] += 0.01
                if one.due():
                    answers += 1
                    if saved:
                        saves.note(now[0])
            self.assertIn(answers, (9, 10), saved)

    # promises: D6
    def test_ranks_agree_on_the_floor_though_their_clocks_differ(self):
        store, now = Store(), [0.0]
        ones = [cadence.Cadence(1e9, clock=lambda skew=skew: now[0] + skew * now[0],
                                saves=cadence.Saves()) for skew in (0.0, 50.0)]
        answers = []
        for _ in range(50):  # ten seconds
            now[0] += 0.2
            row = []
            for rank, one in enumerate(ones):
                one._apart_question._name = "amdahl/every_steps"  # noqa: SLF001: one each process
                ranks = types.SimpleNamespace(rank=rank, store=store)
                with mock.patch.object(agreement, "process_group", lambda r=ranks: r):
                    row.append(one.asked_apart())
            answers.append(row)
        self.assertTrue(all(one == other for one, other in answers), answers)
        self.assertIn(sum(one for one, _ in answers), range(8, 11))


if __name__ == "__main__":
    unittest.main()
