"""Informers and watches that others wrote, on the embedded server over TLS."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import go_programs  # noqa: E402
import kubectl_objects as objects  # noqa: E402
from kubectl_servers import HERE, Kubectl, TlsEmbeddedServer  # noqa: E402

import build  # noqa: E402

PYTHON_CLIENT = "kubernetes==34.1.0"
SECONDS = 120


def python_client() -> Path | None:
    """A Python with the client, in a venv under build/; none when it cannot be installed."""
    venv = build.HOME / PYTHON_CLIENT.replace("==", "-")
    python = venv / "bin" / "python3"
    if (venv / "installed").exists():
        return python
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    done = subprocess.run([venv / "bin" / "pip", "install", "--quiet", PYTHON_CLIENT,
                           "--disable-pip-version-check"], capture_output=True, text=True)
    if done.returncode:
        print(f"{PYTHON_CLIENT} cannot be installed: {done.stderr}", file=sys.stderr)
        return None
    (venv / "installed").touch()
    return python


class Informers(unittest.TestCase):
    def setUp(self):
        build.build_missing()
        self.server = self.enterContext(TlsEmbeddedServer())
        kubectl = Kubectl(self.server.kubeconfig, self.server.dir / "home")
        code, _, err = kubectl.run("create", "-f", "-", stdin=objects.CRD)
        self.assertEqual(code, 0, err)

    def run_client(self, *command) -> dict:
        done = subprocess.run([*command, self.server.kubeconfig], capture_output=True, text=True,
                              timeout=SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_client_go_syncs_and_stays_in_sync(self):
        counted = self.run_client(go_programs.program("informers"))
        whole = {"added": 50, "changed": 50, "removed": 25, "kept": 25}
        self.assertEqual(counted, dict.fromkeys(
            ("pods", "configmaps", "dynamic configmaps", "widgets"), whole))

    def test_the_python_client_sees_every_event(self):
        python = python_client()
        if python is None:
            self.skipTest(f"{PYTHON_CLIENT} cannot be installed here")
        counted = self.run_client(python, HERE / "kubectl_python_watch.py")
        self.assertEqual(counted, {"events": 60, "version": "34"})


if __name__ == "__main__":
    unittest.main()
