"""What is reported, over which wire; and that an operator which misbehaves costs reports only."""

import json
import os
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from launch import Launch, Operator, python, wait_for  # noqa: E402

STUB_TORCHRUN = """
import json, os, subprocess, sys
print(json.dumps({"argv": sys.argv[1:], "env": dict(os.environ)}), flush=True)
with open(os.environ["TORCHELASTIC_ERROR_FILE"], "w") as file:
    json.dump({"message": {"message": "ValueError: bad batch", "extraInfo": {}}}, file)
subprocess.run([sys.executable, "-c", "import time; time.sleep(1.5)"])
sys.exit(1)
"""
STEPS = """
import time
from amdahl import job
time.sleep(0.3)
for n in range(1, 31):
    with job.phase("DataWait"):
        time.sleep(0.03)
    time.sleep(0.03)
    job.step(n, 30, loss=1.0 / n, tokens=10 * n)
for phase in ("CheckpointSave", "Eval"):
    with job.phase(phase):
        time.sleep(0.5)
"""
INTERVALS = """
import os, subprocess, sys, time
from amdahl import checkpoint, job
heard = None
while not job.should_stop():
    if job.checkpoint_interval() != heard:
        heard = job.checkpoint_interval()
        print("every", heard, flush=True)
        if heard == 60:  # due() goes by it, and a process that comes later learns it too
            time.sleep(1.2)
            print("due", checkpoint.due(), flush=True)
            late = "from amdahl import job; import time; job.step(1); time.sleep(1); " \
                   "print('late', job.checkpoint_interval(), flush=True)"
            subprocess.run([sys.executable, "-c", late])
    time.sleep(0.02)
print("stopped", flush=True)
"""


def phases(report):
    return {phase["name"]: phase["seconds"] for phase in report["phases"]}


class Reports(unittest.TestCase):
    def test_an_answer_with_an_interval_reaches_the_trainer(self):
        with Operator() as operator:
            env = {"AMDAHL_REPORT_URL": operator.url, "AMDAHL_CHECKPOINT_INTERVAL_SECONDS": "1"}
            with Launch(*python(INTERVALS), env=env) as launch:
                for told in (832, 10**15, -5, "often", 60):
                    operator.reply = {"reportEverySeconds": 1, "checkpointIntervalSeconds": told}
                    count = len(operator.reports)
                    wait_for(lambda: len(operator.reports) >= count + 2)
                launch.said("late")
                operator.reply = {"request": "Pause", "deadlineSeconds": 30,
                                  "reportEverySeconds": 1, "checkpointIntervalSeconds": 60}
                self.assertEqual(launch.wait(), 0, launch.errors())
                # Out of bounds is cut to what a spec may say; no number changes nothing.
                self.assertEqual(launch.output().splitlines(),
                                 ["every 832.0", "every 2592000.0", "every 1.0", "every 60.0",
                                  "due False", "late 60.0", "stopped"])

    def test_a_report_says_who_and_how_far_and_where_the_time_went(self):
        with Operator() as operator:
            env = {"AMDAHL_REPORT_URL": operator.url, "AMDAHL_JOB_UID": "u1", "AMDAHL_RANK": "3"}
            with Launch(*python(STEPS), env=env) as launch:
                self.assertEqual(launch.wait(), 0, launch.errors())
                word = launch.last_word()
            last = operator.last()
        for report in (last, word):
            self.assertEqual((report["job"], report["jobUid"], report["rank"], report["attempt"]),
                             ("research/llama", "u1", 3, 1))
            self.assertEqual((report["step"], report["totalSteps"]), (30, 30))
            self.assertEqual({m["name"] for m in report["metrics"]}, {"loss", "tokens"})
            self.assertEqual(report["exit"], {"code": 0})
            spent = phases(report)
            busy = sum(spent.values()) - 3.1  # what the machine took besides all sleeps
            for name in ("DataWait", "Train", "CheckpointSave", "Eval"):
                slept = 0.9 if name in ("DataWait", "Train") else 0.5
                self.assertGreaterEqual(spent[name], 0.6 * slept, spent)
                self.assertLessEqual(spent[name], 1.1 * slept + busy, spent)
            self.assertTrue(0.03 <= report["stepSeconds"] <= 0.09 + busy, report)
        sequences = [report["sequence"] for report in operator.reports]
        self.assertEqual(sequences, sorted(set(sequences)))
        self.assertEqual(operator.connections, 1)  # which is kept

    # promises: D8
    def test_a_log_without_a_step_is_unknown_and_not_init(self):
        with Launch(*python("import time\nprint('working'); time.sleep(1)")) as launch:
            self.assertEqual(launch.wait(), 0)
            word = launch.last_word()
        self.assertNotIn("step", word)
        self.assertNotIn("stepSource", word)
        self.assertGreater(phases(word)["Unattributed"], 0.9)
        self.assertNotIn("Init", phases(word))

    # promises: D8
    def test_the_steps_of_an_unknown_program_are_read(self):
        code = ("import time\nfor n in range(0, 50, 10):\n"
                "  print(f'iter {n}: loss {5 - n / 10:.4f}, time 31.16ms, mfu 11.96%')\n"
                "  time.sleep(0.1)\n")
        with Launch(*python(code)) as launch:
            self.assertEqual(launch.wait(), 0)
            word = launch.last_word()
        self.assertEqual((word["step"], word["stepSource"]), (40, "Log"))
        self.assertIn({"name": "loss", "value": "1.0000"}, word["metrics"])
        self.assertGreater(phases(word)["Train"], 0.3)

    def test_progress_is_read_from_a_log(self):
        code = ("import sys,time\nfor n in range(1, 11):\n"
                "  bar = '%3d%%|##   | %d/10 [00:01<00:02, 3.0it/s]' % (n * 10, n)\n"
                "  sys.stderr.write('\\r' + bar)\n"
                "  sys.stderr.flush(); time.sleep(0.05)\n"
                "print(\"{'loss': 0.5, 'epoch': 1.0}\")\n")
        with Launch(*python(code)) as launch:
            self.assertEqual(launch.wait(), 0)
            word = launch.last_word()
        self.assertEqual(word["totalSteps"], 10)
        self.assertGreaterEqual(word["step"], 9)  # the last bar has no end
        self.assertIn({"name": "loss", "value": "0.5"}, word["metrics"])

    def test_the_token_is_read_again_for_every_report(self):
        with Operator() as operator, Launch("sleep", "60") as nothing:
            token = nothing.path / "token"
            token.write_text("one\n")
            env = {"AMDAHL_REPORT_URL": operator.url, "AMDAHL_REPORT_TOKEN": str(token)}
            with Launch("sleep", "60", env=env):
                wait_for(lambda: "Bearer one" in operator.tokens)
                token.write_text("two\n")
                wait_for(lambda: "Bearer two" in operator.tokens)

    def test_over_tls_with_an_authority_of_its_own(self):
        with Launch("true") as folder:
            folder.wait()
            certificate = folder.path / "server.pem"
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                            "-keyout", certificate, "-out", folder.path / "ca.pem"],
                           check=True, capture_output=True)
            certificate.write_text(certificate.read_text() + (folder.path / "ca.pem").read_text())
            with Operator(certificate) as operator:
                env = {"AMDAHL_REPORT_URL": operator.url,
                       "AMDAHL_REPORT_CA": str(folder.path / "ca.pem")}
                with Launch("sleep", "2", env=env) as launch:
                    self.assertEqual(launch.wait(), 0, launch.errors())
                    self.assertEqual(operator.last()["exit"], {"code": 0}, launch.errors())
                count = len(operator.reports)
                with Launch("true", env={"AMDAHL_REPORT_URL": operator.url}) as stranger:
                    self.assertEqual(stranger.wait(), 0)
                    self.assertIn("reports do not arrive", stranger.errors())
                self.assertEqual(len(operator.reports), count)


class Misbehaviour(unittest.TestCase):
    def run_with(self, url, code="exit 3", seconds=15):
        start = time.monotonic()
        with Launch("sh", "-c", code, env={"AMDAHL_REPORT_URL": url}) as launch:
            self.assertEqual(launch.wait(), 3, launch.errors())
            self.assertLess(time.monotonic() - start, seconds)
            self.assertEqual(launch.last_word()["exit"], {"code": 3})
            return launch.errors()

    def test_an_operator_that_refuses_hangs_or_babbles_costs_reports_only(self):
        for mode in ("hang", "garbage", "large", "broken", "empty"):
            with self.subTest(mode), Operator() as operator:
                operator.mode = mode
                said = self.run_with(operator.url, "sleep 1; exit 3")
                self.assertEqual("reports do not arrive" in said, mode != "empty", said)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.run_with(f"http://127.0.0.1:{probe.getsockname()[1]}/x")
        self.run_with("http://no-such-host.invalid/x")

    def test_a_missing_token_costs_reports_only(self):
        with Operator() as operator:
            env = {"AMDAHL_REPORT_URL": operator.url, "AMDAHL_REPORT_TOKEN": "/no/such/file"}
            with Launch("true", env=env) as launch:
                self.assertEqual(launch.wait(), 0)
                self.assertEqual(operator.reports, [])


class Errors(unittest.TestCase):
    def last_word(self, command, **env):
        with Launch(*command, env=env) as launch:
            launch.wait()
            self.assertLessEqual(launch.termination.stat().st_size, 4096)
            return launch.last_word(), launch

    def test_the_first_exception_is_the_last_word(self):
        word, _ = self.last_word(python("def f():\n  raise KeyError('x' * 9000)\nf()"))
        self.assertEqual(word["error"]["kind"], "Exception")
        self.assertEqual(word["error"]["type"], "KeyError")
        self.assertIn("in f", word["error"]["where"])
        self.assertEqual(word["exit"]["code"], 1)

    # promises: D10
    def test_the_peak_of_memory_is_in_the_last_words(self):
        code = ("import os, signal\nkept = b'x' * (300 << 20)\n"
                "os.kill(os.getpid(), signal.SIGKILL)")
        word, _ = self.last_word(python(code))
        self.assertEqual(word["exit"], {"code": 137, "signal": 9})
        self.assertGreater(word["memoryPeakBytes"], 300 << 20)
        # That of the trainer, not of everything in the same cgroup.
        self.assertLess(word["memoryPeakBytes"], 600 << 20)

    def test_a_trainer_that_only_prints_of_a_failure_has_none(self):
        word, _ = self.last_word(python("print('CUDA out of memory'); exit(1)"))
        # The end of the log is passed on as it is, and nothing is concluded from it.
        self.assertEqual((word["error"]["kind"], word["error"]["message"].strip()),
                         ("Unknown", "CUDA out of memory"))
        word, _ = self.last_word(python(
            "import traceback\ntry: 1/0\nexcept Exception: traceback.print_exc()"))
        self.assertNotIn("error", word)

    def test_torchrun_is_put_before_the_script_and_its_error_file_read(self):
        with Launch("true") as folder:
            folder.wait()
            package = folder.path / "torch" / "distributed"
            package.mkdir(parents=True)
            for path in (package.parent / "__init__.py", package / "__init__.py"):
                path.write_text("")
            (package / "run.py").write_text(STUB_TORCHRUN)
            with Operator() as operator:
                env = {"PYTHONPATH": str(folder.path), "AMDAHL_RUNTIME": "DeepSpeed",
                       "PET_NNODES": "2", "PET_NPROC_PER_NODE": "8", "PET_NODE_RANK": "1",
                       "PET_MASTER_ADDR": "localhost", "AMDAHL_HOST_PATTERN": "l-{}.l",
                       "AMDAHL_REPORT_URL": operator.url}
                with Launch(sys.executable, "train.py", "--lr", "1", env=env) as launch:
                    self.assertEqual(launch.wait(), 1, launch.errors())
                    said = json.loads(launch.output())
                    word = launch.last_word()
                self.assertIn("Rendezvous", phases(operator.last()))
                self.assertIn("Unattributed", phases(operator.last()))  # it says nothing
                self.assertNotIn("Init", phases(operator.last()))
        self.assertEqual(said["argv"], ["train.py", "--lr", "1"])
        self.assertEqual(said["env"]["PET_NNODES"], "2")
        self.assertEqual(said["env"]["AMDAHL_RANK"], "1")
        self.assertTrue(said["env"]["AMDAHL_HOSTFILE"].endswith("/hostfile"))
        self.assertEqual(word["error"]["source"], "ErrorFile")
        self.assertEqual(word["error"]["message"], "bad batch")


class Names(unittest.TestCase):
    def test_the_trainer_starts_when_the_gang_has_names(self):
        with Launch("true") as folder:
            folder.wait()
            hosts = folder.path / "hosts"
            hosts.write_text("127.0.0.1 l-1.l\n")
            env = {"PET_NNODES": "3", "PET_NODE_RANK": "0", "AMDAHL_HOST_PATTERN": "l-{}.l",
                   "NSS_WRAPPER_HOSTS": str(hosts)}
            with Launch("echo", "started", env=env) as launch:
                wait_for(lambda: "waiting for 1 of the gang's host names, such as l-2.l"
                         in launch.errors())
                self.assertEqual(launch.output(), "")
                hosts.write_text("127.0.0.1 l-1.l\n127.0.0.1 l-2.l\n")
                self.assertEqual(launch.wait(), 0)
                self.assertIn("started", launch.output())
                self.assertGreater(phases(launch.last_word())["Waiting"], 0.1)

    def test_it_starts_anyway_when_they_do_not_come(self):
        env = {"PET_NNODES": "2", "PET_NODE_RANK": "1", "PET_MASTER_ADDR": "no-such-name.invalid",
               "AMDAHL_HOST_SECONDS": "1"}
        with Launch("echo", "started", env=env) as launch:
            self.assertEqual(launch.wait(), 0)
            self.assertIn("starting anyway", launch.errors())
            self.assertIn("started", launch.output())

    def test_sigterm_ends_the_wait(self):
        env = {"PET_NNODES": "2", "PET_NODE_RANK": "1", "PET_MASTER_ADDR": "no-such-name.invalid"}
        with Launch("echo", "started", env=env) as launch:
            wait_for(lambda: "waiting for" in launch.errors())
            launch.process.terminate()
            self.assertEqual(launch.wait(), 143)
            self.assertEqual(launch.output(), "")
            self.assertEqual(launch.last_word()["exit"]["code"], 143)


if __name__ == "__main__":
    unittest.main()
