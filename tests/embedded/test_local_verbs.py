"""The verbs of `amdahl` against the cluster it started, and the kubeconfigs that lead there."""

import json
import os
import subprocess
import sys
import unittest

from local_cli import MAP, PROGRAM, ROOT, Home, LocalTest, mode


class Kubeconfigs(LocalTest):
    # promises: A10
    def test_a_context_is_merged_and_taken_out_again(self):
        home = self.home
        mine = home.path / "config"
        text = ("# mine\napiVersion: v1\nkind: Config\nclusters:\n- name: prod\n  cluster:\n"
                "    server: https://prod:1  # far away\ncontexts:\n- name: prod\n"
                "  context: {cluster: prod, user: ann}\nusers:\n- name: ann\n  user: {token: t}\n"
                "current-context: prod\n")
        mine.write_text(text)
        mine.chmod(0o644)
        link = home.path / "link"
        link.symlink_to(mine)
        home.run("local", "up", "--kubeconfig", link)
        merged = mine.read_text()
        self.assertIn("# far away", merged)
        self.assertIn("current-context: prod", merged)
        self.assertEqual(mode(mine), 0o600)  # it holds a token now
        self.assertTrue(link.is_symlink())
        words = ("--kubeconfig", link, "--context", "amdahl-local")
        self.assertIn("default", home.run("get", "ns", *words).stdout)
        home.run("local", "up", "--kubeconfig", link)
        self.assertEqual(mine.read_text(), merged)
        home.run("local", "reset", "--yes")
        self.assertEqual(mine.read_text(), text)

    def test_a_file_that_is_no_kubeconfig_stays_as_it_is(self):
        mine = self.home.path / "config"
        mine.write_text("clusters: [")
        self.assertIn(str(mine), self.refused("local", "up", "--kubeconfig", mine))
        self.assertEqual(mine.read_text(), "clusters: [")

    def test_a_missing_file_is_made(self):
        mine = self.home.path / ".kube/config"
        self.home.run("local", "up", "--kubeconfig", mine)
        self.assertEqual(mode(mine), 0o600)
        self.assertIn("default", self.home.run("get", "ns").stdout)

    def test_without_any_kubeconfig_the_local_cluster_is_meant(self):
        self.assertIn("amdahl local up", self.refused("get", "pods"))
        self.home.run("local", "up")
        self.assertIn("default", self.home.run("get", "ns").stdout)
        missing = self.home.path / "missing"
        self.refused("get", "ns", env={"KUBECONFIG": str(missing)})


class Verbs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.addClassCleanup(cls.home.close)
        cls.home.run("local", "up", "--in-memory")

    def run_verb(self, *words, **options):
        return self.home.run(*words, **options).stdout

    def test_apply_get_delete(self):
        self.assertEqual(self.run_verb("apply", "-f", "-", text=MAP),
                         "configmap/greeting created\nnamespace/research created\n"
                         "configmap/other created\n")
        self.assertIn("configmap/greeting unchanged", self.run_verb("apply", "-f", "-", text=MAP))
        changed = self.run_verb("apply", "-f", "-", text=MAP.replace("world", "moon"))
        self.assertIn("configmap/greeting configured", changed)
        self.assertRegex(self.run_verb("get", "cm", "greeting"),
                         r"^NAME +DATA +AGE\ngreeting   1 +\d+s\n$")
        self.assertEqual(self.run_verb("get", "cm", "-A", "-l", "team=blue", "-o", "name"),
                         "configmap/other\n")
        self.assertRegex(self.run_verb("get", "configmaps", "-A"), r"research +other +0 ")
        self.assertEqual(json.loads(self.run_verb("get", "cm/greeting", "-o", "json"))["data"],
                         {"hello": "moon"})
        whole = self.run_verb("get", "ConfigMap", "greeting", "-o", "yaml")
        self.assertIn("data:\n  hello: moon\n", whole)
        listed = json.loads(self.run_verb("get", "cm", "-o", "json"))
        self.assertEqual((listed["kind"], listed["items"][0]["kind"]), ("List", "ConfigMap"))
        self.assertIn("configmap/greeting", self.run_verb("get", "cm,ns"))
        self.assertEqual(self.run_verb("delete", "cm", "greeting"), "configmap/greeting deleted\n")
        gone = self.home.run("get", "cm", "greeting", check=False)
        self.assertEqual(gone.returncode, 1)
        self.assertIn("greeting", gone.stderr)
        self.assertEqual(self.run_verb("delete", "cm/greeting", "--ignore-not-found"), "")
        self.assertIn("namespace/research deleted",
                      self.run_verb("delete", "-f", "-", "--ignore-not-found", text=MAP))

    def test_kinds_of_a_crd_in_the_same_file(self):
        text = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: robots.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: robots, singular: robot, kind: Robot, shortNames: [rb]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {arms: {type: integer}}}}
    additionalPrinterColumns: [{name: Arms, type: integer, jsonPath: .spec.arms}]
---
apiVersion: example.org/v1
kind: Robot
metadata: {name: marvin}
spec: {arms: 2}
"""
        applied = self.run_verb("apply", "-f", "-", text=text)
        self.assertIn("robot.example.org/marvin created", applied)
        self.assertEqual(self.run_verb("get", "rb"), "NAME     ARMS\nmarvin   2\n")
        self.assertEqual(self.run_verb("get", "robots.example.org", "--no-headers"), "marvin   2\n")

    def test_watch_shows_changes(self):
        self.run_verb("apply", "-f", "-", text=MAP.split("---")[0].replace("greeting", "seen"))
        watch = self.home.start("get", "cm", "seen", "-w")
        try:
            self.assertRegex(watch.stdout.readline(), "^NAME ")
            self.assertRegex(watch.stdout.readline(), r"^seen +1 ")
            more = MAP.split("---")[0].replace("greeting", "seen") + "  more: data\n"
            self.run_verb("apply", "-f", "-", text=more)
            self.assertRegex(watch.stdout.readline(), r"^seen +2 ")
        finally:
            watch.kill()
            watch.communicate()

    def test_errors_name_the_object_and_the_place(self):
        for text, word in (("kind: Pod\n", "apiVersion"), ("a: [", "standard input"),
                           ("", "no object"),
                           ("apiVersion: v1\nkind: ConfigMap\n", "metadata.name"),
                           ("apiVersion: v1\nkind: Nonsense\nmetadata: {name: a}\n", "Nonsense"),
                           ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndate: {}\n",
                            "date")):
            done = self.home.run("apply", "-f", "-", text=text, check=False)
            self.assertEqual(done.returncode, 1, text)
            self.assertIn(word, done.stderr)
        for words, word in ((("get", "nonsense"), "nonsense"), (("get", "cm", "nobody"), "nobody"),
                            (("delete", "cm"), "which cm"), (("logs", "nobody"), "nobody"),
                            (("apply", "-f", "/nowhere.yaml"), "/nowhere.yaml"),
                            (("get", "cm", "--context", "x"), "x")):
            done = self.home.run(*words, check=False)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(word, done.stderr)

    def test_completion_knows_the_verbs(self):
        script = self.run_verb("completion", "bash")
        ask = script + 'COMP_WORDS=(amdahl local "") COMP_CWORD=2; _amdahl; echo "${COMPREPLY[@]}"'
        words = subprocess.check_output(["bash", "-c", ask], text=True)
        self.assertTrue({"up", "down", "status", "reset"} <= set(words.split()))
        self.assertNotIn("serve", words.split())
        self.assertIn("-a completion", self.run_verb("completion", "fish"))
        self.assertIn("bashcompinit", self.run_verb("completion", "zsh"))

    def test_the_reference_page_is_what_help_says(self):
        page = subprocess.run([sys.executable, ROOT / "tools/cli_page.py", "--check"],
                              env=os.environ | {"AMDAHL_CLI": str(PROGRAM)},
                              capture_output=True, text=True)
        self.assertEqual(page.returncode, 0, page.stdout + page.stderr)

    def test_version(self):
        self.assertRegex(self.run_verb("version"), r"^amdahl \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
