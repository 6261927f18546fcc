"""One test server: etcd and kube-apiserver on loopback. The `cluster` script is its thin face.

    with testbed.Cluster("my-test") as cluster:
        status, pods = cluster.request("GET", "/api/v1/pods")
"""

import base64
import contextlib
import fcntl
import http.client
import json
import os
import random
import re
import shutil
import socket
import zlib
from pathlib import Path

import build
import credentials
from client import Client
from process import Process, wait_until

RUN = build.HOME / "run"
SHM = Path("/dev/shm")
READY_SECONDS = 120  # 4 s on an idle machine; a machine that is compiling is slow
# Below the range the kernel hands out for outgoing connections, so that nothing takes a chosen
# port while its server is down for a restart.
PORTS = range(20000, 30000)


class Cluster(Client):
    # Nothing here makes service accounts, and without them this plugin refuses all pods.
    admission_off = "ServiceAccount"

    def __init__(self, name: str = "default"):
        if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name):
            raise ValueError(f"not a usable cluster name: {name!r}")
        self.name, self.dir = name, RUN / name
        super().__init__(self.dir / "certs")
        self.kubeconfig, self._lock = self.dir / "kubeconfig", RUN / f".{name}.lock"
        self.etcd = Process(self.dir / "etcd.pid", self.dir / "etcd.log")
        self.apiserver = Process(self.dir / "apiserver.pid", self.dir / "apiserver.log")

    def __enter__(self) -> "Cluster":
        return self.up()

    def __exit__(self, *_) -> None:
        self.down()

    # --- life cycle

    def up(self, etcd: str = "new", apiserver_args: tuple[str, ...] = (),
           durable: bool = False) -> "Cluster":
        """Starts the server and returns when it is ready; a running one of this name is kept.

        Data are in memory and not synced, for speed; `durable` is as a cluster has it: the disk.
        """
        build.build_missing()
        RUN.mkdir(parents=True, exist_ok=True)
        with _locked(self._lock):  # the second of two callers finds it running
            self._up({"etcd": etcd, "apiserver_args": list(apiserver_args), "durable": durable})
        return self

    def down(self) -> None:
        """Stops what up() started and removes all it made. Safe to repeat."""
        self._clear()
        self._lock.unlink(missing_ok=True)

    def start_apiserver(self) -> None:
        if self.apiserver.pid is None:
            self.apiserver.start(self._apiserver_command())
        self._wait(self.apiserver, "kube-apiserver", self.ready)
        # The server makes this namespace by itself, but a moment after it says it is ready.
        self.request("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})

    def stop_apiserver(self, kill: bool = False) -> None:
        self.apiserver.stop(kill=kill)

    def restart_apiserver(self, kill: bool = False) -> None:
        """Same port, same data, empty watch cache."""
        self.stop_apiserver(kill)
        self.start_apiserver()

    # --- what etcd can do to a client

    def compact(self) -> int:
        """etcd forgets all before this revision, which is returned; the README says who sees it."""
        revision = self.revision()
        self._etcd_call("kv/compaction", {"revision": revision, "physical": True})
        return int(revision)

    def revision(self) -> str:
        """etcd's current revision: the newest resourceVersion of the whole server."""
        absent = base64.b64encode(b"\0").decode()
        return self._etcd_call("kv/range", {"key": absent})["header"]["revision"]

    def mark(self) -> int:
        """Keeps a copy of etcd's data for rewind() and returns its revision."""
        mark, fresh = self._mark(), self._mark().with_suffix(".new")
        shutil.rmtree(fresh, ignore_errors=True)
        revision = self.revision()
        # Frozen, the files are what a crash would leave, and etcd recovers from that by design.
        self.etcd.freeze()
        try:
            shutil.copytree(self._data(), fresh)
        finally:
            self.etcd.thaw()
        shutil.rmtree(mark, ignore_errors=True)
        fresh.rename(mark)
        return int(revision)

    def rewind(self) -> int:
        """Back to the mark, as after a restored backup: versions already handed out come again."""
        if not self._mark().exists():
            raise RuntimeError(f"cluster {self.name} has no mark to go back to")
        self._stop_all()
        shutil.rmtree(self._data())
        shutil.copytree(self._mark(), self._data())
        self._start_etcd()
        revision = int(self.revision())
        self.start_apiserver()
        return revision

    def ready(self) -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.apiserver.pid is not None and self.request("GET", "/readyz")[0] == 200
        return False

    @property
    def etcd_kind(self) -> str:
        return self._state()["etcd"]

    @property
    def port(self) -> int:
        return self._state()["ports"]["apiserver"]

    # --- inside

    def _up(self, options: dict) -> None:
        if self.etcd.pid and self.apiserver.pid:
            there = self._state()
            if options != {name: there.get(name) for name in options}:
                raise RuntimeError(f"cluster {self.name} is up with other options: `down` first")
            return
        self._clear()  # what a crash left behind
        if options["etcd"] == "old" and not build.OLD_ETCD.exists():
            raise RuntimeError(f"{build.OLD_ETCD} is missing: install the package etcd-server")
        try:
            self._create(options)
            self._start_etcd()
            self.start_apiserver()
        except BaseException:
            self._stop_all()  # the folder stays: its logs say why
            raise

    def _clear(self) -> None:
        self.close()
        self._stop_all()
        if (self.dir / "data").is_symlink():
            shutil.rmtree(os.readlink(self.dir / "data"), ignore_errors=True)
        shutil.rmtree(self.dir, ignore_errors=True)

    def _create(self, options: dict) -> None:
        with _locked(RUN / ".lock"):  # two `up` at once must not choose the same ports
            ports = dict(zip(("etcd", "peer", "apiserver"), _free_ports(3)))
            self.dir.mkdir()
            state = {**options, "ports": ports}
            (self.dir / "state.json").write_text(json.dumps(state, indent=1))
        # Memory instead of a disk: etcd writes a lot.
        if not options["durable"] and os.access(SHM, os.W_OK):
            data = SHM / f"amdahl-cluster-{zlib.crc32(bytes(RUN)):08x}-{self.name}"
            shutil.rmtree(data, ignore_errors=True)
            data.mkdir(mode=0o700)
            (self.dir / "data").symlink_to(data)
        else:
            (self.dir / "data").mkdir(mode=0o700)
        credentials.create(self.certs)
        credentials.write_kubeconfig(self.kubeconfig, self.certs, self.server)

    def _state(self) -> dict:
        try:
            return json.loads((self.dir / "state.json").read_text())
        except FileNotFoundError:
            raise RuntimeError(f"there is no cluster {self.name}") from None

    def _data(self) -> Path:
        return self.dir / "data" / "etcd"

    def _mark(self) -> Path:
        return self.dir / "data" / "mark"

    def _start_etcd(self) -> None:
        ports, old = self._state()["ports"], self.etcd_kind == "old"
        client, peer = (f"http://127.0.0.1:{ports[p]}" for p in ("etcd", "peer"))
        command = [build.OLD_ETCD if old else build.program("etcd"), "--name=amdahl-test"]
        command += [f"--data-dir={self._data()}", "--quota-backend-bytes=8589934592"]
        command += [f"--listen-client-urls={client}", f"--advertise-client-urls={client}"]
        command += [f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"]
        command += [f"--initial-cluster=amdahl-test={peer}", "--log-level=warn"]
        if not old and not self._state()["durable"]:  # 3.4 does not know it
            command += ["--unsafe-no-fsync"]
        self.etcd.start(command)
        self._wait(self.etcd, "etcd", self._etcd_ready)

    def _apiserver_command(self) -> list:
        state = self._state()
        return [
            build.program("kube-apiserver"),
            f"--etcd-servers=http://127.0.0.1:{state['ports']['etcd']}",
            f"--secure-port={self.port}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",  # would publish 127.0.0.1, which is refused
            f"--tls-cert-file={self.certs}/server.crt",
            f"--tls-private-key-file={self.certs}/server.key",
            f"--client-ca-file={self.certs}/ca.crt",
            f"--token-auth-file={self.certs}/tokens.csv",
            "--anonymous-auth=false",
            "--authorization-mode=Node,RBAC",
            f"--disable-admission-plugins={self.admission_off}",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={self.certs}/sa.pub",
            f"--service-account-signing-key-file={self.certs}/sa.key",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--max-requests-inflight=4000",
            "--max-mutating-requests-inflight=2000",
            "--profiling=false",
            # Ends open watches at SIGTERM; without it they hold the server up for a minute.
            "--shutdown-watch-termination-grace-period=2s",
            *state["apiserver_args"],
        ]

    def _stop_all(self) -> None:
        self.apiserver.stop()
        self.etcd.stop()

    def _wait(self, process: Process, what: str, ready) -> None:
        def settled() -> bool:
            if process.pid is None:
                raise RuntimeError(f"{process.log_tail()}\n{what} ended; see {process.log}")
            return ready()

        if not wait_until(settled, READY_SECONDS, every=0.05):
            raise RuntimeError(f"{process.log_tail()}\n{what} not ready after {READY_SECONDS} s")

    def _etcd_ready(self) -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return bool(self.revision())
        return False

    def _etcd_call(self, method: str, body: dict) -> dict:
        port = self._state()["ports"]["etcd"]
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as etcd:
            etcd.request("POST", f"/v3/{method}", json.dumps(body))
            response = etcd.getresponse()
            answer = json.loads(response.read())
        if response.status != 200:
            raise RuntimeError(f"etcd refused {method}: {answer}")
        return answer


def all_clusters() -> list[Cluster]:
    return [Cluster(path.parent.name) for path in sorted(RUN.glob("*/state.json"))]


@contextlib.contextmanager
def _locked(path: Path):
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _free_ports(count: int) -> list[int]:
    taken: set[int] = set()
    for cluster in all_clusters():
        with contextlib.suppress(RuntimeError):  # it went away while we looked
            taken.update(cluster._state()["ports"].values())
    chosen = []
    for port in random.sample(PORTS, len(PORTS)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                chosen += [port] if port not in taken else []
        if len(chosen) == count:
            return chosen
    raise RuntimeError("no free port on loopback")
