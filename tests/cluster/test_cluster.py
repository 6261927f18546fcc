"""The test server itself: `python3 -m unittest discover tests/cluster` (or pytest)."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import testbed  # noqa: E402

NAME = f"selftest-{os.getpid()}"
PODS = "/api/v1/namespaces/default/pods"
WATCH_LIST = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"


def pod(name: str) -> dict:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "none"}]}}


def processes(word: str) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            pass  # it ended while we looked
    return [pid for pid in found if pid != os.getpid()]


def cli(*args: str) -> str:
    done = subprocess.run([HERE / "cluster", *args], capture_output=True, text=True, timeout=1800)
    if done.returncode != 0:
        raise AssertionError(f"cluster {' '.join(args)}: {done.stderr}")
    return done.stdout


class NewServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = testbed.Cluster(NAME)
        cls.addClassCleanup(cls.cluster.down)
        cls.kubeconfig = cli("up", "--name", NAME).splitlines()[-1]

    def create(self, name: str) -> int:
        status, made = self.cluster.request("POST", PODS, pod(name))
        self.assertEqual(status, 201, made)
        return int(made["metadata"]["resourceVersion"])

    def test_serves_and_shows_itself(self):
        self.assertEqual(self.cluster.request("GET", "/readyz"), (200, "ok"))
        self.assertIn("current-context: admin", Path(self.kubeconfig).read_text())
        row = next(line for line in cli("status").splitlines() if line.startswith(NAME))
        self.assertEqual(row.split()[4], "yes", row)
        self.assertEqual(self.cluster.request("GET", "/version")[1]["gitVersion"], "v1.34.4")

    def test_up_again_keeps_the_running_server(self):
        before = self.cluster.apiserver.pid
        self.assertEqual(cli("up", "--name", NAME).splitlines()[-1], self.kubeconfig)
        self.assertEqual(self.cluster.apiserver.pid, before)

    def test_limited_user_and_strangers_are_refused(self):
        limited = self.cluster.token("limited")
        self.assertEqual(self.cluster.request("GET", PODS, token=limited)[0], 403)
        self.assertEqual(self.cluster.request("GET", PODS, token="unknown")[0], 401)

    def test_first_list_can_be_streamed(self):
        self.create("streamed")
        events = list(self.cluster.watch(f"{PODS}?{WATCH_LIST}", seconds=1))
        self.assertEqual(events[-1]["type"], "BOOKMARK")
        notes = events[-1]["object"]["metadata"]["annotations"]
        self.assertEqual(notes, {"k8s.io/initial-events-end": "true"})

    def test_compaction_and_restart_make_old_versions_expire(self):
        self.create("old-0")
        old = self.create("old-1")
        _, page = self.cluster.request("GET", f"{PODS}?limit=1")
        token = page["metadata"]["continue"]
        self.create("old-2")
        self.cluster.compact()
        watch = f"{PODS}?resourceVersion={old}"
        self.assertEqual([e["type"] for e in self.cluster.watch(watch, seconds=1)], ["ADDED"],
                         "the watch cache still serves what etcd forgot")
        cli("restart-apiserver", "--name", NAME)
        (error,) = self.cluster.watch(watch, seconds=1)
        self.assertEqual((error["type"], error["object"]["code"]), ("ERROR", 410))
        for query in (f"resourceVersion={old}&resourceVersionMatch=Exact", f"continue={token}"):
            status, answer = self.cluster.request("GET", f"{PODS}?limit=1&{query}")
            self.assertEqual((status, answer["reason"]), (410, "Expired"), query)

    def test_rewind_brings_versions_back(self):
        marked = self.cluster.mark()
        late = [self.create(f"late-{i}") for i in range(30)]
        rewound = self.cluster.rewind()
        self.assertEqual(rewound, marked)
        _, listed = self.cluster.request("GET", PODS)
        self.assertLess(int(listed["metadata"]["resourceVersion"]), late[-1])
        self.assertEqual([i for i in listed["items"] if i["metadata"]["name"] == "late-0"], [])

    def test_stop_kill_and_start(self):
        self.create("survivor")
        cli("stop-apiserver", "--name", NAME, "--kill")
        self.assertFalse(self.cluster.ready())
        cli("start-apiserver", "--name", NAME)
        self.assertEqual(self.cluster.request("GET", f"{PODS}/survivor")[0], 200)


class OldServer(unittest.TestCase):
    """Debian's etcd 3.4 cannot report watch progress, so the server refuses a streamed list."""

    @unittest.skipUnless(testbed.build.OLD_ETCD.exists(), "package etcd-server is not installed")
    def test_streamed_list_is_refused_inside_the_stream(self):
        cluster = testbed.Cluster(f"{NAME}-old")
        self.addCleanup(cluster.down)
        cluster.up(etcd="old")
        events = list(cluster.watch(f"{PODS}?{WATCH_LIST}", seconds=2))
        self.assertEqual([e["type"] for e in events], ["ERROR"], events)


class Cleaning(unittest.TestCase):
    def test_down_leaves_nothing_and_can_be_repeated(self):
        name = f"{NAME}-gone"
        cluster = testbed.Cluster(name)
        self.addCleanup(cluster.down)
        cluster.up()
        data = os.readlink(cluster.dir / "data") if (cluster.dir / "data").is_symlink() else ""
        self.assertEqual(len(processes(name)), 2)
        cli("down", "--name", name)
        self.assertEqual(processes(name), [])
        self.assertFalse(cluster.dir.exists())
        self.assertFalse(data and os.path.exists(data))
        cli("down", "--name", name)

    def test_a_foreign_pid_is_never_touched(self):
        cluster = testbed.Cluster(f"{NAME}-foreign")
        self.addCleanup(cluster.down)
        cluster.dir.mkdir(parents=True)
        bystander = subprocess.Popen(["sleep", "60"])
        self.addCleanup(bystander.wait)
        self.addCleanup(bystander.kill)
        cluster.etcd.pid_file.write_text(f"{bystander.pid}\netcd\n--data-dir=elsewhere")
        cluster.down()
        self.assertIsNone(bystander.poll())


if __name__ == "__main__":
    unittest.main()
