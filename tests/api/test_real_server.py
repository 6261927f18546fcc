"""crds/trainingjobs.yaml and the rows of spec_fields.json on a real kube-apiserver."""

import copy
import json
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "cluster"), str(ROOT / "tests" / "conformance")]

import build  # noqa: E402
import testbed  # noqa: E402
from kubectl_servers import Kubectl  # noqa: E402

CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/trainingjobs.amdahl.dev"
JOBS = "/apis/amdahl.dev/v1alpha1/namespaces/default/trainingjobs"
ROWS = json.loads((HERE / "spec_fields.json").read_text())
EXAMPLES = sorted((ROOT / "examples").glob("trainingjob-*.yaml"))
READY_SECONDS_MAX = 30


def at(value, path: str):
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def setUpModule():
    build.build_missing()


class RealServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = testbed.Cluster(f"api-{os.getpid()}").up()
        cls.addClassCleanup(cls.cluster.down)
        home = tempfile.TemporaryDirectory(prefix="amdahl-api-")
        cls.addClassCleanup(home.cleanup)
        cls.kubectl = Kubectl(cls.cluster.kubeconfig, Path(home.name))
        # Client-side apply keeps the manifest in an annotation of at most 256 KiB.
        code, out, err = cls.kubectl.run("apply", "-f", str(ROOT / "crds" / "trainingjobs.yaml"))
        assert code == 0 and not err, out + err  # a warning is one too
        deadline = time.monotonic() + READY_SECONDS_MAX
        while cls.cluster.request("GET", JOBS)[0] != 200:
            assert time.monotonic() < deadline, cls.cluster.request("GET", CRD)
            time.sleep(0.1)
        cls.schema = cls.cluster.request("GET", CRD)[1]["spec"]["versions"][0]["schema"][
            "openAPIV3Schema"]
        cls.refusals = []
        cls.made = 0

    def create(self, job: dict) -> dict:
        type(self).made += 1
        job = copy.deepcopy(job)
        job["metadata"]["name"] = f"job-{self.made}"
        status, made = self.cluster.request("POST", JOBS, job)
        self.assertEqual(status, 201, made)
        return made

    def patch(self, name: str, operations: list, part: str = "") -> tuple[int, dict]:
        status, body = self.cluster.request("PATCH", f"{JOBS}/{name}{part}", operations,
                                            content_type="application/json-patch+json")
        if status != 200:
            self.refusals.append(body["message"])
        return status, body

    # --- the definition

    def test_the_definition_is_served_and_has_no_complaints(self):
        conditions = {c["type"]: c["status"]
                      for c in self.cluster.request("GET", CRD)[1]["status"]["conditions"]}
        self.assertEqual(conditions, {"NamesAccepted": "True", "Established": "True"})

    def test_kubectl_explains_every_field(self):
        code, out, err = self.kubectl.run("explain", "tj", "--recursive")
        self.assertEqual(code, 0, err)
        for row in ROWS["fields"]:
            self.assertIn(row["path"].split(".")[-1] + "\t", out)
        code, out, err = self.kubectl.run("explain", "trainingjob.spec.checkpoint.pause.policy")
        self.assertEqual(code, 0, err)
        self.assertIn("BestEffort stops anyway", " ".join(out.split()))

    def test_examples_apply_and_are_listed_with_columns(self):
        self.assertEqual(len(EXAMPLES), 3)
        for path in EXAMPLES:
            code, out, err = self.kubectl.run("apply", "--validate=strict", "-f", str(path))
            self.assertEqual(code, 0, out + err)
        status = {"phase": "Running", "progress": {"step": 40, "percent": 12}, "restarts": 0,
                  "gpuSeconds": {"held": 10, "goodput": 0.5}, "reason": "AllRanksStarted"}
        code, body = self.patch("llama-ft", [{"op": "add", "path": "/status", "value": status}],
                                "/status")
        self.assertEqual(code, 200, body)
        code, out, err = self.kubectl.run("get", "amdahl", "-o", "name")
        self.assertIn("trainingjob.amdahl.dev/llama-ft", out.split(), err)
        code, out, err = self.kubectl.run("get", "tj", "-o", "wide")
        self.assertEqual(code, 0, err)
        self.assertEqual(out.split("\n")[0].split(), "NAME PHASE STEP PROGRESS LAST-STEP WORKERS "
                         "RESTARTS QUEUE AGE CHECKPOINT GOODPUT REASON".split())
        row = next(line for line in out.split("\n") if line.startswith("llama-ft "))
        self.assertEqual(row.split()[1:4], ["Running", "40", "12"])

    # --- fields and rules, as in spec_fields_test.cpp

    def test_every_field_and_rule(self):
        for row in ROWS["fields"]:
            with self.subTest(row["path"]):
                self.check_field(row)
        for rule in ROWS["rules"]:
            with self.subTest(rule["name"]):
                self.check_rule(rule)
        for message in self.messages(self.schema["properties"]["spec"]):
            with self.subTest(message):
                self.assertTrue(any(message in text for text in self.refusals))

    def check_field(self, row: dict):
        job = copy.deepcopy(ROWS["job"])
        made = self.create(job)
        name, pointer = made["metadata"]["name"], "/spec/" + row["path"].replace(".", "/")
        if "before" in row:
            made = self.patch(name, row["before"])[1]
        first = made["spec"]

        def set_to(value):
            return self.patch(name, [{"op": "add", "path": pointer, "value": value}])

        for value in row["refused"]:
            status, body = set_to(value)
            self.assertEqual(status, 422, (value, body))
            self.assertIn(f"spec.{row['path']}", body["message"])
        status, body = set_to(row["change"])
        if "immutable" in row:
            self.assertIn(row["immutable"], body["message"])
        else:
            self.assertEqual(status, 200, body)
            found = at(body["spec"], row["path"])
            if isinstance(found, dict):
                found = {key: found[key] for key in row["change"]}
            self.assertEqual(found, row["change"])
        self.check_removed(row, self.patch(name, [{"op": "remove", "path": pointer}]))
        status, body = set_to(at(first, row["path"]))
        if "sticky" in row:
            self.assertIn(row["sticky"], body["message"])
        else:
            self.assertEqual((status, body.get("spec")), (200, first), body)

    def check_removed(self, row: dict, answer: tuple[int, dict]):
        status, body = answer
        parent, _, last = row["path"].rpartition(".")
        above = self.schema["properties"]["spec"]
        for part in parent.split(".") if parent else ():
            above = above["properties"][part]
        if last in above.get("required", ()) or "sticky" in row:
            self.assertEqual(status, 422, body)
            self.assertIn(f"spec.{row['path']}", body["message"])
            return
        self.assertEqual(status, 200, body)
        default = above["properties"][last].get("default")
        found = at(body["spec"], row["path"])
        if isinstance(default, dict):
            self.assertIsInstance(found, dict)
        else:
            self.assertEqual(found, default)

    def check_rule(self, rule: dict):
        name = self.create(ROWS["job"])["metadata"]["name"]
        for step in rule["steps"]:
            status, body = self.patch(name, step["patch"])
            self.assertEqual(status, 422 if "refused" in step else 200, (step, body))
            if "refused" in step:
                self.assertIn(step["refused"], body["message"])

    def messages(self, schema: dict):
        yield from (rule["message"] for rule in schema.get("x-kubernetes-validations", ()))
        for part in schema.get("properties", {}).values():
            yield from self.messages(part)

    def test_names(self):
        job = copy.deepcopy(ROWS["job"])
        for name in ROWS["names"]["accepted"]:
            job["metadata"]["name"] = name
            self.assertEqual(self.cluster.request("POST", JOBS, job)[0], 201)
        for name, message in ROWS["names"]["refused"].items():
            job["metadata"]["name"] = name
            status, body = self.cluster.request("POST", JOBS, job)
            self.assertEqual(status, 422, body)
            self.assertIn(message, body["message"])


if __name__ == "__main__":
    unittest.main()
