"""Real kubectl against the embedded server, beside a real kube-apiserver where that can be."""

import json
import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import kubectl_objects as objects  # noqa: E402
from kubectl_servers import Kubectl, TlsEmbeddedServer, normal  # noqa: E402
from kubectl_sessions import SESSIONS  # noqa: E402
from kubectl_step import Step  # noqa: E402

import build  # noqa: E402
import credentials  # noqa: E402
import testbed  # noqa: E402
from process import wait_until  # noqa: E402

WATCH_SECONDS = 30


def setUpModule():
    build.build_missing()


def play(kubectl: Kubectl, namespace: str, step: Step) -> tuple[int, str]:
    """Exit code and normalised output of one step."""
    words = step.line.replace("{ns}", namespace).split()
    if "--raw" not in words:
        words = ["-n", namespace, *words]
    env = {"KUBE_EDITOR": step.editor} if step.editor else {}
    code, out, err = kubectl.run(*words, stdin=step.stdin.replace("{ns}", namespace), env=env)
    return code, normal(out + err)


class Sessions(unittest.TestCase):
    """The same commands on both servers: the same exit codes and, normalised, the same output."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        embedded = cls.enterClassContext(TlsEmbeddedServer())
        servers = {"embedded": embedded, "real": cls.enterClassContext(testbed.Cluster("kubectl"))}
        cls.kubectls = {}
        for name, server in servers.items():
            kubectl = cls.kubectls[name] = Kubectl(server.kubeconfig, embedded.dir / name)
            code, _, err = kubectl.run("create", "-f", "-",
                                       stdin=f"{objects.CRD}---{objects.NODE}")
            if code:
                raise RuntimeError(f"{name}: {err}")
            kubectl.run("wait", "crd/widgets.shop.example.com", "--for=condition=Established")

    def compare(self, session: str, step: Step) -> None:
        code, expected = play(self.kubectls["real"], session, step)
        self.assertEqual(code, step.code, f"the real server: {expected}")
        self.assertIn(step.has.replace("{ns}", session), expected)
        self.assertEqual((step.code, expected), play(self.kubectls["embedded"], session, step))


def _add_sessions() -> None:
    def test(session: str):
        def run(self):
            for kubectl in self.kubectls.values():
                self.assertEqual(kubectl.run("create", "namespace", session)[0], 0)
            for number, step in enumerate(SESSIONS[session]):
                with self.subTest(number=number, line=step.line[:60]):
                    self.compare(session, step)
        return run

    for session in SESSIONS:
        setattr(Sessions, f"test_{session.replace('-', '_')}", test(session))


_add_sessions()


class ServerItself(unittest.TestCase):
    """What the two servers say about themselves: the embedded one offers a part of the real one."""

    @classmethod
    def setUpClass(cls):
        embedded = cls.enterClassContext(TlsEmbeddedServer())
        cls.kubectl = Kubectl(embedded.kubeconfig, embedded.dir / "home")
        cls.real = Kubectl(cls.enterClassContext(testbed.Cluster("kubectl-self")).kubeconfig,
                           embedded.dir / "real")

    def run_both(self, *words: str) -> tuple[str, str]:
        answers = []
        for kubectl in (self.kubectl, self.real):
            code, out, err = kubectl.run(*words)
            self.assertEqual(code, 0, err)
            answers.append(normal(out))
        return answers[0], answers[1]

    def test_api_resources_are_a_part_of_the_real_ones(self):
        ours, real = self.run_both("api-resources", "--no-headers", "-o", "wide")
        self.assertLessEqual(set(ours.splitlines()), set(real.splitlines()))
        self.assertGreater(len(ours.splitlines()), 25)

    def test_api_versions_are_a_part_of_the_real_ones(self):
        ours, real = self.run_both("api-versions")
        self.assertLessEqual(set(ours.split()), set(real.split()))
        self.assertIn("apps/v1", ours)

    def test_version(self):
        ours, _ = self.run_both("version", "-o", "json")
        version = json.loads(ours)["serverVersion"]
        self.assertEqual((version["major"], version["minor"]), ("1", "34"))

    def test_explain_of_a_built_in_kind_names_the_same_fields(self):
        for path in ("pods.spec.containers", "deployment", "configmap.metadata"):
            ours, real = map(_fields, self.run_both("explain", path, "--recursive"))
            self.assertEqual(ours, real)
            self.assertGreater(len(ours), 5)

    def test_whoami(self):
        code, out, err = self.kubectl.run("auth", "whoami", "-o", "json")
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["status"]["userInfo"]["username"], "amdahl-admin")

    def test_a_token_of_a_service_account_is_that_account(self):
        self.assertEqual(self.kubectl.run("create", "serviceaccount", "robot")[0], 0)
        code, token, err = self.kubectl.run("create", "token", "robot", "--duration=10m")
        self.assertEqual(code, 0, err)
        who = self.kubectl.run("auth", "whoami", "-o", "json", f"--token={token.strip()}")
        name = json.loads(who[1])["status"]["userInfo"]["username"]
        self.assertEqual(name, "system:serviceaccount:default:robot")


def _fields(text: str) -> list[str]:
    """Names and types that kubectl explains; texts are the real server's own."""
    return [line for line in text.splitlines() if "<" in line and "<empty>" not in line]


class Embedded(unittest.TestCase):
    """What a kube-apiserver without its controllers cannot show, and what is refused."""

    def setUp(self):
        self.server = self.enterContext(TlsEmbeddedServer())
        self.kubectl = Kubectl(self.server.kubeconfig, self.server.dir / "home")

    def run_ok(self, *words: str, stdin: str = "") -> str:
        code, out, err = self.kubectl.run(*words, stdin=stdin)
        self.assertEqual(code, 0, f"kubectl {' '.join(words)}: {err}")
        return out

    def names(self) -> set[str]:
        return set(self.run_ok("get", "cm", "-o", "name").split())

    def make_family(self) -> None:
        self.run_ok("create", "configmap", "owner")
        uid = self.run_ok("get", "cm", "owner", "-o", "jsonpath={.metadata.uid}")
        for child in ("a", "b"):
            self.run_ok("create", "-f", "-", stdin=objects.OWNED % (child, uid))

    def test_delete_cascades_in_the_background(self):
        self.make_family()
        self.run_ok("delete", "cm", "owner")
        self.assertTrue(wait_until(lambda: not self.names(), WATCH_SECONDS))

    def test_delete_cascades_in_the_foreground(self):
        self.make_family()
        self.run_ok("delete", "cm", "owner", "--cascade=foreground")
        self.assertEqual(self.names(), set())

    def test_delete_orphans(self):
        self.make_family()
        self.run_ok("delete", "cm", "owner", "--cascade=orphan")
        left = json.loads(self.run_ok("get", "cm", "-o", "json"))["items"]
        self.assertEqual([item["metadata"]["name"] for item in left], ["a", "b"])
        self.assertNotIn("ownerReferences", left[0]["metadata"])

    def test_a_namespace_goes_with_what_is_in_it(self):
        self.run_ok("create", "namespace", "gone")
        self.run_ok("create", "configmap", "c", "-n", "gone")
        self.run_ok("delete", "namespace", "gone")
        code, _, err = self.kubectl.run("get", "namespace", "gone")
        self.assertEqual((code, "NotFound" in err), (1, True), err)

    def test_get_watches(self):
        lines: list[str] = []
        wanted = ["EVENT NAME", "ADDED w", "MODIFIED w", "DELETED w"]

        def read() -> None:
            for line in process.stdout:
                lines.append(" ".join(line.split()[:2]))

        words = ("get", "cm", "-w", "--output-watch-events")
        with self.kubectl.start(*words, stdout=subprocess.PIPE) as process:
            reader = threading.Thread(target=read, daemon=True)
            reader.start()
            try:
                self.run_ok("create", "configmap", "w")
                self.run_ok("label", "cm", "w", "a=b")
                self.run_ok("delete", "cm", "w")
                self.assertTrue(wait_until(lambda: lines == wanted, WATCH_SECONDS), lines)
            finally:
                process.terminate()
                reader.join(timeout=10)

    def test_describe_a_namespace_and_explain_a_custom_kind(self):
        self.assertIn("Active", self.run_ok("describe", "namespace", "default"))
        self.run_ok("create", "-f", "-", stdin=objects.CRD)
        self.assertIn("A thing that is sold.", self.run_ok("explain", "widgets"))

    def test_logs_without_a_kubelet_say_so(self):
        self.run_ok("create", "-f", "-", stdin=objects.POD)
        code, _, err = self.kubectl.run("logs", "web-0", "-c", "main")
        self.assertEqual(code, 1)
        self.assertIn("pod default/web-0 has no log: this server runs no containers", err)

    def test_a_wrong_token_and_a_wrong_authority_are_refused(self):
        code, _, err = self.kubectl.run("get", "cm", "--token=wrong")
        self.assertEqual((code, "provide credentials" in err), (1, True), err)
        credentials.create(self.server.dir / "other")
        other = self.server.dir / "other" / "ca.crt"
        code, _, err = self.kubectl.run("get", "cm", f"--certificate-authority={other}")
        self.assertEqual((code, "certificate" in err), (1, True), err)


if __name__ == "__main__":
    unittest.main()
