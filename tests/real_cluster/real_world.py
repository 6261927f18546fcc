"""The cluster around this process (`cluster run`), with images, a volume, GPUs and the operator."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "operator"), str(ROOT / "tests" / "cluster")]

import credentials  # noqa: E402
import full  # noqa: E402
import images  # noqa: E402
import namespaces  # noqa: E402
import nodes  # noqa: E402
from job_world import JOBS, MERGE, PODS, JobWorld, wait_for  # noqa: E402

LAUNCH = Path(os.environ.get("AMDAHL_LAUNCH", ROOT / "build/dev/cli/amdahl-launch"))
CLI = Path(os.environ.get("AMDAHL_CLI", ROOT / "build/dev/cli/amdahl"))
LAUNCH_IMAGE, TRAINER_IMAGE = "amdahl.test/launch:1", "amdahl.test/trainer:1"
PYTHON_PACKAGES = ("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib")
REPORTS = f"{namespaces.ADDRESS}:8443"
GPU = "nvidia.com/gpu"
GPUS = 4  # promises of the node that nobody touches
LITTLE = {"cpu": "100m", "memory": "256Mi"}
VOLUMES, CLAIMS = "/api/v1/persistentvolumes", "/api/v1/namespaces/default/persistentvolumeclaims"
NODE = f"/api/v1/nodes/{nodes.NODE}"


def launch_image() -> images.Image:
    return images.Image(LAUNCH_IMAGE).add_merged_root().add_program("/amdahl-launch", LAUNCH)


def trainer_image() -> images.Image:
    """Debian's Python as it is on this machine, our package, the script."""
    image = images.Image(TRAINER_IMAGE).add_merged_root().add_packages(*PYTHON_PACKAGES)
    modules = Path("/usr/lib/python3.11/lib-dynload").glob("*.so")
    # amdahl-launch comes from its own image without libraries. One with sanitizers needs some.
    image.add_libraries(Path("/usr/bin/python3.11"), *modules, LAUNCH)
    for source in sorted((ROOT / "python" / "amdahl").glob("*.py")):
        image.add(f"/usr/lib/python3.11/amdahl/{source.name}", source)
    return image.add("/trainer.py", ROOT / "tests" / "real_cluster" / "trainer.py")


class RealWorld(JobWorld):
    def __init__(self):
        if "AMDAHL_CLUSTER" not in os.environ:
            raise RuntimeError("these tests need a cluster around them: see the README here")
        super().__init__(full.FullCluster(os.environ["AMDAHL_CLUSTER"]))
        for image in (launch_image(), trainer_image()):
            image.load(full.SOCKET)
        self.checkpoints = self.folder / "checkpoints"
        self._add_volume()
        self._add_gpus()
        self.runner = self.operator("operator", *self._report_flags(),
                                    "--launch-image", LAUNCH_IMAGE)
        self.runner.port_of_probes()

    def train(self, name: str, *words: str, resources: dict | None = None, **spec) -> None:
        """Two ranks of trainer.py, with these words on its command line."""
        mount = {"name": "checkpoints", "mountPath": "/checkpoints"}
        claim = {"name": "checkpoints", "persistentVolumeClaim": {"claimName": "checkpoints"}}
        asked = {**LITTLE, GPU: "1"} if resources is None else resources
        limits = {name: amount for name, amount in asked.items() if name != "cpu"}
        trainer = {"name": "trainer", "image": TRAINER_IMAGE, "volumeMounts": [mount],
                   "command": ["/usr/bin/python3.11", "/trainer.py", *words],
                   "resources": {"requests": asked, "limits": limits}}
        template = {"containers": [trainer], "volumes": [claim],
                    "terminationGracePeriodSeconds": 10}
        spec |= {"runtime": "Python", "ttlAfterFinished": ""}
        status, answer = self.submit(name, template=template, **spec)
        assert status == 201, answer

    def amdahl(self, *words: str) -> str:
        done = subprocess.run([CLI, *words], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "HOME": str(self.folder)})
        assert done.returncode == 0, f"amdahl {' '.join(words)}: {done.stderr}"
        return done.stdout

    def remove(self, name: str) -> None:
        self.cluster.request("DELETE", f"{JOBS}/{name}")
        wait_for(lambda: not self.children(name), lambda: f"left: {self.children(name)}")

    def describe(self, name: str) -> str:
        """For a failed test: all there is to know of a job."""
        texts = [self.kubectl.run("get", "trainingjob", name, "-o", "yaml")[1],
                 self.kubectl.run("describe", "pods,podgroups", "-l", f"amdahl.dev/job={name}")[1]]
        for pod in self.pods(name):
            said = self.kubectl.run("logs", pod, "--all-containers", "--tail", "30")
            texts += [f"--- {pod}", *said[1:]]
        return "\n".join([*texts, self.runner.log.read_text()[-4000:]])

    def _report_flags(self) -> list[str]:
        """TLS with a certificate of the cluster's authority, which every namespace is told of."""
        certs = self.cluster.certs
        credentials.issue(certs, "report", "/CN=amdahl-operator",
                          f"subjectAltName=IP:{namespaces.ADDRESS}\nextendedKeyUsage=serverAuth\n")
        return ["--report-address", REPORTS, "--report-url", f"https://{REPORTS}",
                "--report-cert", str(certs / "report.crt"), "--report-key",
                str(certs / "report.key"), "--report-ca", "kube-root-ca.crt"]

    def _add_volume(self) -> None:
        """A folder of the node. The cluster's owner may do that; a job's template may not."""
        shared = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
        volume = {"metadata": {"name": "checkpoints"}, "spec": {
            **shared, "capacity": {"storage": "1Gi"}, "hostPath": {"path": str(self.checkpoints)},
            "claimRef": {"namespace": "default", "name": "checkpoints"}}}
        claim = {"metadata": {"name": "checkpoints"}, "spec": {
            **shared, "resources": {"requests": {"storage": "1Gi"}}}}
        self.checkpoints.mkdir()
        for path, body in ((VOLUMES, volume), (CLAIMS, claim)):
            status, answer = self.cluster.request("POST", path, body)
            assert status == 201, answer

    def _add_gpus(self) -> None:
        status, answer = self.cluster.request(
            "PATCH", f"{NODE}/status", {"status": {"capacity": {GPU: str(GPUS)}}},
            content_type=MERGE)
        assert status == 200, answer
        wait_for(lambda: self.cluster.request("GET", NODE)[1]["status"]["allocatable"].get(GPU))
