"""Leadership with a real API server."""

import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cluster")]

import testbed  # noqa: E402
from leadership_case import LeadershipCase  # noqa: E402


class Leadership(LeadershipCase, unittest.TestCase):
    @classmethod
    def start_server(cls):
        return testbed.Cluster(f"lead-{os.getpid()}").up()


if __name__ == "__main__":
    unittest.main()
