"""Scripts that say nothing to us: their steps are read from the log, or are said to be unknown."""

import json
import socket
import unittest
import urllib.request

from script_case import ROOT, ScriptCase

PYTHON = "/usr/bin/python3"
NANOGPT = """
import time
print("tokens per iteration will be: 16,384")
print("number of parameters: 10.65M")
time.sleep(1)
print("step 0: train loss 4.2874, val loss 4.2823")
for n in range(0, 500, 10):
    print(f"iter {n}: loss {4.2 - n / 200:.4f}, time 31.16ms, mfu 11.96%", flush=True)
    time.sleep(0.1)
"""
SILENT = "import time\nprint('working', flush=True)\ntime.sleep(6)\n"
CONTEXTS = """
import sys, time
def bar(name, count, of):
    line = f"{name}{100 * count // of:3d}%|####| {count}/{of} [00:01<00:01, 10.0it/s]"
    print("\\r" + line, end="", file=sys.stderr, flush=True)
print("INFO [task:312] Building contexts for tiny_mc on rank 0...", file=sys.stderr)
for n in range(0, 251, 50):
    bar("", n, 250)
    time.sleep(0.2)
print(file=sys.stderr)
for n in range(0, 801, 2):  # longer than the time between two writes of the progress
    bar("Running loglikelihood requests: ", n, 800)
    time.sleep(0.08)
print(file=sys.stderr)
"""
# As Megatron and its like: the last rank prints, the others say nothing.
LAST_RANK = """
import os, time
last = int(os.environ["AMDAHL_RANK"]) == int(os.environ["AMDAHL_NODES"]) - 1
for n in range(1, 51):
    if last:
        print(f"iteration {n}/50 | lm loss: {5 - n / 20:.4f} |", flush=True)
    time.sleep(0.1)
"""
# Knows nothing of us but the marker file: it saves where it likes, when it gets SIGUSR1.
OWN_MEANS = """
import json, os, signal, time
asked = []
if os.environ.get("LISTENS"):
    signal.signal(signal.SIGUSR1, lambda *_: asked.append(1))
marker = os.environ["AMDAHL_CHECKPOINT_MARKER"]
for n in range(1, 100000):
    print(f"step {n}/100000", flush=True)
    time.sleep(0.05)
    if asked:
        with open(marker + ".tmp", "w") as file:
            json.dump({"step": n, "path": "/elsewhere"}, file)
        os.rename(marker + ".tmp", marker)
        signal.pause()
"""
# Three steps and a checkpoint of the second, then it waits to be looked at.
MEASURED = """
import time
from amdahl import job
for n in (1, 2, 3):
    job.step(n, 10)
    time.sleep(0.3)
job.committed(2, "/somewhere/2", 1234)
time.sleep(3600)
"""


def phases(status: dict) -> dict[str, int]:
    return {row["name"]: row["seconds"] for row in status["gpuSeconds"]["phases"]}


class Progress(ScriptCase):
    # promises: D8
    def test_the_steps_and_the_loss_of_an_unknown_program_are_in_the_status(self):
        script = self.write("nanogpt.py", NANOGPT)
        self.submit("nanogpt", PYTHON, "-u", script, runtime="Python", gpus=1)
        status = self.until_end("nanogpt", "Succeeded")
        progress = status["progress"]
        self.assertEqual((progress["step"], progress["source"]), (490, "Log"))
        self.assertIn({"name": "loss", "value": "1.7500"}, progress["metrics"])
        # The share of it depends on how long a busy machine takes to start the script.
        self.assertGreaterEqual(phases(status)["productive"], 3)
        self.assertGreater(status["gpuSeconds"]["goodput"], 0)

    # promises: D8
    def test_steps_that_only_another_node_prints_are_those_of_the_job(self):
        script = self.write("last_rank.py", LAST_RANK)
        self.submit("last-rank", PYTHON, script, runtime="Python", nodes=2, gpus=1)
        status = self.until_end("last-rank", "Succeeded")
        progress = status["progress"]
        self.assertEqual((progress["step"], progress["totalSteps"]), (50, 50))
        self.assertNotEqual(progress["source"], "Unknown")
        self.assertTrue(progress["metrics"])
        self.assertNotIn("job.step()", self.home.run("describe", "last-rank").stdout)
        # The five seconds of the silent node went where those of the other one went.
        account = status["gpuSeconds"]
        self.assertGreaterEqual(phases(status)["productive"], 5)
        self.assertLess(phases(status).get("unattributed", 0), 5)
        self.assertEqual(sum(phases(status).values()), account["held"])
        self.assertGreater(account["goodput"], 0)

    # promises: D8
    def test_a_silent_script_is_unknown_and_told_of_job_step(self):
        script = self.write("silent.py", SILENT)
        self.submit("silent", PYTHON, script, runtime="Python", gpus=1)
        status = self.until_end("silent", "Succeeded")
        self.assertEqual(status["progress"]["source"], "Unknown")
        self.assertNotIn("step", status["progress"])
        self.assertNotIn("goodput", status["gpuSeconds"])
        # Its six seconds, rounded. Init is what a busy machine took to start it, and no more.
        self.assertGreaterEqual(phases(status)["unattributed"], 5)
        self.assertIn("job.step()", self.home.run("describe", "silent").stdout)

    # promises: B7, D8
    def test_requests_of_an_evaluation_count_and_its_preparations_do_not(self):
        script = self.write("evaluation.py", CONTEXTS)
        self.submit("evaluation", PYTHON, script, runtime="Python", gpus=1)
        first = self.until("evaluation", lambda seen: "step" in seen.get("progress", {}), "a step")
        self.assertEqual(first["progress"]["totalSteps"], 800)
        self.assertLess(first["progress"]["percent"], 100)
        status = self.until_end("evaluation", "Succeeded")
        self.assertEqual((status["progress"]["step"], status["progress"]["percent"]), (800, 100))

    # promises: D2
    def test_a_script_that_saves_by_its_own_means_is_asked_before_a_pause(self):
        script = self.write("own_means.py", OWN_MEANS)
        for name, listens in (("listens", "1"), ("deaf", "")):  # neither has a checkpoint.uri
            self.submit(name, PYTHON, script, runtime="Python",
                        env={"LISTENS": listens,
                             "AMDAHL_CHECKPOINT_MARKER": str(self.home.path / f"{name}.marker")})
        for name in ("listens", "deaf"):
            self.until(name, lambda seen: "step" in seen.get("progress", {}), "a step")
        refused = self.home.run("pause", "deaf", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--lose-steps", refused.stdout + refused.stderr)
        for name in ("listens", "deaf"):
            self.home.run("pause", name, "--lose-steps")
        listens = self.until("listens", lambda seen: seen.get("phase") == "Paused", "a pause")
        self.assertEqual(listens["pause"]["outcome"], "Committed")
        self.assertEqual(listens["checkpoint"]["lastCommitted"]["step"], listens["pause"]["step"])
        self.assertEqual(listens["pause"]["lostSteps"], 0)
        deaf = self.until("deaf", lambda seen: seen.get("phase") == "Paused", "a pause")
        self.assertEqual(deaf["pause"]["outcome"], "StepsLost")
        self.assertIn("keeps no checkpoints", deaf["pause"]["message"])

    def metrics_of(self, pod: str, port: int) -> str:
        seen = self.home.run("get", "pod", pod, "-o", "json", check=False)
        address = json.loads(seen.stdout or "{}").get("status", {}).get("podIP")
        if not address:
            return ""
        try:
            url = f"http://{address}:{port}/metrics"
            return urllib.request.urlopen(url, timeout=10).read().decode()
        except OSError:
            return ""

    # promises: B9
    def test_launchers_serve_their_metrics_on_the_address_of_their_pod(self):
        script = self.write("measured.py", MEASURED)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.submit("measured", PYTHON, script, runtime="Python", nodes=2,
                    env={"AMDAHL_METRICS_PORT": str(port), "PYTHONPATH": str(ROOT / "python")})
        for pod in ("measured-1-0", "measured-1-1"):  # one port, two addresses
            def ready(_, pod=pod):
                return "\namdahl_launch_checkpoint_step 2\n" in self.metrics_of(pod, port)
            self.until("measured", ready, f"the checkpoint in the metrics of {pod}")
            text = self.metrics_of(pod, port)
            self.assertIn("\namdahl_launch_step 3\n", text)
            self.assertRegex(text, r"\namdahl_launch_memory_peak_bytes [1-9]")
            self.assertRegex(text, r"\namdahl_launch_reports_sent_total [1-9]")
        # Each on its own address: on all addresses, one of them would answer for both.
        with self.assertRaises(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10)


if __name__ == "__main__":
    unittest.main()
