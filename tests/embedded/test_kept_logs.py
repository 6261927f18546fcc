"""Logs of pods that are gone, from beside the checkpoints, as on a cluster that keeps none."""

import os
import shutil
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from small_jobs import JobCase  # noqa: E402

SAY = "echo attempt $AMDAHL_ATTEMPT rank $PET_NODE_RANK"
POD = {"terminationGracePeriodSeconds": 20}
MIB = 1 << 20


class KeptLogs(JobCase):
    def folder(self, name: str) -> Path:
        return self.home.path / "stores" / name

    def start_kept(self, name: str, script: str, **spec) -> Path:
        """A job with checkpoints; where the logs of its ranks will be."""
        checkpoint = {"uri": f"file://{self.folder(name)}",
                      "pause": {"deadline": "1s", "policy": "BestEffort"}}
        self.start(name, f"{SAY}; {script}", pod=POD, checkpoint=checkpoint, **spec)
        uid = self.get("trainingjob", name)["metadata"]["uid"]
        return self.folder(name) / ".amdahl-logs" / uid

    def forget(self, name: str) -> None:
        """Waits until the pods are gone, and takes the cluster's own copies of logs away."""
        self.until(lambda: not self.pods(name), f"{name}: no pods")
        shutil.rmtree(self.home.data / "kept-logs", ignore_errors=True)

    def logs(self, *words):
        return self.home.run("logs", *words, check=False)

    def said(self, name: str, attempt: int, nodes: int = 1) -> bool:
        return all(f"attempt {attempt} rank {rank}\n" in self.logs(
            name, "--attempt", attempt, "--rank", rank).stdout for rank in range(nodes))

    def pause(self, name: str, attempt: int, nodes: int = 1) -> None:
        self.until(lambda: self.said(name, attempt, nodes), f"{name}: output of {attempt}")
        self.home.run("pause", name)
        self.until_phase(name, "Paused")
        self.forget(name)

    # promises: D9
    def test_after_pauses_every_rank_of_the_last_three_attempts_is_readable(self):
        kept = self.start_kept("held", "exec sleep 600", nodes=2)
        for attempt in (1, 2, 3, 4):
            self.pause("held", attempt, nodes=2)
            if attempt < 4:
                self.home.run("resume", "held")
        for attempt in (2, 3, 4):
            for rank in (0, 1):
                done = self.logs("held", "--attempt", attempt, "--rank", rank)
                self.assertEqual(done.stdout, f"attempt {attempt} rank {rank}\n", done.stderr)
                self.assertIn(f"{self.folder('held')}/.amdahl-logs", done.stderr)
        self.assertEqual(self.logs("held").stdout, "attempt 4 rank 0\n")
        self.assertEqual(self.logs("held", "--attempt", "3", "--all-ranks").stdout,
                         "[0] attempt 3 rank 0\n[1] attempt 3 rank 1\n")
        self.assertEqual(sorted(one.name for one in (kept / "00000").iterdir()),
                         [f"{attempt:010}.log" for attempt in (2, 3, 4)])
        gone = self.logs("held", "--attempt", "1")
        self.assertEqual(gone.returncode, 1)
        self.assertIn("no pod and no kept log of attempt 1", gone.stderr)
        self.assertIn("has the logs of the last 3 attempts only", gone.stderr)
        # The folder moved, as a volume that is mounted elsewhere on this machine.
        elsewhere = self.home.path / "mounted"
        self.folder("held").rename(elsewhere)
        lost = self.logs("held", "--attempt", "4", "--rank", "1")
        self.assertEqual(lost.returncode, 1)
        self.assertIn("which is not on this machine", lost.stderr)
        found = self.logs("held", "--attempt", "4", "--rank", "1", "--from", elsewhere)
        self.assertEqual(found.stdout, "attempt 4 rank 1\n", found.stderr)

    # promises: D9
    def test_after_a_failure_and_after_a_cancel_every_rank_is_readable(self):
        self.start_kept("broken", "test $PET_NODE_RANK = 1 && sleep 2 && exit 3; exec sleep 600",
                        nodes=2)
        self.until_phase("broken", "Failed")
        self.start_kept("stopped", "exec sleep 600")
        self.until(lambda: self.said("stopped", 1), "stopped: output")
        self.home.run("cancel", "stopped", "--yes", "--wait")
        self.forget("stopped")
        # The pod that is to blame stays, the other one is gone.
        self.until(lambda: len(self.pods("broken")) < 2, "broken: a pod is gone")
        shutil.rmtree(self.home.data / "kept-logs", ignore_errors=True)
        for rank in (0, 1):
            done = self.logs("broken", "--attempt", "1", "--rank", rank)
            self.assertEqual(done.stdout, f"attempt 1 rank {rank}\n", done.stderr)
        self.assertEqual(self.logs("broken", "--all-ranks").stdout,
                         "[0] attempt 1 rank 0\n[1] attempt 1 rank 1\n")
        self.assertEqual(self.logs("stopped").stdout, "attempt 1 rank 0\n")

    # promises: D9
    def test_a_job_without_checkpoints_says_what_to_do(self):
        pause = {"pause": {"deadline": "1s", "policy": "BestEffort"}}
        self.start("bare", f"{SAY}; exec sleep 600", pod=POD, checkpoint=pause)
        self.pause("bare", 1)
        gone = self.logs("bare", "--attempt", "1", "--rank", "0")
        self.assertEqual(gone.returncode, 1)
        self.assertIn("the logs of attempt 1 went with its pods: the job keeps no checkpoints. "
                      "Set spec.checkpoint.uri", gone.stderr)

    # promises: D9
    def test_nothing_in_the_folder_of_logs_hurts_its_reader_or_the_checkpoints(self):
        kept = self.start_kept("odd", "exec sleep 600")
        self.pause("odd", 1)
        log = kept / "00000" / "0000000001.log"
        self.assertEqual(log.read_text(), "attempt 1 rank 0\n")
        log.unlink()
        with log.open("wb") as large:  # a gigabyte that takes no room
            large.seek((1 << 30) - 4)
            large.write(b"end\n")
        began = time.monotonic()
        done = self.logs("odd", "--attempt", "1", "--tail", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(len(self.logs("odd").stdout), MIB)
        self.assertTrue(self.logs("odd").stdout.endswith("end\n"))
        self.assertLess(time.monotonic() - began, 30)
        secret = self.home.path / "secret"
        secret.write_text("not for logs\n")
        for make in (lambda: log.symlink_to(secret), log.mkdir, lambda: os.mkfifo(log)):
            if log.is_dir() and not log.is_symlink():
                log.rmdir()
            else:
                log.unlink()
            make()
            done = self.logs("odd")
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        (kept / "00000" / "..odd\n name").write_text("x")
        listed = self.home.run("checkpoint", "ls", self.folder("odd")).stdout
        self.assertIn("No checkpoint is committed", listed)
        self.home.run("resume", "odd")
        self.pause("odd", 2)
        self.assertEqual(self.logs("odd").stdout, "attempt 2 rank 0\n")


if __name__ == "__main__":
    unittest.main()
