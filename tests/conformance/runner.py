"""Sends a sequence to two servers in lockstep and compares what they answer."""

import dataclasses
import http.client
import itertools
import json
import os
import threading

import sequence
from compare import Difference, differences
from normalise import Normaliser

MARKER = "conformance.example.com/marker"
WATCH_SECONDS_MAX = 10  # until a marker that does not come is given up
AGENT = "conformance/1.0"


class Connection:
    """A kept connection to one server. Belongs to one thread."""

    def __init__(self, server):
        self._server, self._token = server, server.token()
        self._http = server._new_connection(timeout=30)  # noqa: SLF001: both clients have it

    def send(self, method: str, target: str, body: bytes | None, headers: dict) -> dict:
        failure = ""
        for _ in range(2):  # a server may have ended a kept connection after a refusal
            try:
                return _answer(self._request(self._http, method, target, body, headers))
            except (http.client.HTTPException, OSError) as error:
                self._http.close()
                failure = f"no answer: {type(error).__name__}"
        return {"status": 0, "type": "", "warnings": [], "body": failure}

    def open(self, target: str, headers: dict) -> "Stream":
        own = self._server._new_connection(timeout=WATCH_SECONDS_MAX)  # noqa: SLF001
        return Stream(own, self._request(own, "GET", target, None, headers))

    def _request(self, connection, method, target, body, headers):
        all_headers = {"Authorization": f"Bearer {self._token}", "User-Agent": AGENT,
                       "Accept": "application/json", **headers}
        connection.request(method, target, body, all_headers)
        return connection.getresponse()

    def close(self) -> None:
        self._http.close()


class Stream:
    def __init__(self, connection, response):
        self._connection, self._response = connection, response
        self.answer = None if response.status == 200 else _answer(response)

    def read_until(self, marker: str) -> dict:
        """Every event up to the marker's, except bookmarks that only time decides."""
        if self.answer:
            return self.answer
        events, end = [], "marker"
        try:
            for line in self._response:
                event = json.loads(line)
                notes = _annotations(event)
                if event.get("type") != "BOOKMARK":
                    events.append(event)
                elif notes:
                    events.append({**event, "object": _bare(event["object"])})
                if notes.get(MARKER) == marker:
                    break
            else:
                end = "closed"
        except (TimeoutError, http.client.HTTPException, ValueError) as error:
            end = f"no marker: {type(error).__name__}"
        self._connection.close()
        return {"status": 200, "events": _placed_bookmarks(events), "end": end}


def _placed_bookmarks(events: list[dict]) -> list[dict]:
    """A bookmark's version is a matter of time; that it lies between its neighbours is not."""
    versions = [int(_metadata(event).get("resourceVersion") or 0) for event in events]
    for at, event in enumerate(events):
        if event.get("type") == "BOOKMARK":
            placed = max(versions[:at], default=0) <= versions[at] < min(
                versions[at + 1:], default=versions[at] + 1)
            _metadata(event)["resourceVersion"] = "in its place" if placed else "out of place"
    return events


def _bare(bookmark: dict) -> dict:
    """What a bookmark is about; the rest of it is an empty object of the kind."""
    left = {key: bookmark.get(key) for key in ("apiVersion", "kind", "metadata")}
    if "rows" in bookmark:
        left["rows"] = [_bare(row["object"]) for row in bookmark["rows"]]
    return left


def _metadata(event: dict) -> dict:
    rows = event.get("object", {}).get("rows") or []
    shown = rows[0].get("object", rows[0]) if rows else event.get("object", {})
    return shown.get("metadata") or {}


def _annotations(event: dict) -> dict:
    return _metadata(event).get("annotations") or {}


def _answer(response) -> dict:
    text = response.read().decode(errors="replace")
    try:
        body = json.loads(text)
    except ValueError:
        body = text
    return {"status": response.status, "type": response.getheader("Content-Type", ""),
            "warnings": response.headers.get_all("Warning") or [], "body": body}


@dataclasses.dataclass
class Outcome:
    differences: list[Difference]  # of the first step that differs
    sent: int = 0
    left_out: int = 0
    once: str = ""  # what differed at first and not again


class Side:
    """One server while one sequence runs."""

    def __init__(self, connection: Connection, namespace: str):
        self.connection, self.namespace = connection, namespace
        self.bodies: dict = {}  # step -> body, what later steps refer to
        self.answers: list[dict | None] = []
        self.streams: dict[int, Stream] = {}

    def run(self, step: dict) -> bool:
        """False when the step was left out, because what it refers to is not there."""
        headers = step.get("headers", {})
        try:
            target = sequence.target_of(step, self.namespace, self.bodies)
            body = sequence.body_of(step, self.namespace, self.bodies)
        except sequence.Unresolved:
            self.answers.append(None)
            return False
        if "settle" in step:
            self._settle(step["settle"])
        if step["verb"] == "watch":
            self.streams[len(self.answers)] = self.connection.open(target, headers)
            self.answers.append({})
            return True
        answer = self.connection.send(step["method"], target, body, headers)
        if answer["status"] < 300:
            self.bodies[step["id"]] = answer["body"]
        self.answers.append(answer)
        return True

    def _settle(self, path: str) -> None:
        target = sequence.resolve(path, self.namespace, self.bodies)
        self.connection.send("GET", target, None, {})

    def finish(self, steps: list[dict]) -> list[dict | None]:
        for at in self.streams:
            self._mark(steps[at])
        for at, stream in self.streams.items():
            self.answers[at] = stream.read_until(steps[at]["id"])
        normaliser = Normaliser()
        for answer in self.answers:
            normaliser.show(answer)
        return [answer and normaliser.normal(answer) for answer in self.answers]

    def _mark(self, step: dict) -> None:
        """Changes the object that the watch is about to see, or makes it."""
        marker = sequence.resolve(step["marker"], self.namespace, {})
        metadata = marker["body"]["metadata"]
        metadata["annotations"] = {MARKER: step["id"]}
        change = {"metadata": {key: metadata[key] for key in ("annotations", "labels")}}
        answer = self.connection.send("PATCH", marker["path"], json.dumps(change).encode(),
                                      {"Content-Type": "application/merge-patch+json"})
        if answer["status"] == 404:
            self.connection.send("POST", marker["path"].rpartition("/")[0],
                                 json.dumps(marker["body"]).encode(),
                                 {"Content-Type": "application/json"})


class Runner:
    """Runs sequences against a pair. Threads: any; each has its own connections."""

    def __init__(self, real, ours, excused):
        self._servers = (real, ours)
        self._excused = excused  # a list of differences -> those that remain
        self._local = threading.local()
        self._numbers = itertools.count(1)

    def run(self, steps: list[dict]) -> Outcome:
        namespace = f"c{os.getpid()}-{next(self._numbers)}"
        sides = [Side(connection, namespace) for connection in self._connections()]
        outcome = Outcome([])
        for step in steps:
            sent = [side.run(step) for side in sides]
            outcome.sent += all(sent)
            outcome.left_out += not all(sent)
        real, ours = (side.finish(steps) for side in sides)
        for step, a, b in zip(steps, real, ours):
            found = differences(step, a or {}, b or {}, sequence.began(step, steps))
            outcome.differences = self._excused(found)
            if outcome.differences:
                break
        return outcome

    def _connections(self) -> list[Connection]:
        if not hasattr(self._local, "connections"):
            self._local.connections = [Connection(server) for server in self._servers]
        return self._local.connections
