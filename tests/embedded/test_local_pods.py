"""Pods of `amdahl local` as a user meets them, run by an ordinary user.

Each test runs where the kernel lets users make namespaces, and where it does not.
"""

import json
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from local_cli import LocalTest

NOBODY = 65534
# A user namespace in which no other may be made, and no capability is left: an ordinary user of a
# machine that forbids them.
NO_NAMESPACES = ("unshare", "-r", "sh", "-c",
                 "echo 0 > /proc/sys/user/max_user_namespaces; "
                 'exec setpriv --bounding-set=-all --inh-caps=-all -- "$@"', "sh")
GPUS = {"resources": {"limits": {"nvidia.com/gpu": "2"}}}


def pod(name: str, script: str, container=None, labels=None, **spec) -> dict:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {}},
            "spec": {"restartPolicy": "Never", **spec, "containers": [
                {"name": "c", "image": "none", "command": ["sh", "-c", script],
                 **(container or {})}]}}


def running(text: str) -> list:
    """Command lines of the machine's processes that hold this text."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended
            continue
        if text in words:
            found.append(words)
    return found


class PodTest(LocalTest):
    user = NOBODY if os.geteuid() == 0 else None

    def until(self, ready, what: str, seconds=30):
        deadline = time.monotonic() + seconds
        while not (answer := ready()):
            self.assertLess(time.monotonic(), deadline, what() if callable(what) else what)
            time.sleep(0.05)
        return answer

    def up(self, *words):
        self.home.run("local", "up", *words)

    def apply(self, *objects):
        self.home.run("apply", "-f", "-", text="\n---\n".join(map(json.dumps, objects)))

    def get(self, name: str) -> dict:
        done = self.home.run("get", "pod", name, "-o", "json", check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def status(self, name: str) -> dict:
        return self.get(name).get("status", {})

    def log(self, name: str) -> str:
        return self.home.run("logs", name, check=False).stdout

    def in_phase(self, name: str, phase: str) -> dict:
        self.until(lambda: self.status(name).get("phase") == phase,
                   lambda: f"{name} is not {phase}: {self.status(name)}")
        return self.status(name)

    def state(self, name: str) -> dict:
        return (self.status(name).get("containerStatuses") or [{}])[0]


class Pods(PodTest):
    can_mount = subprocess.run(["unshare", "-Ur", "true"], capture_output=True).returncode == 0

    def test_a_pod_tells_its_times(self):
        self.up()
        self.apply(pod("p", "sleep 1.1; echo done", initContainers=[
            {"name": "i", "image": "none", "command": ["true"]}]))
        self.in_phase("p", "Succeeded")
        self.assertEqual(self.home.run("logs", "p", "-c", "c").stdout, "done\n")
        status = self.status("p")
        times = {each["type"]: each["lastTransitionTime"] for each in status["conditions"]}
        self.assertEqual(set(times), {"PodScheduled", "PodReadyToStartContainers", "Initialized",
                                      "ContainersReady", "Ready"})
        end = status["containerStatuses"][0]["state"]["terminated"]
        begin = status["initContainerStatuses"][0]["state"]["terminated"]
        order = [self.get("p")["metadata"]["creationTimestamp"], times["PodScheduled"],
                 status["startTime"], begin["startedAt"], begin["finishedAt"],
                 times["Initialized"], end["finishedAt"]]
        self.assertEqual(order, sorted(order))
        self.assertLess(end["startedAt"], end["finishedAt"])
        self.assertLessEqual(times["Initialized"], end["startedAt"])

    # promises: A10
    def test_a_fifo_for_last_words_stops_nobody(self):
        self.up()
        words = '"$AMDAHL_POD_FOLDER"/last-words/c.*'
        self.apply(pod("fifo", f"f=$(echo {words}); rm -f $f; mkfifo $f; exit 3"))
        end = self.in_phase("fifo", "Failed")["containerStatuses"][0]["state"]["terminated"]
        self.assertEqual((end["exitCode"], end.get("message", "")), (3, ""))
        self.apply(pod("next", "echo here"))
        self.in_phase("next", "Succeeded")

    # promises: A10
    def test_a_fifo_or_a_link_for_a_log_stops_nobody_and_shows_nothing(self):
        self.up()
        outside = self.home.path / "outside"
        outside.write_text("2026-11-16T08:00:00.123456000Z F a secret of somebody else\n")
        log = '"$AMDAHL_POD_FOLDER"/logs/c/0.1.log'
        fall_back = {"terminationMessagePolicy": "FallbackToLogsOnError"}
        self.apply(pod("fifo", f"rm -f {log}; mkfifo {log}; exit 3", fall_back),
                   pod("link", f"rm -f {log}; ln -s {outside} {log}; exit 3", fall_back))
        for name in ("fifo", "link"):
            status = self.in_phase(name, "Failed")["containerStatuses"][0]
            end = status["state"]["terminated"]
            self.assertEqual((end["exitCode"], end.get("message", "")), (3, ""))
            self.assertEqual(self.home.run("logs", name, "-c", "c").stdout, "")
        self.apply(pod("next", "echo here"))
        self.in_phase("next", "Succeeded")

    def test_volumes(self):
        shared = self.home.path / "shared"
        shared.mkdir(mode=0o755)
        (shared / "file").write_text("host\n")
        self.up("--host-path-root", "shared")
        volumes = [{"name": "m", "configMap": {"name": "m"}}, {"name": "e", "emptyDir": {}},
                   {"name": "h", "hostPath": {"path": str(shared)}}]
        mounts = [{"name": "m", "mountPath": "/deep/map"}, {"name": "e", "mountPath": "/data"},
                  {"name": "h", "mountPath": "/host"}]
        script = "cat /deep/map/k /host/file; echo x > /data/x && cat /data/x; id -u"
        self.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"},
                    "data": {"k": "map\n"}},
                   pod("p", script, {"volumeMounts": mounts}, volumes=volumes),
                   pod("out", "true", {"volumeMounts": mounts[2:]},
                       volumes=[{"name": "h", "hostPath": {"path": "/etc"}}]))
        if not self.can_mount:
            self.until(lambda: "cannot be mounted at /deep/map" in json.dumps(self.state("p")),
                       "why the pod does not start")
            return
        self.in_phase("p", "Succeeded")
        user = NOBODY if self.user else os.getuid()
        self.assertEqual(self.home.run("logs", "p").stdout, f"map\nhost\nx\n{user}\n")
        self.until(lambda: "only folders below" in json.dumps(self.state("out")),
                   lambda: self.status("out"))
        # The root is kept for the next start, and taken back by an empty one.
        self.home.run("local", "down")
        self.up()
        self.apply(pod("q", script, {"volumeMounts": mounts}, volumes=volumes))
        self.in_phase("q", "Succeeded")
        self.home.run("local", "down")
        self.up("--host-path-root", "")
        self.apply(pod("r", script, {"volumeMounts": mounts}, volumes=volumes))
        self.until(lambda: "--host-path-root" in json.dumps(self.state("r")),
                   lambda: self.status("r"))

    def test_a_gang_finds_its_members(self):
        self.up("--nodes", "2")
        service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "gang"},
                   "spec": {"clusterIP": "None", "selector": {"job": "g"}}}
        group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                 "metadata": {"name": "g"}, "spec": {"minMember": 2}}
        ranks = [pod(f"g-{rank}", f"until getent hosts g-{1 - rank}.gang; do sleep 0.05; done",
                     labels={"job": "g"}, subdomain="gang", schedulerName="volcano")
                 for rank in range(2)]
        for rank in ranks:
            rank["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "g"}
        self.apply(service, group, ranks[0])
        time.sleep(0.5)
        self.assertEqual(self.status("g-0").get("phase"), "Pending")
        self.apply(ranks[1])
        for rank in range(2):
            address = self.in_phase(f"g-{rank}", "Succeeded")["podIP"]
            self.assertIn(address, self.home.run("logs", f"g-{1 - rank}").stdout)

    def test_memory_limit(self):
        self.up()
        self.apply(pod("p", "x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 1000",
                       {"resources": {"limits": {"memory": "64Mi"}}}))
        self.in_phase("p", "Failed")
        end = self.state("p")["state"]["terminated"]
        self.assertEqual((end["reason"], end["exitCode"]), ("OOMKilled", 137))

    def test_gpu_slots_are_never_shared_and_are_freed(self):
        self.up("--nodes", "1", "--gpus", "4")
        script = "echo $CUDA_VISIBLE_DEVICES; trap '' TERM; while :; do sleep 0.1; done"
        self.apply(*(pod(f"p{n}", script, GPUS) for n in range(3)))
        phases = lambda: [self.status(f"p{n}").get("phase") for n in range(3)]
        self.until(lambda: sorted(phases()) == ["Pending", "Running", "Running"], phases)
        waits = phases().index("Pending")
        first, second = (n for n in range(3) if n != waits)
        slots = {self.until(lambda: self.home.run("logs", f"p{n}").stdout, "slots")
                 for n in (first, second)}
        self.assertEqual(slots, {"0,1\n", "2,3\n"})
        freed = self.home.run("logs", f"p{first}").stdout
        # By force: the API forgets it at once, its processes live a moment longer.
        self.home.run("delete", "pod", f"p{first}", "--grace-period", "0")
        self.in_phase(f"p{waits}", "Running")
        self.until(lambda: self.home.run("logs", f"p{waits}").stdout == freed, "the freed slots")

    def test_logs_follow_and_previous(self):
        self.up()
        self.apply(pod("p", "test -e again && { for i in $(seq 20); do echo $i; sleep 0.02; done; "
                            "exit 0; }; touch again; echo first; exit 3",
                       restartPolicy="OnFailure"))
        self.until(lambda: self.state("p").get("restartCount") == 1, lambda: self.status("p"))
        readers = [self.home.start("logs", "p", "-f") for _ in range(3)]
        expected = "".join(f"{i}\n" for i in range(1, 21))
        for reader in readers:
            out, err = reader.communicate(timeout=30)
            self.assertEqual((out, err), (expected, ""))
        self.assertEqual(self.home.run("logs", "p", "--previous").stdout, "first\n")
        self.assertEqual(self.home.run("logs", "p", "--tail", "1").stdout, "20\n")

    def test_what_cannot_start_says_why(self):
        self.up()
        self.apply(pod("command", "", {"command": ["/no/such/program"]}),
                   pod("path", "", {"command": ["no-such-program"]}),
                   pod("folder", "true", {"workingDir": "/no/such/folder"}),
                   pod("long", "true", {"env": [{"name": "V", "value": "x" * 200000}]}))
        for name, word in (("command", "/no/such/program"), ("path", "not found in $PATH"),
                           ("folder", "/no/such/folder"), ("long", "Argument list too long")):
            self.in_phase(name, "Failed")
            end = self.state(name)["state"]["terminated"]
            self.assertEqual((end["reason"], end["exitCode"]), ("StartError", 128))
            self.assertIn(word, end["message"])

    def test_nothing_survives_sigkill_and_the_next_start_tells_what_became_of_it(self):
        self.up("--nodes", "2")
        mark = f"sleep {1000000 + os.getpid()}"
        script = (f"trap '' TERM; setsid sh -c '{mark} & {mark}' & (setsid {mark} &); "
                  f"{mark} & while :; do {mark}; done")
        self.apply(pod("once", script), pod("ever", script, restartPolicy="Always"),
                   pod("away", script, restartPolicy="Always", nodeName="local-1"))
        for name in ("once", "ever", "away"):
            self.in_phase(name, "Running")
        self.until(lambda: len(running(mark)) >= 12, lambda: str(running(mark)))
        os.kill(self.home.status()["pid"], signal.SIGKILL)
        self.until(lambda: not running(mark), lambda: str(running(mark)), seconds=2)
        self.up("--nodes", "1")
        self.in_phase("once", "Failed")
        end = self.state("once")["state"]["terminated"]
        self.assertEqual((end["reason"], end["exitCode"]), ("ContainerStatusUnknown", 137))
        self.in_phase("ever", "Running")
        self.assertEqual(self.state("ever")["restartCount"], 1)
        self.until(lambda: not self.get("away"), "the pod of the second node, which is gone")
        # SIGTERM is ignored: the grace of the pod is what `down` waits for, and no longer.
        self.apply(pod("short", script, terminationGracePeriodSeconds=1))
        self.in_phase("short", "Running")
        self.home.run("delete", "pod", "ever", "--grace-period", "0")
        begin = time.monotonic()
        self.home.run("local", "down")
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(running(mark), [])

    # promises: D9
    def test_a_pod_that_claims_an_attempt_takes_no_logs_of_the_job_away(self):
        self.up()
        script = "echo attempt $AMDAHL_ATTEMPT; exec sleep 600"
        template = {"spec": pod("trainer", script)["spec"]}
        self.apply({"apiVersion": "amdahl.dev/v1alpha1", "kind": "TrainingJob",
                    "metadata": {"name": "real"},
                    "spec": {"runtime": "Python", "nodes": 1, "template": template}})
        self.until(lambda: "attempt 1\n" in self.log("real-1-0"), "output of the first attempt")
        self.home.run("delete", "pod", "real-1-0")
        self.until(lambda: "attempt 2\n" in self.log("real-2-0"), "output of the second attempt")
        job = json.loads(self.home.run("get", "trainingjob", "real", "-o", "json").stdout)
        uid = job["metadata"]["uid"]
        for name, claim in (("zz", "4294967295"), ("real-4294967295-0", "4294967295"),
                            ("real-7-0", "7")):
            forged = pod(name, "echo forged", labels={"amdahl.dev/attempt": claim})
            forged["metadata"]["ownerReferences"] = [
                {"apiVersion": job["apiVersion"], "kind": job["kind"], "name": "real",
                 "uid": uid, "controller": True}]
            self.apply(forged)
            self.until(lambda: self.status(name).get("phase") in (None, "Succeeded"), name)
            self.home.run("delete", "pod", name, check=False)
            self.until(lambda: not self.get(name), f"{name} is gone")
        self.assertIn("attempt 1\n", self.log("real-1-0"))
        kept = self.home.data / "kept-logs/default" / uid
        self.assertEqual([one.name for one in kept.iterdir() if one.is_dir()], ["1"])


class PodsWithoutNamespaces(Pods):
    can_mount = False
    prefix = NO_NAMESPACES if Pods.can_mount else ()


if __name__ == "__main__":
    unittest.main()
