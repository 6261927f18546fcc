"""docs/guides/uninstall.md on the embedded cluster: nothing of ours is left, and nothing hangs."""

import json
import re
import time
import unittest

from local_cli import ROOT, LocalTest

PAGE = ROOT / "docs/guides/uninstall.md"
KINDS = ("pods", "services", "podgroups", "configmaps", "secrets", "serviceaccounts", "roles",
         "rolebindings", "clusterroles", "clusterrolebindings", "customresourcedefinitions",
         "namespaces", "leases")
NOT_SERVED = "deploy/policy.yaml"  # the embedded cluster has no admission policies
JOB = {"apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
       "spec": {"runtime": "Python", "nodes": 2, "template": {"spec": {
           "terminationGracePeriodSeconds": 1, "containers": [
               {"name": "trainer", "image": "none", "command": ["sleep", "600"]}]}}}}


def commands(title: str) -> list[list[str]]:
    """The words of the commands of one section of the page."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)[1]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.S)
    return [line.split()[1:] for block in blocks for line in block.splitlines()]


class Uninstall(LocalTest):
    def items(self, kind: str, *words: str) -> list[dict]:
        return json.loads(self.home.run("get", kind, *words, "-o", "json").stdout)["items"]

    def ours(self) -> list[str]:
        """Everything that is named after us or carries a label of ours."""
        found = []
        for kind in KINDS:
            for item in self.items(kind, "-A"):
                metadata = item["metadata"]
                name = f"{metadata.get('namespace', '')}/{metadata['name']}"
                if "amdahl" in name or "amdahl.dev" in json.dumps(metadata.get("labels", {})):
                    found.append(f"{kind} {name}")
        return found

    def until(self, ready, what: str, seconds=60):
        deadline = time.monotonic() + seconds
        while not (answer := ready()):
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.1)
        return answer

    def do(self, words: list[str], **places: str) -> str:
        words = [places.get(word, word) for word in words]
        return self.home.run(*[ROOT / word if "/" in word and word.endswith(".yaml") else word
                               for word in words]).stdout

    def run_jobs(self) -> dict[str, str]:
        jobs = {"one": "research", "two": "research", "three": "default"}
        self.home.run("apply", "-f", "-", text=json.dumps(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "research"}}))
        for name, namespace in jobs.items():
            self.home.run("apply", "-f", "-", text=json.dumps(
                {**JOB, "metadata": {"name": name, "namespace": namespace}}))
        self.until(lambda: sum(pod["status"].get("phase") == "Running"
                               for pod in self.items("pods", "-A")) == 6, "all pods run")
        return jobs

    # promises: A10
    def test_the_order_of_the_page_leaves_nothing_and_no_namespace_hangs(self):
        self.home.run("local", "up", "--nodes", "2")
        for file in ("namespace", "rbac"):
            self.home.run("apply", "-f", ROOT / f"deploy/{file}.yaml")
        jobs = self.run_jobs()
        self.assertTrue(self.ours())
        list_all, delete, *look = commands("1. Jobs")
        self.assertEqual(set(jobs) - set(self.do(list_all).split()), set())
        for name, namespace in jobs.items():
            self.do(delete, JOB=name, NAMESPACE=namespace)
        self.assertEqual(len(look), 2)
        for words in look:
            self.until(lambda words=words: not set(jobs) & {
                part.split("-")[0] for part in self.do(words).split()}, " ".join(words))
        for title in ("2. The kind", "3. The operator"):
            for words in commands(title):
                if NOT_SERVED not in words:
                    self.do(words)
        self.home.run("delete", "namespace", "research")
        self.until(lambda: not self.ours(), "nothing of ours is left")
        names = {one["metadata"]["name"] for one in self.items("namespaces")}
        self.assertEqual(names & {"research", "amdahl-system"}, set())


if __name__ == "__main__":
    unittest.main()
