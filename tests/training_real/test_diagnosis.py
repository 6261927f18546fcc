"""What a job says of its troubles, on a cluster whose pods run: plain Python scripts, no torch.

Every trouble comes from its real source: the script, the kubelet, the node, an event.
"""

import json
import os
import re
import signal
import time
import unittest
from datetime import datetime
from pathlib import Path

from job_case import has_torch
from script_case import VARIABLES
from trouble_case import PYTHON, SECONDS, TroubleCase

# Rank 0 alone makes steps and says so, then it stands still with the others.
HANGS = """\
import os, time
from amdahl import job
if os.environ["PET_NODE_RANK"] == "0":
    for step in range(1, 6):
        job.step(step)
        time.sleep(1.1)
time.sleep(3600)
"""
SILENT = "import time\nprint('hello', flush=True)\ntime.sleep(3600)\n"
# It works, and says so in words that nobody understands.
TALKS = """\
import time
while True:
    print('munching on batch', time.monotonic(), flush=True)
    time.sleep(0.5)
"""
# Each step waits for the other rank, as an all-reduce does. Rank 1 stops after its fifth.
STANDS = """\
import os, time
from amdahl import job
mine = int(os.environ["PET_NODE_RANK"])
def arrival(rank, step):
    return os.path.join(os.path.dirname(__file__), f"arrived-{rank}-{step}")
for step in range(1, 100):
    job.step(step)
    open(arrival(mine, step), "w").close()
    while not os.path.exists(arrival(1 - mine, step)):
        time.sleep(0.05)
    time.sleep(3600 if mine == 1 and step == 5 else 0.2)
"""
RAISES = """\
import json

def read_settings():
    return json.loads('{"rate": ')

read_settings()
"""
GROWS = """\
import time
from amdahl import job
kept = []
for step in range(1, 1000):
    kept.append(b"x" * (8 << 20))
    job.step(step)
    time.sleep(0.3)
"""
DEAF = """\
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('deaf', flush=True)
while True:
    time.sleep(1)
"""


class Diagnosis(TroubleCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.create("stands", STANDS, nodes=2)  # shown after a while: the other tests use it

    # promises: B4
    # fields: spec.deadlines.step
    def test_a_hang_is_seen_where_only_rank_0_prints(self):
        self.submit("hangs", HANGS, nodes=2, deadlines={"step": "40s"})
        cause = self.until_cause("hangs")
        self.assertEqual((cause["class"], cause["rank"]), ("Hang", 0))
        self.assertIn("rank 0, which reports steps, is at step 5", cause["message"])

    # promises: B4
    # fields: spec.deadlines.start
    def test_the_start_ends_at_the_first_step_and_a_job_that_visibly_works_goes_on(self):
        self.submit("talks", TALKS, deadlines={"start": "20s"})
        self.until_phase("talks", "Running")
        self.submit("silent", SILENT, deadlines={"start": "20s"})
        status = self.until_phase("silent", "Failed")
        self.assertEqual(status["reason"], "StartDeadlineExceeded")
        failed = next(one for one in status["conditions"] if one["type"] == "Failed")
        self.assertIn("made no step for", failed["message"])
        self.assertEqual(self.status("talks")["phase"], "Running")  # and it is the older one

    # promises: B3
    def test_a_missing_secret_is_named(self):
        volumes = [{"name": "keys", "secret": {"secretName": "no-such-secret"}}]
        self.submit("mounts", SILENT, pod={"volumes": volumes})
        status = self.until("mounts", lambda s: s.get("pending", {}).get("reason") ==
                            "WaitingForConfiguration", "WaitingForConfiguration")
        self.assertIn("no-such-secret", status["pending"]["message"])

    # promises: B3
    def test_how_a_stop_went_is_on_record(self):
        self.submit("stops", SILENT)
        self.until_phase("stops", "Running")
        self.home.run("pause", "stops")
        self.until_phase("stops", "Paused")
        self.assertEqual(self.until_cause("stops")["class"], "StoppedOnRequest")
        self.submit("deaf", DEAF)
        self.until_phase("deaf", "Running")
        deadline = time.monotonic() + SECONDS
        while "deaf" not in self.home.run("logs", "deaf-1-0", check=False).stdout:
            self.assertLess(time.monotonic(), deadline)
        self.home.run("cancel", "deaf", "--yes", check=False)
        self.until_phase("deaf", "Cancelled")
        self.assertEqual(self.until_cause("deaf")["class"], "DidNotStopInTime")

    # promises: B3
    def test_a_node_without_memory_explains_a_kill(self):
        marker = self.home.path / "pid"
        self.submit("killed", f"import os, time\nopen({str(marker)!r} + '.new', 'w')"
                    f".write(str(os.getpid()))\nos.rename({str(marker)!r} + '.new', "
                    f"{str(marker)!r})\ntime.sleep(3600)\n")
        status = self.until_phase("killed", "Running")
        self.until("killed", lambda _: marker.exists(), "the trainer has started")
        pod = json.loads(self.home.run("get", "pod", "killed-1-0", "-o", "json").stdout)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        # As a kubelet writes it when the kernel kills outside of any container's limit.
        event = {"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "SystemOOM",
                 "metadata": {"name": "oom", "namespace": "default"},
                 "message": "System OOM encountered, victim process: python, pid: 7",
                 "firstTimestamp": now, "lastTimestamp": now, "count": 1,
                 "involvedObject": {"kind": "Node", "name": pod["spec"]["nodeName"],
                                    "uid": pod["spec"]["nodeName"]}}
        self.home.run("apply", "-f", "-", text=json.dumps(event))
        os.kill(self.trainer(int(marker.read_text()), str(marker)), signal.SIGKILL)
        cause = self.until_cause("killed")
        self.assertEqual(cause["class"], "NodeOutOfMemory", status)
        self.assertIn("SystemOOM", cause["message"])

    def trainer(self, inner: int, script_word: str) -> int:
        """The process id on this machine: inside its namespaces the script sees another."""
        script = str(self.home.path / "killed.py").encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [PYTHON.encode(), script]:
                return int(entry.name)
        self.fail(f"no process runs {script!r} ({inner}, {script_word})")

    # promises: D10
    def test_a_script_that_does_not_exist_is_named(self):
        self.submit("nowhere", None)
        self.until_phase("nowhere", "Failed")
        cause = self.until_cause("nowhere")
        self.assertEqual(cause["class"], "CommandNotFound")
        self.assertIn(str(self.home.path / "nowhere.py"), cause["message"])
        self.assertIn("path of the script", cause["hint"])

    # promises: D10
    @unittest.skipUnless(has_torch(), "no torch: tools/setup installs it")
    def test_a_script_of_torchrun_that_does_not_exist_is_named(self):
        path = self.home.path / "no" / "train.py"
        env = [{"name": name, "value": value} for name, value in VARIABLES.items()]
        self.submit("lost", None, runtime="Torchrun", processesPerNode=2,
                    container={"command": [str(path)], "env": env})
        self.until_phase("lost", "Failed")
        cause = self.until_cause("lost")
        self.assertEqual(cause["class"], "CommandNotFound", cause)
        self.assertIn(str(path), cause["message"])
        self.assertIn("path of the script", cause["hint"])

    # promises: D10
    def test_an_exception_names_the_line_of_the_script(self):
        self.submit("raises", RAISES)
        self.until_phase("raises", "Failed")
        cause = self.until_cause("raises")
        self.assertEqual(cause["class"], "UserException")
        self.assertRegex(cause["message"], r"JSONDecodeError at \S*raises\.py:4 in read_settings")

    # promises: D10
    def test_a_request_that_can_never_fit_says_so_at_once(self):
        self.submit("fills", SILENT, nodes=2, limits={"memory": "12Gi"})
        self.until_phase("fills", "Running")
        self.submit("waits", SILENT, limits={"memory": "12Gi"})  # it fits, and there is no room
        self.submit("huge", SILENT, limits={"memory": "900Gi"})

        def told():
            job = self.job("huge")
            return job if "pending" in job.get("status", {}) else None
        self.until("huge", lambda _: told(), "what it waits for")
        job = told()
        self.assertEqual(job["status"]["pending"]["reason"], "TooLarge")
        self.assertRegex(job["status"]["pending"]["message"],
                         "asks for .*900Gi.*nodes have .*16Gi")
        # The explanation of an ordinary wait comes after ten seconds, and is another one.
        written = [datetime.fromisoformat(one["time"]) for one in job["metadata"]["managedFields"]
                   if one.get("subresource") == "status"]
        created = datetime.fromisoformat(job["metadata"]["creationTimestamp"])
        self.assertLess((max(written) - created).total_seconds(), 8)
        waits = self.until("waits", lambda status: "pending" in status, "what it waits for")
        self.assertNotEqual(waits["pending"]["reason"], "TooLarge")

    # promises: D10
    def test_running_out_of_memory_is_told_with_the_figure(self):
        self.submit("grows", GROWS, limits={"memory": "200Mi"})
        cause = self.until_cause("grows")
        self.assertEqual(cause["class"], "ContainerOutOfMemory")
        self.assertIn("memory limit of 200Mi", cause["message"])
        self.assertRegex(cause["message"], r" at step [1-9]")
        self.assertIn("above 200Mi", cause["hint"])
        # The launcher measured it: the limit alone would not be a figure of this run.
        used = re.search(r"it used ([0-9.]+) MiB", cause["message"])
        self.assertIsNotNone(used, cause["message"])
        self.assertGreater(float(used[1]), 100)
        self.assertLess(float(used[1]), 400)
        told = self.home.run("diagnose", "grows", check=False).stdout
        self.assertIn(used[0], told)

    # promises: D3
    def test_what_stands_still_is_shown_with_the_rank_that_the_other_waits_for(self):
        status = self.until("stands", lambda s: s.get("pending", {}).get("reason") == "NoStep",
                            "NoStep")
        self.assertEqual(status["phase"], "Running")
        self.assertIn("rank 1 stands still at step 5, rank 0 is at step 6",
                      status["pending"]["message"])
        told = self.home.run("diagnose", "stands", check=False).stdout
        self.assertIn("rank 1 stands still", told)
        self.assertNotIn("nothing is wrong", told)

    # promises: B6
    def test_every_decision_is_one_line_of_the_log(self):
        self.submit("logged", RAISES)
        self.until_phase("logged", "Failed")
        uid = json.loads(self.home.run("get", "logged", "-o", "json").stdout)["metadata"]["uid"]

        def decisions():
            lines = [json.loads(line) for line in (self.home.data / "log").read_text().splitlines()
                     if line.startswith("{")]
            return [one for one in lines if one.get("message") == "job decision"
                    and one["trainingjob"] == "default/logged"]
        deadline = time.monotonic() + SECONDS
        while not any(one["to"] == "Failed" for one in decisions()):
            self.assertLess(time.monotonic(), deadline, decisions())
            time.sleep(0.1)
        ended = next(one for one in decisions() if one["to"] == "Failed")
        self.assertEqual((ended["uid"], ended["attempt"], ended["cause"], ended["rank"]),
                         (uid, 1, "UserException", 0))
        self.assertEqual(ended["severity"], "WARNING")
        self.assertIn(ended["from"], ("Starting", "Running"))
        self.assertNotIn("rate", json.dumps(decisions()))  # nothing that the trainer printed


if __name__ == "__main__":
    unittest.main()
