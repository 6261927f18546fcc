"""Bodies in protobuf are what the same bodies in JSON are."""

import base64
import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import go_programs  # noqa: E402
import record_bodies  # noqa: E402
from kubectl_servers import ROOT, TlsEmbeddedServer, normal  # noqa: E402

PROTOBUF = "application/vnd.kubernetes.protobuf"
CREATED = ROOT / "local" / "apiserver" / "kinds" / "testdata" / "created.json"


def in_protobuf(objects: list[dict]) -> list[bytes]:
    done = subprocess.run([go_programs.program("bodies"), "translate"], check=True,
                          input=json.dumps(objects), capture_output=True, text=True)
    return [base64.b64decode(body["protobuf"]) for body in json.loads(done.stdout)]


def built_in_rows() -> list[tuple[str, dict]]:
    """Path and body of what was once created on a real server, and names its kind now."""
    rows, seen = [], set()
    for row in json.loads(CREATED.read_text()):
        kind = {name: row["result"][name] for name in ("apiVersion", "kind")}
        place = (row["path"], row["body"]["metadata"].get("name"))
        if "example.com" not in kind["apiVersion"] and place not in seen:
            rows.append((row["path"], kind | row["body"]))
            seen.add(place)
    return rows


class Protobuf(unittest.TestCase):
    maxDiff = None

    def test_the_recorded_bodies_are_what_client_go_writes(self):
        self.assertEqual(record_bodies.PAGE.read_text(), record_bodies.recorded())

    def test_an_object_is_stored_as_if_it_had_come_as_json(self):
        rows = built_in_rows()
        bodies = in_protobuf([body for _, body in rows])
        self.assertGreater(len(rows), 50)
        with TlsEmbeddedServer() as plain, TlsEmbeddedServer() as wire:
            for (path, body), encoded in zip(rows, bodies):
                with self.subTest(path=path, name=body["metadata"].get("name")):
                    status, stored = plain.request("POST", path, body)
                    answer = wire.request("POST", path, encoded, content_type=PROTOBUF)
                    self.assertEqual(status, 201, stored)
                    self.assertEqual((answer[0], comparable(answer[1])), (201, comparable(stored)))


def comparable(stored: dict) -> dict:
    return json.loads(normal(json.dumps(stored)))


if __name__ == "__main__":
    unittest.main()
