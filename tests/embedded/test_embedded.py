"""The embedded API server as a process: what it acknowledged survives; our runtime runs on it."""

import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from embedded import EmbeddedServer  # noqa: E402
from example_case import ExampleCase  # noqa: E402

MAPS = "/api/v1/namespaces/default/configmaps"
KILLS = 5


class MirrorController(ExampleCase, unittest.TestCase):
    """The example of examples/, on the embedded server."""

    def start_server(self):
        return EmbeddedServer().up()


class Durability(unittest.TestCase):
    def test_what_was_acknowledged_survives_sigkill_and_versions_never_repeat(self):
        with EmbeddedServer() as server:
            acknowledged: dict[str, int] = {}
            for life in range(KILLS):
                self._write_until_killed(server, life, acknowledged)
                server.up()
                status, found = server.request("GET", MAPS)
                self.assertEqual(status, 200)
                kept = {item["metadata"]["name"]: int(item["metadata"]["resourceVersion"])
                        for item in found["items"]}
                self.assertLessEqual(acknowledged.items(), kept.items())
                newest = max(acknowledged.values())
                self.assertGreaterEqual(int(found["metadata"]["resourceVersion"]), newest)
            self.assertGreater(len(acknowledged), KILLS * 10)

    def _write_until_killed(self, server, life, acknowledged):
        enough = threading.Semaphore(0)

        def write(worker: int) -> None:
            for number in range(100_000):
                name = f"m-{life}-{worker}-{number}"
                try:
                    status, made = server.request("POST", MAPS, {"metadata": {"name": name}})
                except (OSError, ValueError, KeyError):
                    return  # the server was killed
                if status == 201:
                    version = int(made["metadata"]["resourceVersion"])
                    assert version not in acknowledged.values()
                    acknowledged[name] = version
                enough.release()

        workers = [threading.Thread(target=write, args=(w,), daemon=True) for w in range(4)]
        for worker in workers:
            worker.start()
        for _ in range(20 + 7 * life):
            self.assertTrue(enough.acquire(timeout=30))
        server.kill_only()
        for worker in workers:
            worker.join(timeout=30)
        server.close()


if __name__ == "__main__":
    unittest.main()
