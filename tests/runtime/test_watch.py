"""A Store against a real API server, also one that refuses or cannot stream."""

import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cluster")]

import testbed  # noqa: E402
from watch_case import WatchBase, WatchCase  # noqa: E402


class NewServer(WatchCase, unittest.TestCase):
    @classmethod
    def start_server(cls):
        return testbed.Cluster(f"watch-new-{os.getpid()}").up()

    # rules: L2
    def test_names_what_is_forbidden_and_goes_on_trying(self):
        probe = self.probe(context="limited")
        problem = probe.wait("problem", code="forbidden")
        for part in ("configmaps", "default", "limited"):
            self.assertIn(part, problem["text"])
        self.assertNotIn(self.cluster.token("limited"), problem["text"])
        role = {"metadata": {"name": "reader"},
                "rules": [{"apiGroups": [""], "resources": ["configmaps"],
                           "verbs": ["list", "watch"]}]}
        binding = {"metadata": {"name": "reader"},
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role",
                               "name": "reader"},
                   "subjects": [{"kind": "User", "name": "limited"}]}
        rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
        self.assertEqual(self.cluster.request("POST", f"{rbac}/roles", role)[0], 201)
        self.assertEqual(self.cluster.request("POST", f"{rbac}/rolebindings", binding)[0], 201)
        probe.wait("synced")


class OldServer(WatchBase, unittest.TestCase):
    @classmethod
    def start_server(cls):
        return testbed.Cluster(f"watch-old-{os.getpid()}").up(etcd="old")

    # rules: L2
    def test_falls_back_to_pages_when_the_list_cannot_be_streamed(self):
        for n in range(1100):  # three pages
            self.create(f"many-{n}")
        probe = self.probe()
        self.assertEqual(probe.wait("synced")["objects"], 1100)
        self.create("later")
        dump = self.assert_converges(probe)
        self.assertFalse(dump["streams"])


if __name__ == "__main__":
    unittest.main()
