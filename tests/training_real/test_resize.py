"""A job that was paused goes on with half its nodes, and the operator's metrics of doing so."""

import json
import re
import sys
import unittest
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from checkpoint_case import CheckpointCase  # noqa: E402
from job_case import Job  # noqa: E402

STEPS = 60


class Resize(CheckpointCase):
    def root_of_the_end(self, job: Job) -> str:
        done = self.home.run("checkpoint", "ls", str(job.checkpoints), "-o", "json")
        newest = json.loads(done.stdout)[0]
        self.assertEqual(newest["step"], STEPS)
        return newest["manifest"]["root"]

    def metrics(self) -> str:
        """Of the operator; the scheduler and the kubelet of the same process have their own."""
        log = (self.home.data / "log").read_text()
        for port in re.findall(r'"probes and metrics are served".*?"port":(\d+)', log):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
                text = answer.read().decode()
            if "amdahl_training_jobs" in text:
                return text
        self.fail(f"nobody serves metrics of jobs:\n{log[-5000:]}")

    # promises: B9
    # fields: spec.nodes, spec.processesPerNode
    def test_a_job_resumes_on_half_its_nodes_with_the_same_bits(self):
        calm = self.start("calm", STEPS, step_seconds=0)
        self.until_phase(calm, "Succeeded")
        job = self.start("halved", STEPS, step_seconds=0.2)
        self.until_step(job, 20)
        paused = self.pause(job)
        self.assertEqual(paused["workers"]["desired"], 2)
        # As many processes as before, so that the trainer shards its batches in the same way; with
        # sanitizers they need the memory of both nodes.
        for old, new in (("nodes: 2", "nodes: 1\n  processesPerNode: 4"),
                         ("memory: 2Gi", "memory: 6Gi")):
            self.assertIn(old, job.manifest)
            job.manifest = job.manifest.replace(old, new)
        self.resume_without_delay(job)
        status = self.until_phase(job, "Succeeded")
        self.assertEqual((status["workers"]["desired"], status["attempt"]), (1, 2))
        self.assertEqual(status["attempts"][1]["resumedFromStep"], paused["pause"]["step"])
        saved = paused["pause"]["step"]
        self.assertEqual([attempt for attempt, step, _ in job.losses() if step > saved],
                         [2] * (STEPS - saved))
        self.assertEqual(self.root_of_the_end(job), self.root_of_the_end(calm))
        self.check_metrics()

    def check_metrics(self) -> None:
        text = self.metrics()
        for series in (r'amdahl_build_info\{version="[0-9.]+"\} 1',
                       r'amdahl_api_requests_total\{code="2xx",verb="create"\} [1-9]',
                       r'amdahl_api_request_duration_seconds_count\{verb="patch"\} [1-9]',
                       r'amdahl_watch_restarts_total\{resource="trainingjobs"\} \d',
                       r'amdahl_training_job_phase_duration_seconds_count\{phase="Running"\} [1-9]',
                       r'amdahl_resume_latency_seconds_count 1'):
            self.assertRegex(text, series)


if __name__ == "__main__":
    unittest.main()
