"""TrainingJobs and other objects of hostile shapes: healthy jobs do not notice them."""

import copy
import json
import os
import random
import unittest

from operator_home import ENDED, OperatorHome, job_of

SEED = int(os.environ.get("AMDAHL_HOSTILE_SEED", 15))
JOBS = 200
# Where in a template something has one type, and a value of that type.
PLACES = {
    ("metadata",): {}, ("metadata", "labels"): {"a": "b"}, ("metadata", "annotations"): {},
    ("spec",): {}, ("spec", "containers"): [], ("spec", "initContainers"): [],
    ("spec", "volumes"): [], ("spec", "tolerations"): [], ("spec", "affinity"): {},
    ("spec", "nodeSelector"): {}, ("spec", "securityContext"): {}, ("spec", "hostNetwork"): False,
    ("spec", "automountServiceAccountToken"): False, ("spec", "serviceAccountName"): "",
    ("spec", "schedulerName"): "", ("spec", "priorityClassName"): "",
    ("spec", "terminationGracePeriodSeconds"): 1, ("spec", "imagePullSecrets"): [],
    ("spec", "containers", 0): {}, ("spec", "containers", 0, "name"): "",
    ("spec", "containers", 0, "image"): "", ("spec", "containers", 0, "command"): [],
    ("spec", "containers", 0, "command", 0): "", ("spec", "containers", 0, "args"): [],
    ("spec", "containers", 0, "env"): [], ("spec", "containers", 0, "env", 0): {},
    ("spec", "containers", 0, "env", 0, "name"): "",
    ("spec", "containers", 0, "volumeMounts"): [], ("spec", "containers", 0, "ports"): [],
    ("spec", "containers", 0, "resources"): {},
    ("spec", "containers", 0, "resources", "limits"): {},
    ("spec", "containers", 0, "securityContext"): {},
    ("spec", "containers", 0, "workingDir"): "",
}
VALUES = (5, -1.5, True, "text", [], [None], [[]], {}, {"a": None}, {"name": []}, 2 ** 63 - 1)
# As they were seen; the words that the status has for them.
NAMED = {
    "image-null": ({"image": None}, "containers[0].image: must be a string, is null"),
    "resources-list": ({"resources": []}, "containers[0].resources: must be an object, is a list"),
    "env-number": ({"env": [{"name": 5}]}, "env[0].name: must be a string, is a number"),
    "name-null": ({"name": None}, "containers[0].name: must be a string, is null"),
    "memory-object": ({"resources": {"limits": {"memory": {}}}}, 'limits["memory"]: must be'),
    "command-text": ({"command": "true"}, "command: must be a list, is a string"),
    "privileged": ({"securityContext": {"privileged": True}}, "securityContext.privileged"),
}
# Absent to an API server: these run.
HARMLESS = {"resources-null": {"resources": None}, "env-null": {"env": None},
            "limit-null": {"resources": {"limits": {"nvidia.com/gpu": None}}}}

# Parts of a job besides its template: types that the CRD refuses, and values at its bounds.
ODD_SPECS = (
    {"runtime": 5}, {"runtime": ""}, {"nodes": "1"}, {"nodes": -1}, {"nodes": 2 ** 31},
    {"nodes": 2 ** 63 - 1}, {"nodes": 1.5}, {"suspend": "no"}, {"template": None}, {"template": []},
    {"restart": []}, {"restart": {"maxFailures": 2 ** 31 - 1, "backoff": "1s"}},
    {"restart": {"backoff": "9" * 30 + "h"}}, {"deadlines": {"queue": "-1s", "start": "1ns"}},
    {"deadlines": {"active": "87600h", "step": "1s"}}, {"scheduling": {"queue": "x" * 253}},
    {"scheduling": {"queue": "no such queue"}}, {"scheduling": {"priorityClass": "none"}},
    {"scheduling": {"gang": 5}}, {"scheduling": {"networkTopology": {
        "mode": "hard", "highestTierAllowed": 2 ** 31 - 1}}},
    {"checkpoint": {"uri": "gs://"}}, {"checkpoint": {"uri": "file://\u0000/../etc"}},
    {"checkpoint": {"uri": "file:///" + "a/" * 400}}, {"checkpoint": {"interval": "0s"}},
    {"checkpoint": {"retention": {"keepLast": 2 ** 31 - 1, "maxBytes": "9E"}}},
    {"checkpoint": {"arenaBytes": "1e40"}}, {"ttlAfterFinished": "876000h"},
)
ODD_METADATA = (
    {"labels": 5}, {"labels": {"a": None}}, {"annotations": {"a": "x" * 200_000}},
    {"name": "a" * 63}, {"name": "a" * 253}, {"generateName": "g-"}, {"generation": 2 ** 63 - 1},
    {"ownerReferences": [{}]}, {"finalizers": ["example.com/none", ""]},
    {"creationTimestamp": "9999-12-31T23:59:59Z"}, {"deletionTimestamp": "x"},
)


def put(template: dict, place: tuple, value) -> None:
    at = template
    for key, following in zip(place, [*place[1:], None], strict=True):
        if following is None:
            break
        empty = [] if isinstance(following, int) else {}
        if isinstance(at, list):
            while len(at) <= key:
                at.append(copy.deepcopy(empty))
            at = at[key]
        else:
            at = at.setdefault(key, empty)
    if isinstance(at, list):
        at[len(at):] = [None] * (place[-1] + 1 - len(at))
    at[place[-1]] = value


def wrong_value(chance: random.Random, place: tuple):
    right = PLACES[place]
    wrong = [one for one in VALUES if type(one) is not type(right)]
    return copy.deepcopy(chance.choice(wrong))


def nested(depth: int) -> dict:
    value = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def hostile_jobs(chance: random.Random) -> dict[str, tuple[dict, str]]:
    """Jobs by name, and what their status has to say at least."""
    jobs = {name: (job_of(name, change), words) for name, (change, words) in NAMED.items()}
    deep = job_of("deep", {})
    deep["spec"]["template"]["metadata"] = {"annotations": nested(200)}
    jobs["deep"] = (deep, "spec.template: ")
    while len(jobs) < JOBS - len(HARMLESS):
        place = chance.choice(list(PLACES))
        job = job_of(f"odd-{len(jobs)}", {"env": [{"name": "A", "value": "b"}]})
        put(job["spec"]["template"], place, wrong_value(chance, place))
        jobs[job["metadata"]["name"]] = (job, "spec.template")
    return jobs


class HostileJobs(unittest.TestCase):
    def setUp(self):
        self.home = OperatorHome()
        self.addCleanup(self.home.close)
        for name in ("healthy", "hostile", "odd"):
            self.home.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})

    def create_odd_jobs(self) -> int:
        """Parts besides the template: each is refused or taken. How many were taken."""
        codes = []
        for number, odd in enumerate(ODD_SPECS):
            codes.append(self.home.create_job("odd", job_of(f"spec-{number}", {}) | {
                "spec": job_of("", {})["spec"] | odd}))
        for number, odd in enumerate(ODD_METADATA):
            codes.append(self.home.create_job("odd", job_of("", {}) | {
                "metadata": {"name": f"metadata-{number}"} | odd}))
        self.assertLessEqual(set(codes), {201, 400, 422})
        return codes.count(201)

    def message_of(self, status: dict) -> str:
        failed = [one for one in status.get("conditions", []) if one["type"] == "Failed"]
        return failed[0].get("message", "") if failed and failed[0]["status"] == "True" else ""

    # promises: A1
    def test_hostile_jobs_are_refused_and_a_healthy_one_does_not_notice(self):
        print(f"seed {SEED}")
        go = self.home.path / "go"
        wait = f"while [ ! -e {go} ]; do sleep 0.1; done"
        self.home.create_job("healthy", job_of("calm", {"command": ["/bin/sh", "-c", wait]}))
        self.home.until_phase("healthy", "calm", "Running")
        pods = self.home.call("GET", "/api/v1/namespaces/healthy/pods")[1]["items"]

        jobs = hostile_jobs(random.Random(SEED))
        taken = {name for name, (job, _) in jobs.items()
                 if self.home.create_job("hostile", job) == 201}
        # The CRD takes any template; the embedded server has a bound of its own on depth.
        self.assertEqual(set(jobs) - taken, {"deep"})
        odd = self.create_odd_jobs()
        for name, change in HARMLESS.items():
            self.assertEqual(self.home.create_job("hostile", job_of(name, change)), 201)

        def unfinished():
            statuses = self.home.statuses("hostile")
            return {name for name in statuses if statuses[name].get("phase") not in ENDED}
        self.home.until(lambda: not unfinished(), lambda: f"these have no end: {unfinished()}")
        statuses = self.home.statuses("hostile")
        self.home.until(lambda: all(one.get("phase") for one in self.home.statuses("odd").values()),
                        lambda: f"no status: {self.home.statuses('odd')}")
        self.assertGreaterEqual(odd, 5)
        for name in taken:
            with self.subTest(json.dumps(jobs[name][0]["spec"]["template"])[:500]):
                self.assertEqual(statuses[name].get("reason"), "InvalidSpec")
                self.assertIn(jobs[name][1], self.message_of(statuses[name]))
        for name in HARMLESS:
            self.assertEqual(statuses[name]["phase"], "Succeeded", name)

        self.assertEqual(self.home.job("healthy", "calm")["status"]["phase"], "Running")
        again = self.home.call("GET", "/api/v1/namespaces/healthy/pods")[1]["items"]
        self.assertEqual([one["metadata"]["uid"] for one in pods],
                         [one["metadata"]["uid"] for one in again])
        go.touch()
        status = self.home.until_phase("healthy", "calm", "Succeeded")
        self.assertEqual((status["attempt"], status["restarts"]), (1, 0))
        self.assertEqual(self.home.status()["pid"], self.home.pid)
        self.assertNotIn("exception", self.home.log())

        self.home.call("DELETE", "/api/v1/namespaces/hostile")
        self.home.until(lambda: self.home.call("GET", "/api/v1/namespaces/hostile")[0] == 404,
                        lambda: str(self.home.statuses("hostile"))[:2000])


GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/hostile/podgroups"
OURS = {"amdahl.dev/job": "calm"}  # what the operator watches for
# What the API server takes, as Volcano's own definition does, and our types cannot read.
HOSTILE_GROUPS = {
    "huge-amount": {"spec": {"minMember": 1, "minResources": {"cpu": "1e40"}}},
    "long-amount": {"spec": {"minMember": 1, "minResources": {"cpu": "9" * 70}}},
    "high-tier": {"spec": {"networkTopology": {"highestTierAllowed": 5_000_000_000}}},
    "empty-condition": {"status": {"conditions": [{}]}},
    "deep": {"spec": {"subGroupPolicy": [nested(60)]}},
    "fraction": {"status": {"running": 1.0}},
}
FAR = "9999-12-31T23:59:59.999999Z"
HOSTILE_OTHERS = {
    "/api/v1/namespaces/hostile/pods": {
        "spec": {"containers": [{"name": "a", "image": "none", "command": ["true"],
                                 "resources": {"limits": {"memory": "9E"}}}],
                 "activeDeadlineSeconds": 2 ** 31 - 1, "schedulerName": "volcano",
                 "terminationGracePeriodSeconds": 2 ** 63 - 1}},
    "/api/v1/namespaces/hostile/services": {
        "spec": {"clusterIP": "None", "selector": {}, "ports": [{"port": 65535}]}},
    "/api/v1/namespaces/hostile/events": {
        "type": "Warning", "reason": "SystemOOM", "message": "a lie", "count": 2 ** 31 - 1,
        "involvedObject": {"kind": "Node", "name": "n", "namespace": "hostile"},
        "firstTimestamp": "0001-01-01T00:00:01Z", "lastTimestamp": FAR[:19] + "Z"},
    "/apis/events.k8s.io/v1/namespaces/hostile/events": {
        "type": "Warning", "reason": "FailedMount", "note": "a lie", "eventTime": FAR,
        "action": "a", "reportingController": "a/b", "reportingInstance": "c",
        "regarding": {"kind": "Pod", "name": "calm-1-0", "namespace": "hostile"},
        "series": {"count": 2, "lastObservedTime": FAR}},
}


class HostileObjects(unittest.TestCase):
    def create(self, home: OperatorHome, path: str, name: str, parts: dict) -> None:
        head, _, tail = path.partition("/namespaces/")
        body = {"apiVersion": head.removeprefix("/apis/").removeprefix("/api/"),
                "metadata": {"name": name, "namespace": "hostile", "labels": OURS}} | parts
        kinds = {"podgroups": "PodGroup", "pods": "Pod", "services": "Service", "events": "Event"}
        body["kind"] = kinds[tail.rpartition("/")[2]]
        code, answer = home.call("POST", path, body)
        self.assertEqual(code, 201, answer)

    def versions(self, home: OperatorHome) -> dict[str, str]:
        items = home.call("GET", GROUPS)[1]["items"]
        return {one["metadata"]["name"]: one["metadata"]["resourceVersion"] for one in items}

    # promises: A1
    def test_a_group_that_cannot_be_read_stops_nobody_also_after_a_restart(self):
        home = OperatorHome(in_memory=False)
        self.addCleanup(home.close)
        for name in ("healthy", "hostile"):
            home.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        for name, parts in HOSTILE_GROUPS.items():
            self.create(home, GROUPS, name, parts)
        for number, (path, parts) in enumerate(HOSTILE_OTHERS.items()):
            self.create(home, path, f"odd-{number}", parts)
        # One of the tenant's own pods waits for such a group.
        self.create(home, "/api/v1/namespaces/hostile/pods", "member", {
            "metadata": {"name": "member", "labels": OURS, "annotations": {
                "scheduling.k8s.io/group-name": "huge-amount"}},
            "spec": {"schedulerName": "volcano", "restartPolicy": "Never",
                     "containers": [{"name": "a", "image": "none", "command": ["true"]}]}})
        home.create_job("healthy", job_of("first", {}))
        home.until_phase("healthy", "first", "Succeeded")
        self.assertIn("cannot be read", home.log())

        home.run("local", "down")
        home.up()
        home.create_job("healthy", job_of("second", {}))
        home.until_phase("healthy", "second", "Succeeded")
        # Nobody writes again and again to what stays unreadable.
        versions = [self.versions(home)]
        home.create_job("healthy", job_of("third", {}))
        home.until_phase("healthy", "third", "Succeeded")
        versions.append(self.versions(home))
        self.assertEqual(versions[0], versions[1])
        self.assertEqual(home.status()["pid"], home.pid)
        self.assertNotIn("exception", home.log())


# Its sequence is above the launcher's, so that no later report takes its place.
REPORT = """
import json, os, time, urllib.request
token = open(os.environ["AMDAHL_REPORT_TOKEN"]).read()
report = {"job": os.environ["AMDAHL_JOB"], "attempt": int(os.environ["AMDAHL_ATTEMPT"]),
          "rank": int(os.environ["AMDAHL_RANK"]), "sequence": 10 ** 6, "phase": "Train",
          "step": 7, "metrics": [{"name": "loss", "value": "1"}, {"name": "loss", "value": "2"}]}
request = urllib.request.Request(os.environ["AMDAHL_REPORT_URL"], json.dumps(report).encode(), {
    "Authorization": "Bearer " + token, "Content-Type": "application/json"})
print(urllib.request.urlopen(request).read().decode(), flush=True)
time.sleep(600)
"""


class RepeatedMetrics(unittest.TestCase):
    # promises: A8
    def test_a_job_that_reports_one_metric_twice_can_be_cancelled(self):
        home = OperatorHome()
        self.addCleanup(home.close)
        home.create_job("default", job_of("twice", {"command": ["python3", "-c", REPORT]}))
        progress = home.until(
            lambda: home.job("default", "twice").get("status", {}).get("progress", {}),
            lambda: f"no progress: {home.job('default', 'twice')}\n"
                    f"{home.run('logs', 'twice-1-0', check=False).stdout}")
        self.assertEqual(progress["metrics"], [{"name": "loss", "value": "2"}])
        home.run("cancel", "twice", "--yes")
        home.until_phase("default", "twice", "Cancelled")


if __name__ == "__main__":
    unittest.main()
