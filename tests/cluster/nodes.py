"""The programs of a node that really runs pods: containerd, kubelet, and a DNS server."""

import json
import shutil
from pathlib import Path

import build
import credentials
from namespaces import ADDRESS, BRIDGE

NODE = "node-0"
CNI_PROGRAMS = Path("/usr/lib/cni")
# program -> Debian package; tools/setup installs them.
NEEDED = {"containerd": "containerd", "ctr": "containerd", "runc": "runc", "ip": "iproute2",
          f"{CNI_PROGRAMS}/bridge": "containernetworking-plugins", "busybox": "busybox-static"}
CONTAINERD = """\
version = 2
root = "{root}"
state = "{state}"
[grpc]
address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{pause}"
# A profile would be loaded into the machine's kernel and stay there.
disable_apparmor = true
# Without CAP_SYS_RESOURCE runc cannot lower the score, and dies when it is told to.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{cni_programs}"
conf_dir = "{cni_configuration}"
"""
COREFILE = """\
.:53 {{
  bind {address}
  ready 127.0.0.1:8181
  errors
  kubernetes cluster.local {{
    kubeconfig {kubeconfig}
  }}
}}
"""


def missing_packages() -> list[str]:
    return sorted({package for name, package in NEEDED.items() if shutil.which(name) is None})


def containerd(folder: Path, socket: Path, pause: str) -> list:
    """Pods get addresses of the bridge and reach each other and the node; there is no way out."""
    network = {"cniVersion": "1.0.0", "name": "pods", "plugins": [
        {"type": "bridge", "bridge": BRIDGE, "isGateway": True, "ipam": {
            "type": "host-local", "dataDir": str(folder / "addresses"),
            "ranges": [[{"subnet": "10.244.0.0/16", "rangeStart": "10.244.1.0"}]],
            "routes": [{"dst": "0.0.0.0/0"}]}}]}
    configuration = folder / "net.d"
    configuration.mkdir(parents=True)
    (configuration / "pods.conflist").write_text(json.dumps(network))
    (folder / "config.toml").write_text(CONTAINERD.format(
        root=folder / "root", state=socket.parent / "containerd", socket=socket, pause=pause,
        cni_programs=CNI_PROGRAMS, cni_configuration=configuration))
    return ["containerd", "--config", folder / "config.toml"]


def kubelet(folder: Path, socket: Path, certs: Path, server: str, cgroup: str) -> list:
    """With the rights of a node, and no more."""
    credentials.issue(certs, "kubelet", f"/O=system:nodes/CN=system:node:{NODE}",
                      "extendedKeyUsage=clientAuth\n")
    folder.mkdir()
    (folder / "kubeconfig").write_text(json.dumps(_kubeconfig(certs, server)))
    never = {f"{what}.available": "0%" for what in ("memory", "nodefs", "imagefs")}
    settings = {
        "kind": "KubeletConfiguration", "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "containerRuntimeEndpoint": f"unix://{socket}",
        "cgroupDriver": "cgroupfs", "cgroupRoot": f"/{cgroup}", "failCgroupV1": False,
        "clusterDNS": [ADDRESS], "clusterDomain": "cluster.local", "resolvConf": "",
        "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": False},
                           "x509": {"clientCAFile": str(certs / "ca.crt")}},
        "authorization": {"mode": "AlwaysAllow"},
        # What follows is about machines: this one is borrowed, and its disk is memory.
        "failSwapOn": False, "makeIPTablesUtilChains": False, "oomScoreAdj": 0,
        "localStorageCapacityIsolation": False,
        "evictionHard": never | {"nodefs.inodesFree": "0%", "imagefs.inodesFree": "0%"},
        "volumePluginDir": str(folder / "plugins"), "readOnlyPort": 0,
    }
    (folder / "config.json").write_text(json.dumps(settings))
    return [build.program("kubelet"), f"--config={folder}/config.json",
            f"--kubeconfig={folder}/kubeconfig", f"--root-dir={folder}/root",
            f"--cert-dir={folder}/certs", f"--hostname-override={NODE}", f"--node-ip={ADDRESS}"]


def coredns(folder: Path, kubeconfig: Path) -> list:
    folder.mkdir()
    (folder / "Corefile").write_text(COREFILE.format(address=ADDRESS, kubeconfig=kubeconfig))
    return [build.program("coredns"), "-conf", folder / "Corefile"]


def _kubeconfig(certs: Path, server: str) -> dict:
    return {"apiVersion": "v1", "kind": "Config", "current-context": "node",
            "contexts": [{"name": "node", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {
                "server": server, "certificate-authority": str(certs / "ca.crt")}}],
            "users": [{"name": "u", "user": {"client-certificate": str(certs / "kubelet.crt"),
                                             "client-key": str(certs / "kubelet.key")}}]}
