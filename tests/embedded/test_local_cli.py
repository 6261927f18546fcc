"""`amdahl local` as a user runs it: its life, and what goes wrong."""

import json
import os
import signal
import socket
import sqlite3
import time
import unittest
from pathlib import Path

from local_cli import MAP, LocalTest, mode


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


class Life(LocalTest):
    def wait_gone(self, pid: int) -> None:
        deadline = time.monotonic() + 20
        while is_alive(pid):
            self.assertLess(time.monotonic(), deadline, f"process {pid} is still there")
            time.sleep(0.01)

    def test_up_status_up_down_reset(self):
        home = self.home
        self.assertEqual(home.run("local", "status", check=False).returncode, 3)
        first = home.run("local", "up", "--nodes", "2").stdout
        self.assertIn("export KUBECONFIG=", first)
        status = home.status()
        self.assertEqual(status["state"], "running")
        self.assertGreater(status["objects"], 10)
        self.assertEqual(Path(f"/proc/{status['pid']}/comm").read_text(), "amdahl\n")
        self.assertIn(status["address"], home.run("local", "status").stdout)
        self.assertEqual((mode(home.data), mode(home.data / "kubeconfig")), (0o700, 0o600))
        for name in os.listdir(home.data):
            self.assertEqual(mode(home.data / name) & 0o077, 0, name)
        again = home.run("local", "up").stdout
        self.assertIn(f"already running (pid {status['pid']}, {status['address']})", again)
        self.assertNotIn("stays as it is", again)
        self.assertIn("stays as it is", home.run("local", "up", "--nodes", "3").stdout)
        home.run("local", "down")
        self.assertFalse(is_alive(status["pid"]))
        self.assertEqual(home.run("local", "status", check=False).returncode, 3)
        self.assertIn("No cluster runs", home.run("local", "down").stdout)
        self.assertIn("--yes", self.refused("local", "reset", text=""))
        home.run("local", "reset", "--yes")
        self.assertFalse(home.data.exists())
        self.assertIn("no cluster", home.run("local", "reset", "--yes").stdout)

    def test_the_certificate_holds_and_only_the_token_lets_in(self):
        self.home.run("local", "up")
        self.assertEqual(self.home.request("/version", self.home.token())[0], 200)
        self.assertEqual(self.home.request("/version", None)[0], 401)
        self.assertEqual(self.home.request("/version", "0" * 64)[0], 401)
        status, body = self.home.request("/api/v1/namespaces/default", self.home.token())
        self.assertEqual((status, json.loads(body)["metadata"]["name"]), (200, "default"))

    def test_a_killed_server_comes_back_with_objects_port_and_token(self):
        home = self.home
        home.run("local", "up")
        home.run("apply", "-f", "-", text=MAP)
        before = home.status()
        kubeconfig = (home.data / "kubeconfig").read_text()
        os.kill(before["pid"], signal.SIGKILL)
        self.wait_gone(before["pid"])
        self.assertEqual(home.status()["state"], "stopped")
        home.run("local", "up")
        self.assertEqual((home.data / "kubeconfig").read_text(), kubeconfig)
        self.assertEqual(home.status()["address"], before["address"])
        self.assertIn("greeting", home.run("get", "configmaps").stdout)

    def test_in_memory_forgets(self):
        home = self.home
        home.run("local", "up", "--in-memory")
        self.assertIs(home.status()["inMemory"], True)
        home.run("apply", "-f", "-", text=MAP)
        home.run("local", "down")
        home.run("local", "up", "--in-memory")
        self.assertNotIn("greeting", home.run("get", "configmaps").stdout)

    def test_the_foreground_ends_with_ctrl_c(self):
        home = self.home
        server = home.start("local", "up", "--foreground")
        line = ""
        while "ready at" not in line:
            line = server.stdout.readline()
            self.assertTrue(line, "the server ended")
        self.assertEqual(home.status()["pid"], server.pid)
        self.assertIn("already running", home.run("local", "up").stdout)
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=30)
        self.assertEqual(server.returncode, 0, err)
        self.assertIn("has stopped", out)
        self.assertEqual(home.status()["state"], "stopped")

    def test_a_server_outlives_its_terminal_and_a_stuck_one_is_killed(self):
        home = self.home
        up = home.start("local", "up", start_new_session=True)
        self.assertEqual(up.wait(timeout=60), 0)
        up.communicate()
        pid = home.status()["pid"]
        self.assertNotEqual(os.getsid(pid), up.pid)
        os.kill(pid, signal.SIGSTOP)
        self.assertIn("killed after 1 s", home.run("local", "down", "--grace", "1").stdout)
        self.assertFalse(is_alive(pid))

    def test_two_starts_at_once_make_one_server(self):
        starts = [self.home.start("local", "up") for _ in range(3)]
        ends = [(one.communicate(timeout=60), one.returncode) for one in starts]
        self.assertEqual([code for _, code in ends], [0, 0, 0], ends)
        ready = [out for (out, _), _ in ends if "Cluster is ready" in out]
        self.assertEqual(len(ready), 1, ends)


class Trouble(LocalTest):
    def test_port_in_use(self):
        home = self.home
        home.run("local", "up")
        port = int(home.status()["address"].rpartition(":")[2])
        home.run("local", "down")
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", port))
            other.listen()
            text = self.refused("local", "up")
            self.assertIn(str(port), text)
            self.assertIn("--port 0", text)
            self.assertIn(str(port), self.refused("local", "up", "--port", port))
            home.run("local", "up", "--port", "0")
            self.assertNotEqual(home.status()["address"], f"https://127.0.0.1:{port}")
        self.assertIn("NAME", home.run("get", "namespaces").stdout)

    def test_a_second_process_on_the_folder(self):
        home = self.home
        home.run("local", "up")
        status = home.status()
        second = self.refused("local", "serve", "--data", home.data)
        self.assertIn(f"already running (pid {status['pid']}, {status['address']})", second)
        self.assertEqual(home.status()["pid"], status["pid"])

    def test_a_damaged_database(self):
        home = self.home
        home.run("local", "up")
        home.run("local", "down")
        for name in ("objects.db-wal", "objects.db-shm"):
            (home.data / name).unlink(missing_ok=True)
        (home.data / "objects.db").write_bytes(b"no database" * 1000)
        text = self.refused("local", "up")
        self.assertIn(str(home.data / "objects.db"), text)
        self.assertIn("move it away", text)
        self.assertEqual((home.data / "objects.db").read_bytes(), b"no database" * 1000)

    def test_a_newer_database(self):
        home = self.home
        home.run("local", "up")
        home.run("local", "down")
        with sqlite3.connect(home.data / "objects.db") as database:
            database.execute("PRAGMA user_version = 99")
        database.close()
        self.assertIn("newer amdahl", self.refused("local", "up"))

    def test_a_folder_that_cannot_be_written(self):
        blocked = self.home.path / "file"
        blocked.write_text("not a folder")
        self.assertIn(str(blocked), self.refused("local", "up", "--data", blocked / "data"))
        if os.geteuid() == 0:
            print("skipped: root may write into any folder")
            return
        closed = self.home.path / "closed"
        closed.mkdir(mode=0o500)
        self.assertIn(str(closed), self.refused("local", "up", "--data", closed / "data"))

    def test_folders_with_files_of_others(self):
        home = self.home
        other = home.path / "other"
        other.mkdir()
        (other / "thesis.tex").write_text("years")
        self.assertIn("thesis.tex", self.refused("local", "up", "--data", other))
        self.assertEqual(os.listdir(other), ["thesis.tex"])
        home.run("local", "up")
        (home.data / "notes.txt").write_text("mine")
        self.assertIn("notes.txt", self.refused("local", "reset", "--yes"))
        self.assertEqual(home.status()["state"], "running")

    def test_wrong_words(self):
        for words in ([], ["nonsense"], ["local"], ["local", "up", "--nodes", "0"],
                      ["local", "up", "--nodes", "many"], ["local", "up", "--port", "70000"],
                      ["get", "pods", "-o", "xml"], ["apply"], ["submit"], ["pause"],
                      ["local", "up", "--nonsense"]):
            self.assertIn("--help", self.refused(*words, code=2))
        self.assertIn("--memory", self.refused("local", "up", "--memory", "much"))
        self.assertIn("--cpu", self.refused("local", "up", "--cpu", "-1"))
        self.assertFalse(self.home.data.exists())


if __name__ == "__main__":
    unittest.main()
