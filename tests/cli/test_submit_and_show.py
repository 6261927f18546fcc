"""submit, get, describe, diagnose and top: what they show, and what they refuse."""

import json
import unittest

from job_cluster import JOB, JobTest, condition, job_text

CAUSE = {"class": "UserException", "role": "Root", "domain": "Workload", "rank": 1,
         "outlook": "CannotRecoverUnchanged", "confidence": "Confirmed", "pod": "broken-1-1",
         "exitCode": 1, "message": "KeyError: 'labels'", "hint": "Fix train.py."}


class Submit(JobTest):
    def test_a_job_is_created_and_the_next_step_told(self):
        out = self.amdahl("submit", "-", text=job_text("fresh"))
        self.assertEqual(out, "trainingjob.amdahl.dev/fresh created\n"
                              "Next: amdahl describe fresh -w\n")
        again = self.amdahl("submit", "-", text=job_text("fresh"), code=1)
        self.assertIn("exists already", again)

    def test_a_dry_run_creates_nothing_and_still_checks(self):
        out = self.amdahl("submit", "-", "--dry-run", "-o", "json", text=job_text("dry"))
        self.assertEqual(json.loads(out)["spec"]["suspend"], False)
        self.assertIn("dry", self.amdahl("get", "dry", code=1))
        bad = job_text("dry").replace("nodes: 2", "nodes: 0")
        self.assertIn("nodes", self.amdahl("submit", "-", "--dry-run", text=bad, code=1))

    def test_the_server_may_make_the_name(self):
        text = JOB % "generateName: swept-"
        names = {self.amdahl("submit", "-", "-o", "name", text=text) for _ in range(2)}
        self.assertEqual(len(names), 2)
        self.assertTrue(all(name.startswith("trainingjob.amdahl.dev/swept-") for name in names))

    def test_other_kinds_are_refused_before_anything_is_created(self):
        other = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
        said = self.amdahl("submit", "-", text=job_text("mixed") + other, code=1)
        self.assertRegex(said, "ConfigMap settings is no TrainingJob.*amdahl apply -f")
        self.assertIn("mixed", self.amdahl("get", "mixed", code=1))

    def test_a_field_that_does_not_exist_is_named(self):
        text = job_text("typo").replace("nodes:", "nodez: 1\n  nodes:")
        self.assertIn("nodez", self.amdahl("submit", "-", text=text, code=1))


class Show(JobTest):
    def test_get_without_a_word_lists_jobs_and_a_name_is_a_job(self):
        self.submit("listed")
        self.cluster.set_status("listed", phase="Running")
        table = self.amdahl("get")
        self.assertRegex(table, r"^NAME +PHASE +STEP ")
        self.assertRegex(table, r"\nlisted +Running ")
        self.assertRegex(self.amdahl("get", "listed", "--no-headers"), r"^listed +Running ")
        self.assertEqual(self.amdahl("get", "listed", "-o", "name"),
                         "trainingjob.amdahl.dev/listed\n")
        self.assertEqual(json.loads(self.amdahl("get", "listed", "-o", "json"))["kind"],
                         "TrainingJob")
        self.assertIn("default", self.amdahl("get", "ns"))
        self.amdahl("get", "listed", "-A", code=1)
        self.assertRegex(self.amdahl("get", "nobody", code=1), "no kind.*no TrainingJob")

    def test_describe_and_diagnose_tell_why_it_failed(self):
        self.submit("broken")
        pod = self.cluster.add_pod("broken", 1, 1)
        self.cluster.add_event("broken", "RankFailed", "rank 1 failed")
        self.cluster.set_status(
            "broken", condition("Failed", True, "CannotRecover", "trying again is pointless"),
            phase="Failed", attempt=1,
            attempts=[{"number": 1, "outcome": "Failed", "cause": CAUSE}])
        shown = self.amdahl("describe", "broken")
        for line in (r"Phase: +Failed \(CannotRecover\)", "Cause: +UserException on rank 1",
                     r"Next: +Fix train.py\.", r"`-- rank 1 +broken-1-1 ",
                     "Warning +RankFailed +rank 1 failed"):
            self.assertRegex(shown, line)
        told = self.amdahl("diagnose", "tj/broken")
        self.assertRegex(told, "Evidence: +KeyError: 'labels'\n")
        self.assertRegex(told, f"Next: +amdahl logs {pod} -n default\n")
        found = json.loads(self.amdahl("diagnose", "broken", "-o", "json"))
        self.assertEqual(found["cause"], CAUSE)
        whole = json.loads(self.amdahl("describe", "broken", "-o", "json"))
        self.assertEqual(whole["metadata"]["name"], "broken")
        self.assertIn("kind: TrainingJob\n", self.amdahl("describe", "broken", "-o", "yaml"))

    def test_diagnose_tells_what_a_job_waits_for(self):
        self.submit("queued")
        self.assertIn("no operator has looked", self.amdahl("diagnose", "queued"))
        self.cluster.set_status(
            "queued", condition("Admitted", False, "Queued"), phase="Queued",
            pending={"reason": "GangShort", "message": "the gang is short by 1 of 2 pods"})
        self.assertRegex(self.amdahl("diagnose", "queued"),
                         "Evidence: +GangShort: the gang is short by 1 of 2 pods\n")

    def test_top_sorts_by_waste(self):
        for name, productive in (("thrifty", 90), ("wasteful", 10)):
            self.submit(name)
            self.cluster.set_status(
                name, condition("Running", True, "AllRanksStarted"), phase="Running",
                workers={"desired": 2, "created": 2, "bound": 2, "running": 2, "ready": 2},
                progress={"step": 7, "stepSeconds": 0.5,
                          "metrics": [{"name": "loss", "value": "2.5"}]},
                gpuSeconds={"held": 100, "phases": [
                    {"name": "productive", "seconds": productive},
                    {"name": "init", "seconds": 100 - productive}]})
        lines = self.amdahl("top").splitlines()
        self.assertRegex(lines[0], r"^NAME +PHASE +GPUS ")
        self.assertRegex(lines[1], r"^wasteful +Running +8 +100 +10% +90% +init 90% +7 +2 +2\.5$")
        self.assertRegex(lines[2], r"^thrifty +Running +8 +100 +90% +10% ")
        rows = json.loads(self.amdahl("top", "-A", "-o", "json"))["jobs"]
        self.assertEqual([row["name"] for row in rows[:2]], ["wasteful", "thrifty"])

    def test_what_is_missing_is_named(self):
        for verb in ("describe", "diagnose", "pause", "resume", "wait"):
            more = ("--for=Running",) if verb == "wait" else ()
            said = self.amdahl(verb, "nobody", *more, code=1)
            self.assertIn('namespace default has no TrainingJob "nobody"', said)


if __name__ == "__main__":
    unittest.main()
