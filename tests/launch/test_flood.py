"""The end of the log decides, however much comes before it and however slow its reader is."""

import contextlib
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from launch import Launch, python, wait_for  # noqa: E402


class Flood(unittest.TestCase):
    # promises: B11
    def test_the_end_of_a_flood_is_still_read(self):
        code = "import sys\nfor i in range(200_000): print('x' * 200)\nraise MemoryError('here')"
        with Launch(*python(code)) as launch:
            self.assertEqual(launch.wait(90), 1)
            self.assertEqual(launch.last_word()["error"]["type"], "MemoryError")

    # promises: B11
    def test_the_end_of_a_flood_is_read_on_a_busy_machine(self):
        busy = "import time\nend = time.monotonic() + 120\nwhile time.monotonic() < end: pass"
        with contextlib.ExitStack() as stack:
            for _ in range(6):
                process = subprocess.Popen([sys.executable, "-c", busy])
                stack.callback(process.wait)
                stack.callback(process.kill)
            # On both streams, so that the end of one is among lines of the other.
            code = ("import sys\nfor i in range(40_000):\n"
                    "  print('x' * 200)\n  print('y' * 200, file=sys.stderr)\n"
                    "raise MemoryError('here')")
            for _ in range(3):
                with Launch(*python(code)) as launch:
                    self.assertEqual(launch.wait(90), 1)
                    self.assertEqual(launch.last_word()["error"]["type"], "MemoryError")

    # promises: B11
    def test_an_observer_that_sleeps_through_a_flood_reads_its_end(self):
        code = ("import time\nprint('ready'); time.sleep(1)\n"
                "for i in range(20_000): print('x' * 1000)\nraise MemoryError('here')")
        with Launch(*python(code)) as launch:
            launch.said("ready")
            observer = launch.observer()
            os.kill(observer, signal.SIGSTOP)
            wait_for(lambda: "MemoryError" in launch.errors(), 60)
            os.kill(observer, signal.SIGCONT)
            self.assertEqual(launch.wait(), 1)
            self.assertEqual(launch.last_word()["error"]["type"], "MemoryError")


if __name__ == "__main__":
    unittest.main()
