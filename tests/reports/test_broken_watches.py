"""Watches that break off are opened again, and counted."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from report_world import ReportWorld, wait_for  # noqa: E402
from tap import Tap  # noqa: E402


def restarts(resource: str) -> str:
    return f'amdahl_watch_restarts_total{{resource="{resource}"}}'


class BrokenWatches(unittest.TestCase):
    # promises: B9
    def test_a_watch_that_breaks_off_is_counted_and_opened_again(self):
        world = ReportWorld()
        self.addCleanup(world.close)
        world.make_namespace("default")
        tap = Tap(world.server.port)
        self.addCleanup(tap.close)
        operator = world.operator("--no-leader-election", server_port=tap.port)
        world.submit("default", "before")
        wait_for(lambda: world.pod("default", "before-1-0"))
        for number in range(1, 4):
            before = {kind: operator.metric(restarts(kind)) for kind in ("trainingjobs", "pods")}
            self.assertEqual(tap.cut("/trainingjobs?"), 1)
            wait_for(lambda: operator.metric(restarts("trainingjobs")) > before["trainingjobs"],
                     lambda: operator.probe("/metrics")[1])
            # One was cut: the other watches went on.
            self.assertEqual(operator.metric(restarts("pods")), before["pods"])
            # What comes after it is seen.
            world.submit("default", f"after{number}")
            wait_for(lambda: world.pod("default", f"after{number}-1-0"))


if __name__ == "__main__":
    unittest.main()
