"""submit, apply, pause, resume, rerun and kubectl on the same objects, in any order."""

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from job_cluster import JOBS, JobTest, condition, job_text

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "cluster"))

import build  # noqa: E402

FAILED = condition("Failed", True, "CannotRecover")
MERGE = "application/merge-patch+json"
# `make cluster-test` builds kubectl first, so there a missing one is a failure.
KUBECTL_MAY_BE_MISSING = "AMDAHL_KUBECTL_REQUIRED" not in os.environ


def kubectl() -> Path | None:
    """The one that `cluster build` made, else the machine's."""
    built = build.program("kubectl")
    found = shutil.which("kubectl")
    return built if built.exists() else found and Path(found)


def each_after_each(words: str) -> list[str]:
    """The shortest round in which every word follows every word, itself included."""
    left = {(one, other) for one in words for other in words}
    path, at = [], words[0]
    walk = [at]
    while walk:  # Hierholzer
        at = walk[-1]
        ahead = sorted(pair for pair in left if pair[0] == at)
        if ahead:
            left.discard(ahead[0])
            walk.append(ahead[0][1])
        else:
            path.append(walk.pop())
    return path[::-1]


class FileTest(JobTest):
    def text(self, name: str, failures: int, more: str = "") -> str:
        return job_text(name) + f"  restart: {{maxFailures: {failures}}}\n{more}"

    def spec(self, name: str) -> dict:
        return self.cluster.job(name)["spec"]

    def apply(self, name: str, failures: int, more: str = "") -> str:
        return self.amdahl("apply", "-f", "-", text=self.text(name, failures, more))


class AnyOrder(FileTest):
    def with_kubectl(self, *words: str, text: str) -> None:
        env = self.cluster.environment | {"KUBECONFIG": str(self.cluster.data / "kubeconfig")}
        done = subprocess.run([kubectl(), *words], input=text, text=True, env=env, timeout=60,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")

    def act(self, word: str, name: str, failures: int) -> None:
        if word == "a":
            self.apply(name, failures)
        elif word == "c":
            self.with_kubectl("apply", "-f", "-", text=self.text(name, failures))
        elif word == "s":
            self.with_kubectl("apply", "--server-side", "-f", "-", text=self.text(name, failures))
        else:
            self.amdahl("pause" if word == "p" else "resume", name)

    def walk(self, name: str, words: list[str]) -> None:
        """Every file has another value, and every pause and resume must outlive the files."""
        failures, suspended = 3, False
        for number, word in enumerate(words):
            if word in "acs":
                failures = 10 + number
            else:
                suspended = word == "p"
            with self.subTest(after="".join(words[:number]), now=word):
                self.act(word, name, failures)
                spec = self.spec(name)
                self.assertEqual((spec["restart"]["maxFailures"], spec["suspend"]),
                                 (failures, suspended))

    # promises: D5
    def test_verbs_of_amdahl_work_on_the_same_job_in_any_order(self):
        self.amdahl("submit", "-", text=self.text("ours", 3))
        self.walk("ours", each_after_each("apr"))

    # promises: D5
    @unittest.skipIf(KUBECTL_MAY_BE_MISSING and not kubectl(), "there is no kubectl")
    def test_kubectl_works_on_the_same_job_in_any_order(self):
        self.amdahl("submit", "-", text=self.text("shared", 3))
        self.walk("shared", each_after_each("acspr"))
        for first in "acs":
            self.act(first, f"by-{first}", 3)
            self.walk(f"by-{first}", ["a", "s", "c"])

    # promises: D5
    def test_what_a_file_no_longer_says_goes_back_to_its_default(self):
        self.amdahl("submit", "-", text=self.text("shrunk", 7))
        self.amdahl("apply", "-f", "-", text=job_text("shrunk"))
        self.assertEqual(self.spec("shrunk").get("restart", {}).get("maxFailures", 3), 3)


class Rules(FileTest):
    # promises: D5
    def test_a_file_that_says_suspend_decides_it_and_says_so(self):
        self.submit("decided")
        self.amdahl("pause", "decided")
        done = self.cluster.run("apply", "-f", "-",
                                text=job_text("decided") + "  suspend: false\n")
        self.assertFalse(self.spec("decided")["suspend"])
        self.assertIn("the file says spec.suspend: false, so the job runs again", done.stderr)
        done = self.cluster.run("apply", "-f", "-", text=job_text("decided") + "  suspend: true\n")
        self.assertIn("the file says spec.suspend: true, so the job pauses", done.stderr)
        done = self.cluster.run("apply", "-f", "-", text=job_text("decided"))
        self.assertFalse(self.spec("decided")["suspend"])
        self.assertIn("the file no longer has spec.suspend, which it set before, so the job runs "
                      "again", done.stderr)

    # promises: D5
    def test_another_program_keeps_its_fields_unless_forced(self):
        self.submit("managed")
        self.cluster.call("PATCH", f"{JOBS}/managed?fieldManager=tuner",
                          {"spec": {"restart": {"maxFailures": 9}}}, MERGE)
        said = self.amdahl("apply", "-f", "-", text=self.text("managed", 4), code=1)
        self.assertIn("another program manages a field", said)
        self.assertIn("tuner", said)
        self.assertEqual(self.spec("managed")["restart"]["maxFailures"], 9)
        # A file that does not mention the field is no conflict.
        self.amdahl("apply", "-f", "-", text=job_text("managed"))
        self.amdahl("apply", "--force", "-f", "-", text=self.text("managed", 4))
        self.assertEqual(self.spec("managed")["restart"]["maxFailures"], 4)

    # promises: D5
    def test_a_job_that_has_ended_says_how_to_run_it_again(self):
        self.submit("over")
        self.cluster.set_status("over", FAILED, phase="Failed", attempt=1)
        done = self.cluster.run("apply", "-f", "-", text=self.text("over", 5))
        self.assertIn("has ended (Failed), so the change starts nothing", done.stderr)
        self.assertTrue(done.stderr.endswith("To run it again: amdahl rerun over -n default\n"))
        other = job_text("over").replace("train.py", "fixed.py")
        self.assertIn("amdahl rerun over -n default -f -\n",
                      self.amdahl("apply", "-f", "-", text=other, code=1))
        self.assertIn("rerun over", self.amdahl("resume", "over", code=1))
        self.assertRegex(self.amdahl("describe", "over"), "Next: +amdahl rerun over -n default\n")


    def paste(self, command: str) -> None:
        """In a shell whose PATH has the program of the build."""
        path = f"{self.cluster.program.parent}:{os.environ['PATH']}"
        done = subprocess.run(["sh", "-c", command], text=True, capture_output=True, timeout=60,
                              cwd=self.cluster.path,
                              env=self.cluster.environment | {"PATH": path})
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")

    # promises: D5
    def test_the_command_that_apply_prints_runs_the_changed_file(self):
        jobs = JOBS.replace("default", "pasted")
        self.cluster.call("POST", "/api/v1/namespaces", {
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "pasted"}})
        self.amdahl("submit", "-", "-n", "pasted", text=job_text("over"))
        self.cluster.call("PATCH", f"{jobs}/over/status", {"status": {
            "observedGeneration": 1, "attempt": 1, "phase": "Failed", "conditions": [FAILED]}},
            MERGE)
        file = self.cluster.path / "it's mine.yaml"
        beside = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: beside}\n"
        file.write_text(job_text("over").replace("train.py", "fixed.py") + beside)
        said = self.amdahl("apply", "-n", "pasted", "-f", file, code=1)
        self.paste(re.search(r"To run it again, as the file says: (.*)$", said)[1])
        job = self.cluster.call("GET", f"{jobs}/over")
        self.assertEqual(job["spec"]["template"]["spec"]["containers"][0]["command"], ["fixed.py"])
        self.assertNotIn("conditions", job.get("status", {}))


class Rerun(FileTest):
    def ended(self, name: str, **status) -> str:
        self.amdahl("submit", "-", text=self.text(name, 5))
        self.amdahl("cancel", name, "--yes")
        self.cluster.set_status(name, condition("Cancelled", True, "CancelRequested"),
                                phase="Cancelled", attempt=1, **status)
        return self.cluster.job(name)["metadata"]["uid"]

    # promises: D5
    def test_rerun_makes_a_new_job_of_the_same_spec(self):
        before = self.ended("again")
        out = self.amdahl("rerun", "again")
        self.assertIn("again created, to run again from the beginning\n", out)
        job = self.cluster.job("again")
        self.assertNotEqual(job["metadata"]["uid"], before)
        self.assertEqual(job["spec"]["restart"]["maxFailures"], 5)
        uri = job["spec"]["checkpoint"]["uri"]
        self.assertRegex(uri, r"^file:///checkpoints/rerun-\w{8}$")
        self.assertEqual((job["spec"]["cancel"], job["spec"]["suspend"]), (False, False))
        self.assertNotIn("conditions", job.get("status", {}))
        self.assertNotIn("amdahl.dev/requested-by", job["metadata"].get("annotations", {}))
        # The file still is the job's, once it has the new folder.
        mine = self.text("again", 6).replace("file:///checkpoints", uri)
        self.amdahl("apply", "-f", "-", text=mine)
        self.assertEqual(self.spec("again")["restart"]["maxFailures"], 6)

    # promises: A1
    def test_a_uri_of_others_does_not_move_the_cursor(self):
        text = self.text("coloured", 5).replace(
            "file:///checkpoints", r"file:///nowhere/\e[31mRED\e]0;t\a\x9b\u202E")
        self.amdahl("submit", "-", text=text)
        self.assertIn("\x1b[31m", self.cluster.job("coloured")["spec"]["checkpoint"]["uri"])
        self.cluster.set_status("coloured", FAILED, phase="Failed", attempt=1)
        place = "file:///nowhere/ [31mRED ]0;t"
        for verb in ("ls", "gc", "show", "verify"):
            said = self.amdahl("checkpoint", verb, "coloured", code=1)
            self.assertIn(place, said)
            self.assertNotRegex(said, "[\x1b\x07\x80-\x9f\u202e]|\n.")
        for words in (("get", "tj", "coloured", "-o", "json"), ("diagnose", "coloured"),
                      ("get", "tj", "coloured", "-o", "yaml"), ("rerun", "coloured")):
            self.assertNotRegex(self.amdahl(*words), "[\x1b\x07\x80-\x9f\u202e]")

    # promises: D5
    def test_rerun_never_takes_up_the_state_of_the_run_before(self):
        self.ended("has-state", checkpoint={"lastCommitted": {"step": 40}})
        out = self.amdahl("rerun", "has-state")
        uri = self.spec("has-state")["checkpoint"]["uri"]
        self.assertRegex(uri, r"^file:///checkpoints/rerun-\w{8}$")
        self.assertIn(f"Its checkpoints go to {uri}", out)
        self.assertIn("those of the run before stay in file:///checkpoints\n", out)
        self.assertNotIn("initFrom", self.spec("has-state")["checkpoint"])

    # promises: D5
    def test_rerun_refuses_before_it_deletes(self):
        self.submit("busy")
        self.cluster.set_status("busy", condition("Running", True, "AllRanksStarted"))
        said = self.amdahl("rerun", "busy", code=1)
        self.assertIn("has not ended (Running); end it with 'amdahl cancel busy", said)
        before = self.ended("left-alone")
        bad = self.text("left-alone", 5).replace("nodes: 2", "nodes: 0")
        said = self.amdahl("rerun", "left-alone", "-f", "-", text=bad, code=1)
        self.assertIn("cannot run again; it was left as it is", said)
        self.assertIn("expected TrainingJob left-alone of namespace default in it, once",
                      self.amdahl("rerun", "left-alone", "-f", "-", text=job_text("other"), code=1))
        self.assertIn("committed no checkpoint",
                      self.amdahl("rerun", "left-alone", "--from-checkpoint", code=1))
        self.assertEqual(self.cluster.job("left-alone")["metadata"]["uid"], before)

    # promises: D5
    def test_rerun_takes_a_mended_file_or_another_name(self):
        self.ended("mended")
        fixed = self.text("mended", 5).replace("train.py", "fixed.py")
        self.amdahl("rerun", "mended", "-f", "-", text=fixed)
        self.assertEqual(self.spec("mended")["template"]["spec"]["containers"][0]["command"],
                         ["fixed.py"])
        before = self.cluster.job("mended")["metadata"]["uid"]
        self.amdahl("rerun", "mended", "--name", "mended-2")
        self.assertEqual(self.cluster.job("mended")["metadata"]["uid"], before)
        first, second = self.spec("mended"), self.spec("mended-2")
        self.assertNotEqual(first["checkpoint"].pop("uri"), second["checkpoint"].pop("uri"))
        self.assertEqual(second, first)


if __name__ == "__main__":
    unittest.main()
