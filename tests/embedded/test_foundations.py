"""The suite of the foundations (tests/runtime) on the embedded API server.

Not here: a user without rights, as every token of this server may do everything, and an old etcd.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from embedded import EmbeddedServer  # noqa: E402
from leadership_case import LeadershipCase  # noqa: E402
from watch_case import WatchCase  # noqa: E402


class Watch(WatchCase, unittest.TestCase):
    @classmethod
    def start_server(cls):
        return EmbeddedServer().up()


class Leadership(LeadershipCase, unittest.TestCase):
    @classmethod
    def start_server(cls):
        return EmbeddedServer().up()


if __name__ == "__main__":
    unittest.main()
