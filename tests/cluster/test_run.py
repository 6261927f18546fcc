"""`cluster run`: whatever ends it, nothing of the cluster is left on the machine."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import cgroups  # noqa: E402
import images  # noqa: E402
import namespaces  # noqa: E402
import nodes  # noqa: E402
import testbed  # noqa: E402
from process import wait_until  # noqa: E402

UP_SECONDS = 180  # under 20 s on an idle machine
GONE_SECONDS = 30
KINDS = ("pid", "mnt", "net")
# Where programs of a node leave things on a machine that is theirs.
PLACES = ("/run", "/dev/shm", "/var/lib", "/var/lib/cni", "/var/log", "/var/log/pods", "/etc/cni")
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  nodeName: %s
  automountServiceAccountToken: false
  containers: [{name: c, image: "%s"}]
""" % (nodes.NODE, images.PAUSE)
# A pod, and then the namespaces by which its processes can be recognised.
WITH_POD = f"""
echo '{POD}' | kubectl apply -f - && kubectl wait --for=condition=Ready --timeout=90s pod/p &&
for kind in {' '.join(KINDS)}; do echo inside $(readlink /proc/self/ns/$kind); done && echo ready
cat # until this test ends, however
"""


# Of mount(8) itself, at its first use on a machine; it stays empty.
FROM_MOUNT = {"/run/mount"}


def listing() -> set[str]:
    return ({str(path) for place in PLACES for path in Path(place).glob("*")} | {
        str(path) for path in testbed.RUN.glob("*")}) - FROM_MOUNT


def settings() -> dict[str, str]:
    return {name: Path("/proc/sys", name).read_text() for name in namespaces.KERNEL_SETTINGS}


def members(inside: set[str]) -> list[int]:
    """Processes in one of these namespaces."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        for kind in KINDS:
            try:
                if os.readlink(folder / "ns" / kind) in inside:
                    found.append(int(folder.name))
            except OSError:
                pass  # it ended while we looked
    return found


@unittest.skipIf(namespaces.refusal(), f"{namespaces.refusal()}")
class Run(unittest.TestCase):
    def setUp(self):
        testbed.RUN.mkdir(parents=True, exist_ok=True)
        self.name = f"selftest-{os.getpid()}-{time.monotonic_ns()}"
        self.files, self.settings = listing(), settings()

    def start(self, *command: str, **kwargs) -> subprocess.Popen:
        process = subprocess.Popen([HERE / "cluster", "run", "--name", self.name, "--", *command],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   start_new_session=True,
                                   **kwargs)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def until_ready(self, process: subprocess.Popen) -> set[str]:
        """The namespaces, once a pod runs."""
        said = ""
        guard = threading.Timer(UP_SECONDS, process.kill)
        guard.start()
        for line in process.stdout:
            said += line
            if line == "ready\n":
                break
        guard.cancel()
        inside = set(re.findall(r"inside (\S+)", said))
        self.assertEqual(len(inside), len(KINDS), said)
        return inside

    def check_nothing_is_left(self, inside: set[str]) -> None:
        cgroup = namespaces.cgroup_of(self.name)
        self.assertTrue(wait_until(lambda: not members(inside), GONE_SECONDS),
                        f"processes: {members(inside)}")
        self.assertTrue(wait_until(lambda: not cgroups.remaining(cgroup), GONE_SECONDS),
                        f"cgroups: {cgroups.remaining(cgroup)}")
        mounts = Path("/proc/self/mountinfo").read_text()
        self.assertNotIn(str(namespaces.STATE), mounts)
        self.assertNotIn(str(testbed.RUN), mounts)
        links = subprocess.run(["ip", "link"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn(namespaces.BRIDGE, links)
        self.assertEqual(listing() - self.files, set())
        self.assertEqual(settings(), self.settings)

    def test_a_killed_run_leaves_nothing(self):
        process = self.start("sh", "-c", WITH_POD)
        inside = self.until_ready(process)
        self.assertGreater(len(members(inside)), 9, "the test does not see what it is to miss")
        self.assertTrue(cgroups.remaining(namespaces.cgroup_of(self.name)))
        process.kill()
        self.check_nothing_is_left(inside)

    def test_an_interrupted_run_leaves_nothing(self):
        process = self.start("sh", "-c", WITH_POD)
        inside = self.until_ready(process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does at Ctrl-C
        self.assertEqual(process.wait(timeout=GONE_SECONDS), 130)
        self.check_nothing_is_left(inside)

    def test_the_command_decides_how_a_run_ends(self):
        process = self.start("sh", "-c", "kubectl get nodes -o name; exit 7")
        self.assertEqual(process.wait(timeout=UP_SECONDS), 7)
        self.assertEqual(process.stdout.read(), f"node/{nodes.NODE}\n")
        self.check_nothing_is_left(set())

    def test_a_part_that_does_not_start_is_named_with_its_last_words(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        Path(folder, "containerd").write_text("#!/bin/sh\necho no disk today >&2; exit 3\n")
        Path(folder, "containerd").chmod(0o755)
        process = self.start("true", stderr=subprocess.PIPE,
                             env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
        _, said = process.communicate(timeout=UP_SECONDS)
        self.assertEqual(process.returncode, 1)
        self.assertIn("no disk today\ncontainerd ended", said)
        self.check_nothing_is_left(set())


if __name__ == "__main__":
    unittest.main()
