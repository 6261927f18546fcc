"""submit, get, describe, diagnose and top: what they show, and what they refuse."""

import json
import time
import unittest

from job_cluster import JOB, PODS, JobTest, condition, job_text

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

    # promises: D11
    def test_the_pod_is_checked_before_anything_is_created(self):
        typo = job_text("pod-typo").replace("command: [train.py]", "comand: [train.py]")
        for words in ([], ["--dry-run"]):
            said = self.amdahl("submit", "-", *words, text=typo, code=1)
            self.assertRegex(said, 'spec.template makes no valid pod: .*comand')
        self.assertIn("pod-typo", self.amdahl("get", "pod-typo", code=1))
        wrong = job_text("pod-wrong").replace("name: trainer", "name: Trainer_1")
        self.assertIn("spec.template makes no valid pod",
                      self.amdahl("submit", "-", "--dry-run", text=wrong, code=1))
        self.assertEqual(self.cluster.call("GET", PODS + "?labelSelector=none")["items"], [])

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


# As YAML after "metadata: {name: NAME}"; the server takes some of them, and refuses the others.
HOSTILE = {
    "no-spec": "",
    "spec-list": "spec: []",
    "spec-text": "spec: text",
    "template-list": "spec: {runtime: Python, nodes: 1, template: [1]}",
    "template-text": "spec: {runtime: Python, nodes: 1, template: text}",
    "pod-metadata": "spec: {runtime: Python, nodes: 1, template: {metadata: 5, spec: 5}}",
    "pod-containers": "spec: {runtime: Python, nodes: 1, template: {spec: {containers: {}}}}",
    "pod-names": "spec: {runtime: Python, nodes: 1, template: {spec: {containers: [{name: 5, "
                 "resources: {limits: {a/gpu: 9e99, b/gpu: 9223372036854775807, "
                 "c/gpu: 9223372036854775807}}}]}}}",
    "pod-limits": "spec: {runtime: Python, nodes: 1, template: {spec: {containers: [5, null, "
                  "{name: null, resources: {limits: [1]}}]}}}",
    "suspend": "spec: {runtime: Python, nodes: 1, suspend: [], checkpoint: 7, template: {}}",
}


class Hostile(JobTest):
    def survives(self, *words, **options) -> None:
        """A refusal is fine; an end by a signal is not."""
        done = self.cluster.run(*words, check=False, **options)
        self.assertIn(done.returncode, (0, 1), f"amdahl {words}\n{done.stdout}{done.stderr}")

    def test_no_shape_of_a_manifest_ends_the_program(self):
        for name, rest in HOSTILE.items():
            text = ("apiVersion: amdahl.dev/v1alpha1\nkind: TrainingJob\n"
                    f"metadata: {{name: {name}, namespace: 5}}\n{rest}\n")
            for words in (("submit", "-", "--dry-run"), ("submit", "-"), ("apply", "-f", "-")):
                self.survives(*words, text=text)
        stored = self.amdahl("get", "-o", "name")
        self.assertIn("pod-names", stored)  # the server takes any template
        for name in ("pod-names", "pod-limits"):
            for verb in (("logs",), ("describe",), ("diagnose",), ("rerun",)):
                self.survives(*verb, name)
        self.amdahl("top")
        for name in HOSTILE:
            self.survives("delete", "trainingjob", name, "--ignore-not-found")

    def test_metadata_of_other_types_is_refused(self):
        for metadata in ("5", "[]", "{name: 5}", "{name: []}", "{generateName: 5}"):
            text = f"apiVersion: amdahl.dev/v1alpha1\nkind: TrainingJob\nmetadata: {metadata}\n"
            for words in (("submit", "-"), ("apply", "-f", "-")):
                self.assertIn("metadata.name", self.amdahl(*words, text=text, code=1))


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
                gpuSeconds={"held": 100, "goodput": productive / 100, "phases": [
                    {"name": "productive", "seconds": productive},
                    {"name": "init", "seconds": 100 - productive}]})
        lines = self.amdahl("top").splitlines()
        self.assertRegex(lines[0], r"^NAME +PHASE +GPUS ")
        self.assertRegex(lines[1], r"^wasteful +Running +8 +100 +10% +90% +init 90% +7 +2 +2\.5$")
        self.assertRegex(lines[2], r"^thrifty +Running +8 +100 +90% +10% ")
        rows = json.loads(self.amdahl("top", "-A", "-o", "json"))["jobs"]
        self.assertEqual([row["name"] for row in rows[:2]], ["wasteful", "thrifty"])

    # promises: D11
    # fields: status.progress.lastStepAt
    def test_a_silent_job_says_for_how_long(self):
        self.submit("silent")
        then = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 370))
        self.cluster.set_status(
            "silent", condition("Running", True, "AllRanksStarted"), phase="Running",
            progress={"step": 7, "totalSteps": 100, "percent": 7, "stepSeconds": 0.5,
                      "etaSeconds": 46, "lastStepAt": then})
        shown = self.amdahl("describe", "silent")
        self.assertRegex(shown, r"Progress: +step 7 of 100 \(7%\), no step for 6m")
        self.assertNotIn("left", shown)
        self.assertIn("there was no step for 6m", self.amdahl("diagnose", "silent"))
        self.assertRegex(self.amdahl("top"), r"\nsilent .* 7 +no step for 6m")
        header, row = self.amdahl("get", "silent").splitlines()
        self.assertTrue(row[header.index("LAST-STEP"):].startswith("6m"), row)

    # promises: D11
    def test_describe_tells_each_fact_once(self):
        message = "rank 1 ended with KeyError: 'labels' in train.py line 7"
        self.submit("repeated")
        self.cluster.add_event("repeated", "RankFailed", f"attempt 1 failed: {message}")
        self.cluster.set_status(
            "repeated", condition("Failed", True, "CannotRecover", message), phase="Failed",
            attempt=1, attempts=[{"number": 1, "outcome": "Failed",
                                  "cause": CAUSE | {"message": message}}])
        self.assertEqual(self.amdahl("describe", "repeated").count(message), 1)

    # promises: D11
    def test_unknown_verbs_get_a_suggestion(self):
        self.assertIn("did you mean 'amdahl pause' or 'amdahl cancel'?",
                      self.amdahl("stop", "x", code=2))

    def test_what_is_missing_is_named(self):
        for verb in ("describe", "diagnose", "pause", "resume", "wait"):
            more = ("--for=Running",) if verb == "wait" else ()
            said = self.amdahl(verb, "nobody", *more, code=1)
            self.assertIn('namespace default has no TrainingJob "nobody"', said)


if __name__ == "__main__":
    unittest.main()
