"""Real kubectl against `amdahl local up`: what needs a scheduler and a kubelet."""

import contextlib
import json
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "embedded")]

from kubectl_servers import Kubectl  # noqa: E402
from local_cli import Home  # noqa: E402
from program_lines import Lines  # noqa: E402

import build  # noqa: E402
from process import wait_until  # noqa: E402

SECONDS = 30

# Writes a line, waits for a file, writes another line and ends.
TALKER = """
apiVersion: v1
kind: Pod
metadata: {name: talker, labels: {app: talker}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: none
    command: [sh, -c, 'echo first; while ! [ -e %s ]; do sleep 0.05; done; echo last']
"""

SLEEPER = """
apiVersion: v1
kind: Pod
metadata: {name: sleeper}
spec:
  terminationGracePeriodSeconds: 1
  containers: [{name: main, image: none, command: [sleep, "600"]}]
"""


class LocalCluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build.build_missing()
        cls.home = Home()
        cls.addClassCleanup(cls.home.close)
        cls.home.run("local", "up", "--in-memory", "--nodes", "2")
        cls.kubectl = Kubectl(cls.home.data / "kubeconfig", cls.home.path / "kubectl")

    def ok(self, *words: str, stdin: str = "", env: dict | None = None) -> str:
        code, out, err = self.kubectl.run(*words, stdin=stdin, env=env)
        self.assertEqual(code, 0, f"kubectl {' '.join(words)}: {out}{err}")
        return out

    def apply(self, body: str, name: str) -> None:
        self.assertIn(f"pod/{name} created", self.ok("apply", "-f", "-", stdin=body))
        self.addCleanup(self.kubectl.run, "delete", "pod", name, "--ignore-not-found",
                        "--grace-period=0", "--force")

    @contextlib.contextmanager
    def following(self, *words: str):
        with self.kubectl.start(*words, stdout=subprocess.PIPE) as process:
            lines = Lines(process)
            try:
                yield lines
            finally:
                process.terminate()
                lines.end()

    def wait_for(self, true, seen) -> None:
        self.assertTrue(wait_until(true, SECONDS), seen)

    def test_logs_follow_until_the_pod_ends(self):
        go = self.home.path / "go"
        self.apply(TALKER % go, "talker")
        self.ok("wait", "pod/talker", "--for=condition=Ready", f"--timeout={SECONDS}s")
        with self.following("logs", "-f", "talker") as lines:
            self.wait_for(lambda: lines.seen == ["first"], lines.seen)
            self.assertIsNone(lines.process.poll())
            go.touch()
            self.assertEqual(lines.end(), 0)
        self.assertEqual(lines.seen, ["first", "last"])
        self.ok("wait", "pod/talker", "--for=jsonpath={.status.phase}=Succeeded",
                f"--timeout={SECONDS}s")
        self.assertEqual(self.ok("logs", "talker", "--tail=1"), "last\n")
        self.assertEqual(self.ok("logs", "-l", "app=talker", "-c", "main"), "first\nlast\n")

    def test_get_watches_a_pod_from_its_start_to_its_end(self):
        with self.following("get", "pods", "-w", "--field-selector=metadata.name=sleeper") as lines:
            self.apply(SLEEPER, "sleeper")
            self.wait_for(lambda: any(" Running " in line for line in lines.seen), lines.seen)
            self.ok("delete", "pod", "sleeper")
            self.wait_for(lambda: any(" Terminating " in line for line in lines.seen), lines.seen)
        self.assertRegex(lines.seen[0], r"^NAME +READY +STATUS +RESTARTS +AGE$")
        self.assertTrue(all(line.startswith("sleeper ") for line in lines.seen[1:]), lines.seen)

    def test_wait_sees_a_pod_become_ready_and_go(self):
        self.apply(SLEEPER.replace("sleeper", "waited"), "waited")
        ready = self.ok("wait", "pod/waited", "--for=condition=Ready", f"--timeout={SECONDS}s")
        self.assertEqual(ready, "pod/waited condition met\n")
        self.ok("delete", "pod", "waited", "--wait=false")
        self.ok("wait", "pod/waited", "--for=delete", f"--timeout={SECONDS}s")
        code, _, err = self.kubectl.run("get", "pod", "waited")
        self.assertEqual((code, "NotFound" in err), (1, True), err)

    def test_edit_describe_and_events_of_a_running_pod(self):
        self.apply(SLEEPER.replace("sleeper", "edited"), "edited")
        self.ok("wait", "pod/edited", "--for=condition=Ready", f"--timeout={SECONDS}s")
        env = {"KUBE_EDITOR": "sed -i 's/^  name: edited$/&\\n  labels: {tier: front}/'"}
        self.assertIn("pod/edited edited", self.ok("edit", "pod", "edited", env=env))
        pod = json.loads(self.ok("get", "pod", "edited", "-o", "json"))
        self.assertEqual(pod["metadata"]["labels"], {"tier": "front"})
        shown = self.ok("describe", "pod", "edited")
        self.assertRegex(shown, r"Node: +local-\d")
        self.assertRegex(shown, r"Ready +True")
        self.assertRegex(self.ok("get", "pod", "edited", "-o", "wide"), r" Running .* local-\d ")
        self.assertIn("Started container main", self.ok("events", "--for", "pod/edited"))


if __name__ == "__main__":
    unittest.main()
