"""Two processes, one lease, one API server: who may write, and when."""

import time

from probe import Probe

MAPS = "/api/v1/namespaces/default/configmaps"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/runtime-probe"
LEASE_SECONDS = 4  # the probe's timings: lease 4 s, renew 3 s, retry 0.5 s


class LeadershipCase:
    """A test case with a server; the subclass says which."""

    @classmethod
    def start_server(cls):
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.start_server()
        cls.addClassCleanup(cls.cluster.down)

    def setUp(self):
        self.cluster.request("DELETE", MAPS)
        self.cluster.request("DELETE", LEASE)

    def candidate(self, identity: str) -> Probe:
        started = Probe("lead", "--kubeconfig", str(self.cluster.kubeconfig),
                        "--namespace", "default", "--identity", identity)
        self.addCleanup(lambda: started.process.poll() is None and started.process.kill())
        return started

    def written(self) -> list[tuple[int, str]]:
        """(resourceVersion, writer) of everything the candidates wrote, in the server's order."""
        _, found = self.cluster.request("GET", MAPS)
        return sorted((int(item["metadata"]["resourceVersion"]), item["data"]["writer"])
                      for item in found["items"] if "writer" in item.get("data", {}))

    # rules: E1, E2, E5
    def test_a_stopped_leader_writes_nothing_after_it_wakes(self):
        first = self.candidate("first")
        first.wait("leading")
        first.wait("written")
        second = self.candidate("second")
        second.wait("synced")  # warm: its cache is full before it leads
        first.stop()
        second.wait("leading", seconds=LEASE_SECONDS * 5)
        second.wait("written")
        boundary = max(version for version, writer in self.written() if writer == "first")
        first.go_on()
        self.assertNotEqual(first.process.wait(timeout=30), 0, "a lost lease ends the process")
        time.sleep(1)
        late = [entry for entry in self.written() if entry[1] == "first" and entry[0] > boundary]
        self.assertEqual(late, [])
        self.assertEqual(second.end(), 0)

    # rules: E3
    def test_each_term_has_a_higher_epoch(self):
        first = self.candidate("first")
        old = first.wait("leading")["epoch"]
        self.assertEqual(first.end(), 0)
        second = self.candidate("second")
        self.assertGreater(second.wait("leading")["epoch"], old)
        self.assertEqual(second.end(), 0)

    # rules: E4, E9
    def test_a_leader_that_is_asked_to_stop_hands_over_at_once(self):
        first = self.candidate("first")
        first.wait("leading")
        second = self.candidate("second")
        second.wait("synced")
        asked = time.monotonic()
        self.assertEqual(first.end(), 0)
        second.wait("leading", seconds=LEASE_SECONDS)
        self.assertLess(time.monotonic() - asked, LEASE_SECONDS, "waited for the lease to run out")
        self.assertEqual(second.end(), 0)

    # rules: E2, E7
    def test_a_leader_that_loses_the_server_stops_writing_and_ends(self):
        first = self.candidate("first")
        first.wait("written")
        self.cluster.stop_apiserver(kill=True)
        self.assertNotEqual(first.process.wait(timeout=30), 0)
        self.cluster.start_apiserver()

    # rules: W4
    def test_a_storm_of_conflicts_loses_no_update(self):
        probe = Probe("storm", "--kubeconfig", str(self.cluster.kubeconfig),
                      "--namespace", "default", "--workers", "8", "--rounds", "25")
        done = probe.wait("storm")
        self.assertEqual(probe.process.wait(timeout=30), 0)
        probe.end()
        _, counter = self.cluster.request("GET", f"{MAPS}/storm")
        self.assertEqual(counter["data"]["count"], "200")
        self.assertGreater(done["conflicts"], 0)
