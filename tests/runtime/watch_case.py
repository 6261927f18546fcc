"""A Store against an API server that restarts, forgets, goes back: the same on every server."""

import random
import threading
import time

from probe import Probe

MAPS = "/api/v1/namespaces/default/configmaps"
LABELS = {"suite": "watch"}


def config_map(name: str, value: str = "0") -> dict:
    return {"metadata": {"name": name, "labels": LABELS}, "data": {"value": value}}


class WatchBase:
    """A test case with a server; the subclass says which."""

    @classmethod
    def start_server(cls):
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.start_server()
        cls.addClassCleanup(cls.cluster.down)

    def setUp(self):
        self.delete_all()

    def probe(self, context: str = "admin") -> Probe:
        started = Probe("watch", "--kubeconfig", str(self.cluster.kubeconfig), "--context", context,
                        "--namespace", "default", "--labels", "suite=watch")
        self.addCleanup(started.end)
        return started

    def create(self, name: str) -> None:
        status, made = self.cluster.request("POST", MAPS, config_map(name))
        self.assertEqual(status, 201, made)

    def delete_all(self) -> None:
        status, answer = self.cluster.request("DELETE", f"{MAPS}?labelSelector=suite%3Dwatch")
        self.assertEqual(status, 200, answer)

    def on_server(self) -> dict:
        status, found = self.cluster.request("GET", f"{MAPS}?labelSelector=suite%3Dwatch")
        self.assertEqual(status, 200, found)
        return {i["metadata"]["name"]: i["metadata"]["resourceVersion"] for i in found["items"]}

    def assert_converges(self, probe: Probe, seconds: float = 60) -> dict:
        """The store has what the server has, object by object and version by version."""
        deadline = time.monotonic() + seconds
        while (dump := probe.dump())["objects"] != (there := self.on_server()):
            if time.monotonic() > deadline:
                self.fail(f"store {len(dump['objects'])} objects, server {len(there)}: {dump}")
            time.sleep(0.2)
        return dump


class WatchCase(WatchBase):
    # rules: L1, L5, L10
    def test_follows_writes_from_many_sides(self):
        for n in range(50):
            self.create(f"first-{n}")
        probe = self.probe()
        self.assertEqual(probe.wait("synced")["objects"], 50)

        def write(seed: int) -> None:
            chance = random.Random(seed)
            for turn in range(60):
                name = f"m-{seed}-{chance.randrange(10)}"
                verb = chance.choice(("POST", "PATCH", "DELETE"))
                path = MAPS if verb == "POST" else f"{MAPS}/{name}"
                body = config_map(name, str(turn)) if verb != "DELETE" else None
                kind = "application/merge-patch+json" if verb == "PATCH" else "application/json"
                self.cluster.request(verb, path, body, content_type=kind)

        writers = [threading.Thread(target=write, args=(seed,)) for seed in range(4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        dump = self.assert_converges(probe)
        self.assertEqual(dump["lists"], 1)
        self.assertEqual(dump["undecodable"], 0)

    # rules: L3, L9
    def test_resumes_without_a_list_when_the_server_restarts(self):
        self.create("before")
        probe = self.probe()
        probe.wait("synced")
        self.cluster.restart_apiserver()
        self.create("after")
        dump = self.assert_converges(probe)
        self.assertEqual(dump["lists"], 1, dump)
        self.assertGreaterEqual(dump["opened"], 2)

    # rules: L7, L10
    def test_lists_again_after_a_compaction_and_tells_of_a_thousand_deletes(self):
        for n in range(1000):
            self.create(f"doomed-{n}")
        self.create("kept")
        probe = self.probe()
        self.assertEqual(probe.wait("synced")["objects"], 1001)
        probe.stop()
        self.cluster.restart_apiserver(kill=True)  # the watch is dead; its process does not know
        for n in range(1000):
            self.cluster.request("DELETE", f"{MAPS}/doomed-{n}")
        self.create("newcomer")
        self.cluster.compact()
        self.cluster.restart_apiserver(kill=True)
        probe.go_on()
        dump = self.assert_converges(probe)
        self.assertEqual(set(dump["objects"]), {"kept", "newcomer"})
        self.assertGreaterEqual(dump["lists"], 2, dump)
        self.assertEqual(probe.count("change", type="-"), 1000)

    # rules: L11
    def test_tells_a_recreated_object_from_the_old_one(self):
        self.create("twin")
        probe = self.probe()
        probe.wait("synced")
        probe.stop()
        self.cluster.request("DELETE", f"{MAPS}/twin")
        self.create("twin")
        probe.go_on()
        self.assert_converges(probe)
        gone, come = [e for e in probe.seen if e["ev"] == "change"][-2:]
        self.assertEqual((gone["type"], come["type"]), ("-", "+"))
        self.assertNotEqual(gone["uid"], come["uid"])

    # rules: L4
    def test_notices_a_server_that_was_restored_from_a_backup(self):
        self.create("old")
        self.cluster.mark()
        probe = self.probe()
        probe.wait("synced")
        for n in range(20):
            self.create(f"lost-{n}")
        self.assert_converges(probe)
        self.cluster.rewind()
        dump = self.assert_converges(probe, seconds=90)
        self.assertEqual(set(dump["objects"]), {"old"})
        self.assertEqual(dump["rewinds"], 1, dump)
