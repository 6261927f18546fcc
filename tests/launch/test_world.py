"""What a command means with Torchrun and DeepSpeed, and that a world of the wrong size fails."""

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from launch import Launch, Operator, wait_for  # noqa: E402

STUB_TORCHRUN = """
import os, subprocess, sys
print("torchrun", *sys.argv[1:], flush=True)
size = int(os.environ["PET_NNODES"]) * int(os.environ["PET_NPROC_PER_NODE"])
for local in range(int(os.environ["PET_NPROC_PER_NODE"])):
    variables = {**os.environ, "RANK": str(local), "WORLD_SIZE": str(size)}
    command = ["-m" if word == "--module" else word for word in sys.argv[1:]]
    subprocess.run([sys.executable, *command], env=variables, check=True)
"""


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="amdahl-world-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        package = self.folder / "torch/distributed"
        package.mkdir(parents=True)
        for path in (package.parent / "__init__.py", package / "__init__.py"):
            path.write_text("")
        (package / "run.py").write_text(STUB_TORCHRUN)
        self.script = self.folder / "train.py"
        self.script.write_text("import os; print('rank', os.environ.get('RANK'))\n")

    def run_command(self, *command, runtime="Torchrun", nodes=1, processes=2, **env):
        """The exit code, the last word and what was printed."""
        variables = {"AMDAHL_RUNTIME": runtime, "PET_NNODES": str(nodes),
                     "PET_NPROC_PER_NODE": str(processes), "PYTHONPATH": str(self.folder), **env}
        with Launch(*command, env=variables) as launch:
            code = launch.wait()
            return code, launch.last_word(), launch.output(), launch.errors()

    # promises: D1
    def test_a_script_is_started_by_torchrun_whether_it_is_executable_or_not(self):
        for mode in (0o644, 0o755):
            self.script.chmod(mode)
            for command in ([self.script, "--lr", "1"], [sys.executable, self.script, "--lr", "1"]):
                for runtime in ("Torchrun", "DeepSpeed"):
                    with self.subTest(mode=mode, command=command, runtime=runtime):
                        code, _, out, errors = self.run_command(*command, runtime=runtime)
                        self.assertEqual(code, 0, errors)
                        self.assertEqual(out.split(), ["torchrun", str(self.script), "--lr", "1",
                                                       "rank", "0", "rank", "1"])

    # promises: D1
    def test_a_module_keeps_its_arguments(self):
        for command in (["-m", "train", "cfg.yaml"], ["-mtrain", "cfg.yaml"],
                        ["-umtrain", "cfg.yaml"]):
            with self.subTest(command=command):
                code, _, out, errors = self.run_command(sys.executable, *command)
                self.assertEqual(code, 0, errors)
                self.assertEqual(out.split()[:4], ["torchrun", "--module", "train", "cfg.yaml"])

    # promises: D1
    def test_a_command_without_ranks_is_no_success(self):
        for command in (["true"], ["sh", "-c", "sleep 0.3"]):
            with self.subTest(command=command):
                code, word, _, errors = self.run_command(*command)
                self.assertEqual((code, word["exit"]["code"]), (126, 126), errors)
                self.assertEqual((word["error"]["kind"], word["error"]["source"]),
                                 ("NoWorld", "Process"))
                self.assertIn("needs a world of 2", word["error"]["message"])
                self.assertIn("[train.py]", errors)

    # promises: D1
    def test_ranks_of_another_world_are_no_success(self):
        code, word, _, errors = self.run_command(
            "sh", "-c", "RANK=0 WORLD_SIZE=2 sleep 0.5", nodes=2)
        self.assertEqual(code, 126, errors)
        self.assertIn("a world of 2 instead of 4", word["error"]["message"])

    # promises: D1
    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv")
    def test_a_world_of_another_user_is_not_judged(self):
        # As in a container, whose root may not look into the processes of others.
        left = "-all,+setuid,+setgid,+setpcap,+kill,+dac_override"
        unprivileged = ["setpriv", "--bounding-set", left, "--inh-caps", "-all"]
        other = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        env = {"AMDAHL_RUNTIME": "Torchrun", "PET_NPROC_PER_NODE": "2"}
        command = [*other, "sh", "-c", "RANK=0 WORLD_SIZE=2 sleep 0.5"]
        with Launch(*command, env=env, through=unprivileged) as launch:
            self.assertEqual(launch.wait(), 0, launch.errors())

    # promises: D1
    def test_what_has_its_world_or_needs_none_ends_as_it_ended(self):
        for command, options in (
                (["sh", "-c", "RANK=1 WORLD_SIZE=4 sleep 0.5"], {"nodes": 2}),
                (["sh", "-c", "sleep 0.2"], {"processes": 1}),
                (["true"], {"runtime": "Python", "nodes": 4}),
                (["sh", "-c", "exit 7"], {})):
            with self.subTest(command=command):
                code, word, _, errors = self.run_command(*command, **options)
                self.assertEqual(code, 7 if "exit 7" in command else 0, errors)
                self.assertNotEqual(word.get("error", {}).get("kind"), "NoWorld")

    # promises: D1
    def test_a_trainer_that_was_asked_to_end_needs_no_world(self):
        with Operator() as operator:
            env = {"AMDAHL_RUNTIME": "Torchrun", "PET_NPROC_PER_NODE": "2",
                   "AMDAHL_REPORT_URL": operator.url}
            code = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.1; done"
            with Launch("sh", "-c", code, env=env) as launch:
                launch.said("ready")
                wait_for(lambda: operator.reports)
                operator.reply = {"request": "Stop", "reportEverySeconds": 1}
                # As if the signal had ended it, and not for want of a world.
                self.assertEqual(launch.wait(), 143, launch.errors())
                self.assertNotEqual(launch.last_word().get("error", {}).get("kind"), "NoWorld")

    # promises: D10
    def test_a_rank_that_ended_is_told_and_one_that_hides_is_not(self):
        title = "import ctypes, time\n" \
            "time.sleep(2.5)\n" \
            "fields = open('/proc/self/stat').read().rpartition(')')[2].split()\n" \
            "start, end = int(fields[47]), int(fields[48])\n" \
            "ctypes.memset(start, 32, end - start)\n" \
            "print('hidden', flush=True)\n" \
            "time.sleep(30)\n"  # as setproctitle does
        ranks = 'RANK=0 WORLD_SIZE=2 sleep 6 & RANK=1 WORLD_SIZE=2 "$0" -c "$1" & wait'
        with Operator() as operator:
            env = {"AMDAHL_RUNTIME": "Torchrun", "PET_NPROC_PER_NODE": "2",
                   "AMDAHL_REPORT_URL": operator.url}
            with Launch("sh", "-c", ranks, sys.executable, title, env=env) as launch:
                launch.said("hidden")
                hidden_at = len(operator.reports)
                wait_for(lambda: operator.last().get("endedRanks"))
                self.assertGreater(len(operator.reports), hidden_at + 1)
                ended_at = len(operator.reports)
                wait_for(lambda: len(operator.reports) > ended_at + 2)
                told = [report.get("endedRanks", []) for report in operator.reports]
                self.assertEqual([ranks for ranks in told if ranks not in ([], [0])], [])
                self.assertEqual(told[-1], [0])


if __name__ == "__main__":
    unittest.main()
