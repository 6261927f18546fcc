"""The launcher as the first process: exit codes, signals, orphans, output, no observer."""

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from launch import PROGRAM, Launch, children_of, python, state_of, wait_for  # noqa: E402

TERM_HANDLER = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print("saved", flush=True), sys.exit(5)))
print("ready", flush=True)
time.sleep(60)
"""


class ExitCodes(unittest.TestCase):
    def check(self, command, code, **last_word):
        with Launch(*command) as launch:
            self.assertEqual(launch.wait(), code, launch.errors())
            word = launch.last_word()
            self.assertEqual(word["exit"]["code"], code)
            for key, value in last_word.items():
                self.assertEqual(word[key]["kind"], value)
            return launch.errors()

    def test_a_trainer_s_exit_code_is_ours(self):
        for code in (0, 1, 7, 255):
            self.check(["sh", "-c", f"exit {code}"], code)

    def test_a_signal_is_128_and_its_number(self):
        self.check(["sh", "-c", "kill -SEGV $$"], 128 + signal.SIGSEGV)
        self.check(["sh", "-c", "kill -KILL $$"], 128 + signal.SIGKILL)

    def test_a_command_that_is_not_there_gives_127_and_says_so(self):
        said = self.check(["no-such-program"], 127, error="CommandNotFound")
        self.assertIn("no-such-program: not found in PATH", said)
        self.check(["/no/such/program"], 127, error="CommandNotFound")

    def test_a_file_that_cannot_be_executed_gives_126(self):
        self.check(["/etc/passwd"], 126, error="NotExecutable")

    def test_a_missing_interpreter_gives_126(self):
        with Launch() as nothing:
            self.assertEqual(nothing.wait(), 127)
            script = nothing.path / "script"
            script.write_text("#!/no/such/interpreter\n")
            script.chmod(0o755)
            said = self.check([script], 126, error="NotExecutable")
            self.assertIn("interpreter", said)

    def test_other_ways_to_call_it(self):
        for arguments, code in ((["version"], 0), (["--help"], 0), ([], 2), (["dance"], 2)):
            done = subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=20)
            self.assertEqual(done.returncode, code)
            self.assertTrue(done.stdout or done.stderr)

    def test_variables_among_the_arguments_lie_over_the_environment(self):
        launch = Launch("sh", "-c", 'echo "$AMDAHL_JOB $PET_NODE_RANK $(PET_NODE_RANK)$(date +)"',
                        env={"PET_NODE_RANK": "9"})
        launch.command[2:2] = ["--env=PET_NODE_RANK=3", "--env=AMDAHL_JOB=a/b=c"]
        with launch:
            self.assertEqual(launch.wait(), 0)
            self.assertEqual(launch.out.read_text(), "a/b=c 3 3\n")

    def test_a_bad_environment_stops_nobody(self):
        env = {"AMDAHL_REPORT_URL": "nonsense", "PET_NNODES": "x", "AMDAHL_METRICS_PORT": "99999",
               "AMDAHL_SOCKET": "/no/such/folder/socket", "AMDAHL_TERMINATION_LOG": "/no/such/file",
               "TMPDIR": "/no/such/folder"}
        with Launch("sh", "-c", "exit 3", env=env) as launch:
            self.assertEqual(launch.wait(), 3)
            self.assertIn("AMDAHL_REPORT_URL=nonsense", launch.errors())


class Signals(unittest.TestCase):
    def test_sigterm_reaches_the_trainer_and_its_exit_code_us(self):
        with Launch(*python(TERM_HANDLER)) as launch:
            launch.said("ready")
            launch.signal(signal.SIGTERM)
            self.assertEqual(launch.wait(), 5)
            self.assertIn("saved", launch.output())

    def test_a_shell_around_the_trainer_does_not_swallow_it(self):
        with Launch("sh", "-c", '"$0" -c "$1"; exit $?', sys.executable, TERM_HANDLER) as launch:
            launch.said("ready")
            launch.signal(signal.SIGTERM)
            self.assertEqual(launch.wait(), 5)

    def test_a_trainer_that_ignores_sigterm_is_killed_within_the_grace_period(self):
        code = "import signal,time; signal.signal(15, signal.SIG_IGN); print('ready');" \
               "time.sleep(60)"
        with Launch(*python(code), grace=4) as launch:
            launch.said("ready")
            start = time.monotonic()
            launch.signal(signal.SIGTERM)
            self.assertEqual(launch.wait(), 137)
            self.assertLess(time.monotonic() - start, 4)
            word = launch.last_word()
            self.assertEqual(word["exit"], {"code": 137, "signal": 9})
            self.assertEqual(word["phase"], "Stopping")

    def test_user_signals_go_to_who_catches_them_and_kill_nobody(self):
        with Launch("sleep", "60") as launch:
            trainer = wait_for(lambda: [p for p in launch.children() if p != launch.observer()])
            launch.signal(signal.SIGUSR1)
            launch.signal(signal.SIGHUP)
            time.sleep(0.5)
            self.assertIsNone(launch.process.poll())
            self.assertNotIn(state_of(trainer[0]), "Z")
        code = "import signal,sys,time; signal.signal(10, lambda *_: sys.exit(9));" \
               "print('ready'); time.sleep(60)"
        with Launch(*python(code)) as launch:
            launch.said("ready")
            launch.signal(signal.SIGUSR1)
            self.assertEqual(launch.wait(), 9)


class Orphans(unittest.TestCase):
    def test_orphans_are_reaped_while_the_trainer_runs(self):
        orphans = "for i in 1 2 3 4 5 6 7 8; do (sleep 0.1 &) ; done; sleep 2; echo done; sleep 60"
        with Launch("sh", "-c", orphans) as launch:
            launch.said("done")
            children = launch.children()
            self.assertEqual(len(children), 2, children)  # the observer and the trainer
            self.assertNotIn("Z", [state_of(pid) for pid in children])

    def test_what_outlives_the_trainer_is_killed_and_does_not_hold_the_end(self):
        code = "(setsid sleep 300 & echo $!); exit 4"
        with Launch("sh", "-c", code) as launch:
            self.assertEqual(launch.wait(10), 4)
            orphan = int(launch.output())
            wait_for(lambda: state_of(orphan) in ("", "Z"), 5)

    def test_sigterm_ends_processes_in_sessions_of_their_own(self):
        code = "setsid sleep 300 & echo $!; trap '' TERM; while :; do sleep 0.1; done"
        with Launch("sh", "-c", code, grace=3) as launch:
            wait_for(launch.output)
            launch.signal(signal.SIGTERM)
            launch.wait(10)
            orphan = int(launch.output().split()[0])
            wait_for(lambda: state_of(orphan) in ("", "Z"), 5)


class Output(unittest.TestCase):
    def test_every_byte_arrives_unchanged_on_its_own_stream(self):
        code = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 4096);" \
               "sys.stderr.buffer.write(b'\\xff\\0no newline')"
        with Launch(*python(code)) as launch:
            self.assertEqual(launch.wait(), 0)
            self.assertEqual(launch.out.read_bytes(), bytes(range(256)) * 4096)
            self.assertEqual(launch.err.read_bytes(), b"\xff\0no newline")

    def test_order_stays_where_both_streams_are_one(self):
        code = "import os\nfor i in range(2000): os.write(1 + i % 2, b'%d\\n' % i)"
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with Launch(*python(code), streams=streams) as launch:
            out, _ = launch.process.communicate(timeout=30)
            self.assertEqual(out.split(), [b"%d" % i for i in range(2000)])

    def test_a_log_that_is_not_read_holds_the_trainer_and_signals_still_work(self):
        code = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with Launch(*python(code), streams=streams, grace=2) as launch:

            def rests():  # once the pipe is full, which takes its time on a loaded machine
                used = cpu_seconds(launch.process.pid)
                time.sleep(1)
                return cpu_seconds(launch.process.pid) - used < 0.1

            wait_for(lambda: launch.children())
            wait_for(rests)
            launch.signal(signal.SIGTERM)
            self.assertIn(launch.wait(10), (137, 143))
            launch.process.stdout.close()

    def test_a_log_that_is_gone_does_not_end_the_trainer(self):
        code = "import sys\nfor i in range(1000): print('x' * 1000)\nsys.exit(6)"
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with Launch(*python(code), streams=streams) as launch:
            launch.process.stdout.close()
            self.assertEqual(launch.wait(), 6)


class WithoutObserver(unittest.TestCase):
    def test_the_trainer_runs_on_when_the_observer_is_killed(self):
        code = "import time; print('ready'); time.sleep(2); print('done'); exit(3)"
        with Launch(*python(code)) as launch:
            launch.said("ready")
            os.kill(launch.observer(), signal.SIGKILL)
            self.assertEqual(launch.wait(), 3)
            self.assertIn("done", launch.output())
            self.assertIn("unreported", launch.errors())
            self.assertEqual(launch.last_word()["exit"], {"code": 3})

    def test_the_trainer_runs_on_while_the_observer_stands_still(self):
        code = "for i in range(20_000): print('x' * 1000)\nexit(3)"
        with Launch(*python("import time; print('ready'); time.sleep(1)\n" + code)) as launch:
            launch.said("ready")
            observer = launch.observer()
            os.kill(observer, signal.SIGSTOP)
            start = time.monotonic()
            self.assertEqual(launch.wait(), 3)
            self.assertLess(time.monotonic() - start, 15)
            self.assertEqual(launch.out.stat().st_size, 20_000 * 1001 + len("ready\n"))
            self.assertEqual(launch.last_word()["exit"], {"code": 3})
            wait_for(lambda: state_of(observer) in ("", "Z"), 5)

    def test_nothing_of_ours_is_left_behind(self):
        with Launch("true") as launch:
            self.assertEqual(launch.wait(), 0)
            left = sorted(path.name for path in launch.path.iterdir())
            self.assertEqual(left, ["err", "out", "termination-log"])
            self.assertEqual(children_of(launch.process.pid), [])


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    unittest.main()
