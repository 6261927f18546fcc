"""What the example controller promises in its first comment, on any API server."""

import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAPS = "/api/v1/namespaces/default/configmaps"
PROGRAM = Path(os.environ.get("AMDAHL_EXAMPLE", ROOT / "build/dev/examples/mirror_controller"))


class ExampleCase:
    """A test case says start_server(): something with request(), kubeconfig and down()."""

    def setUp(self):
        self.cluster = self.start_server()
        self.addCleanup(self.cluster.down)
        environment = {**os.environ, "KUBECONFIG": str(self.cluster.kubeconfig)}
        self.process = subprocess.Popen([PROGRAM, "default"], env=environment)
        self.addCleanup(lambda: self.process.poll() is None and self.process.kill())

    def mirror(self) -> dict:
        return self.cluster.request("GET", f"{MAPS}/greeting-mirror")[1]

    def wait(self, wanted, seconds: float = 30) -> dict:
        deadline = time.monotonic() + seconds
        while not wanted(found := self.mirror()):
            self.assertLess(time.monotonic(), deadline, found)
            time.sleep(0.05)
        return found

    # rules: W1, W9
    def test_mirrors_repairs_and_stops(self):
        original = {"metadata": {"name": "greeting", "labels": {"mirror": "yes"}},
                    "data": {"hello": "world"}}
        self.assertEqual(self.cluster.request("POST", MAPS, original)[0], 201)
        made = self.wait(lambda m: m.get("data") == {"hello": "world"})
        owner = made["metadata"]["ownerReferences"][0]
        self.assertEqual((owner["name"], owner["controller"]), ("greeting", True))

        self.cluster.request("DELETE", f"{MAPS}/greeting-mirror")
        again = self.wait(lambda m: m.get("data") == {"hello": "world"})
        self.assertNotEqual(again["metadata"]["uid"], made["metadata"]["uid"])

        self.cluster.request("PATCH", f"{MAPS}/greeting", {"data": {"hello": None, "bye": "moon"}},
                             content_type="application/merge-patch+json")
        self.wait(lambda m: m.get("data") == {"bye": "moon"})
        self.process.terminate()
        self.assertEqual(self.process.wait(timeout=30), 0)
