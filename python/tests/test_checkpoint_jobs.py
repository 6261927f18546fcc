"""amdahl.checkpoint in a job: whose prefix it is, where it starts from, what it keeps."""

import json
import os
import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from amdahl import checkpoint  # noqa: E402
from states import LibraryCase  # noqa: E402


class InAJob(LibraryCase):
    def as_job(self, uid: str, uri: str, **more: str):
        """The environment that the operator gives a trainer."""
        return mock.patch.dict(os.environ, {
            "AMDAHL_JOB_UID": uid, "AMDAHL_JOB": f"team/{uid}", "AMDAHL_CHECKPOINT_URI": uri,
            **{f"AMDAHL_CHECKPOINT_{key}": value for key, value in more.items()}})

    # promises: D4, A3
    def test_another_jobs_prefix_is_refused_at_the_load(self):
        with self.as_job("one", self.uri), checkpoint.Checkpointer() as mine:
            self.assertIsNone(mine.load())  # which takes the prefix, before anything is saved
        with self.as_job("two", self.uri), checkpoint.Checkpointer() as other, \
                self.assertRaisesRegex(checkpoint.CheckpointError,
                                       "belongs to TrainingJob team/one") as caught:
            other.load()
        self.assertEqual(caught.exception.code, "forbidden")
        with self.as_job("two", self.uri), \
                mock.patch.dict(os.environ, {"AMDAHL_JOB": "elsewhere/two"}), \
                checkpoint.Checkpointer() as other, \
                self.assertRaisesRegex(checkpoint.CheckpointError, "belongs to another job"):
            other.load()
        # Somebody who says so reads what he likes: a notebook, or a script that names the place.
        with checkpoint.Checkpointer(self.uri) as reader:
            self.assertIsNone(reader.load())

    # promises: D4
    def test_a_job_without_a_checkpoint_starts_from_init_from(self):
        with self.open(job_uid="one", keepLast=5) as base:
            for step in (1, 2, 3):
                base.save({"step": step}, step)
                base.wait()
        own = f"{self.uri}-own"
        with self.as_job("two", own, INIT_FROM=f"{self.uri}@2"), checkpoint.Checkpointer() as mine:
            loaded = mine.load()
            self.assertEqual((loaded.step, loaded.state, loaded.init_from),
                             (2, {"step": 2}, f"{self.uri}@2"))
            self.assertEqual(mine.load(2).state, {"step": 2})  # as other ranks ask for it
            mine.save({"step": 10}, 10)
            mine.wait()
            loaded = mine.load()
            self.assertEqual((loaded.step, loaded.init_from), (10, None))
        with self.as_job("three", f"{own}-3", INIT_FROM=f"{self.uri}-not"), \
                checkpoint.Checkpointer() as mine, \
                self.assertRaisesRegex(checkpoint.CheckpointError, "no checkpoint is committed"):
            mine.load()

    # promises: D4
    def test_every_rank_of_a_gang_starts_from_init_from(self):
        with self.open(job_uid="one") as base:
            base.save({"step": 3}, 3)
            base.wait()
        with self.as_job("two", f"{self.uri}-own", INIT_FROM=self.uri):
            for rank in (0, 1):
                with checkpoint.Checkpointer(rank=rank, world_size=2, attempt="0" * 32) as mine:
                    loaded = mine.load()
                    self.assertEqual((loaded.step, loaded.state), (3, {"step": 3}))

    # promises: B2
    def test_a_trainer_that_waits_after_it_heard_tells_its_last_commit_again(self):
        told = []
        tell = mock.patch.object(checkpoint.job, "committed",
                                 lambda step, *_, **__: told.append(step))
        with tell, self.as_job("one", self.uri), checkpoint.Checkpointer() as mine:
            mine.save({"step": 5}, 5)
            mine.wait()
            mine.wait()
            self.assertEqual(told, [5])
            with mock.patch.object(checkpoint.job, "stopping", lambda: True):
                mine.wait()
                self.assertEqual(told, [5, 5])
                mine.settle()  # is no word of the trainer: close() calls it
            self.assertEqual(told, [5, 5])

    # promises: B1
    def test_retention_of_the_job_is_followed(self):
        retention = json.dumps({"keepLast": 1, "keepEverySteps": 4, "keepBytesMax": 0})
        with self.as_job("one", self.uri, RETENTION=retention), checkpoint.Checkpointer() as mine:
            for step in range(1, 8):
                mine.save({"step": step}, step)
                mine.settle()
            self.assertEqual([one["step"] for one in mine.list()], [7, 4])


if __name__ == "__main__":
    unittest.main()
