"""Completion of live names, and the program as a plugin of kubectl."""

import shlex
import subprocess
import time
import unittest

from job_cluster import JobTest


class Names(JobTest):
    def test_names_of_jobs_are_completed(self):
        for name in ("llama-1", "llama-2", "zebra"):
            self.submit(name)
        self.assertEqual(self.amdahl("__complete", "describe", "lla"), "llama-1\nllama-2\n")
        self.assertEqual(self.amdahl("__complete", "pause", "llama-1", "lla"), "llama-2\n")
        self.assertEqual(self.amdahl("__complete", "logs", "tj/z"), "tj/zebra\n")
        self.assertEqual(self.amdahl("__complete", "wait", "-n", "nowhere", ""), "")
        self.assertEqual(self.amdahl("__complete", "local", ""), "")
        self.assertEqual(self.amdahl("__complete", "di"), "diagnose\n")
        program = str(self.cluster.program)
        ask = (self.amdahl("completion", "bash") +
               f'COMP_WORDS=({shlex.quote(program)} describe "lla"); COMP_CWORD=2; _amdahl; '
               'echo "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, timeout=60,
                              env=self.cluster.environment)
        self.assertEqual((done.stdout, done.stderr), ("llama-1 llama-2\n", ""))
        self.assertIn("__complete", self.amdahl("completion", "fish"))

    def test_completion_is_silent_and_soon_over_when_nobody_answers(self):
        config = self.cluster.path / "dead"
        text = (self.cluster.data / "kubeconfig").read_text()
        port = self.cluster.status()["address"].rpartition(":")[2]
        config.write_text(text.replace(f":{port}", ":1"))
        begin = time.monotonic()
        done = self.cluster.run("__complete", "describe", "--kubeconfig", config, "")
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assertLess(time.monotonic() - begin, 5)

    def test_the_plugin_is_the_same_program_and_says_its_own_name(self):
        plugin = self.cluster.program.with_name("kubectl-amdahl")
        text = subprocess.run([plugin, "get", "--help"], capture_output=True, text=True,
                              timeout=60, check=True).stdout
        self.assertIn("Usage: kubectl amdahl get ", text)
        self.assertIn("  kubectl amdahl get pods -A -o wide\n", text)
        complete = self.cluster.program.with_name("kubectl_complete-amdahl")
        words = subprocess.run([complete, "re"], capture_output=True, text=True, timeout=60)
        self.assertEqual(words.stdout, "resume\nrerun\n")
        listed = subprocess.run([plugin, "get", "ns"], capture_output=True, text=True, timeout=60,
                                env=self.cluster.environment)
        self.assertIn("default", listed.stdout)


if __name__ == "__main__":
    unittest.main()
