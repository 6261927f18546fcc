"""When to save: what the operator says later, and one answer for all ranks."""

import pathlib
import sys
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from amdahl.checkpoint import cadence  # noqa: E402


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

    def test_ranks_that_heard_different_intervals_do_what_rank_0_says(self):
        said = []

        class Distributed:
            is_available = is_initialized = staticmethod(lambda: True)
            get_world_size = staticmethod(lambda: 2)
            get_backend = staticmethod(lambda: "gloo")

            @staticmethod
            def broadcast(words, src):
                said.append(list(words))
                words[:] = said[src]

        torch = types.SimpleNamespace(distributed=Distributed,
                                      tensor=lambda words, device: list(words))
        now = [0.0]
        ranks = [cadence.Cadence(clock=lambda: now[0], told=lambda s=s: s) for s in (60.0, 30.0)]
        now[0] = 45.0
        with mock.patch.dict(sys.modules, {"torch": torch}):
            answers = [cadence.agreed(one.due(), False) for one in ranks]
        self.assertEqual(said, [[0, 0], [1, 0]])
        self.assertEqual(answers, [(False, False), (False, False)])


if __name__ == "__main__":
    unittest.main()
