"""The example controller does what its first comment says, against a real API server."""

import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cluster")]

import testbed  # noqa: E402
from example_case import ExampleCase  # noqa: E402


class MirrorController(ExampleCase, unittest.TestCase):
    def start_server(self):
        return testbed.Cluster(f"example-{os.getpid()}").up()


if __name__ == "__main__":
    unittest.main()
