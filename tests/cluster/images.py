"""Container images from files of this machine: no registry, no container engine.

    Image("amdahl.test/x:1").add("/x", Path("/usr/bin/x")).load(socket)
"""

import hashlib
import io
import json
import shutil
import subprocess
import tarfile
from pathlib import Path

PAUSE = "amdahl.test/pause:1"
LOAD_SECONDS = 60
OCI = "application/vnd.oci.image"


class Image:
    """One layer, kept in memory; paths are those inside a container."""

    def __init__(self, name: str, command: tuple[str, ...] = ()):
        self.name, self._command = name, command
        self._bytes = io.BytesIO()
        self._layer = tarfile.open(fileobj=self._bytes, mode="w", format=tarfile.PAX_FORMAT)
        self._paths: set[str] = set()

    def add(self, path: str, content: Path | bytes) -> "Image":
        """A file, with its mode if it is one of this machine; links are followed."""
        is_file = isinstance(content, Path)
        entry = tarfile.TarInfo(path.lstrip("/"))
        entry.mode = content.stat().st_mode & 0o777 if is_file else 0o644
        data = content.read_bytes() if is_file else content
        entry.size = len(data)
        return self._put(entry, data)

    def link(self, path: str, target: str) -> "Image":
        entry = tarfile.TarInfo(path.lstrip("/"))
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        return self._put(entry, None)

    def folder(self, path: str, mode: int = 0o755) -> "Image":
        entry = tarfile.TarInfo(path.lstrip("/"))
        entry.type, entry.mode = tarfile.DIRTYPE, mode
        return self._put(entry, None)

    def add_merged_root(self) -> "Image":
        """/bin, /lib and so on as Debian has them; what is below is added below /usr."""
        for name in ("bin", "sbin", "lib", "lib64"):
            self.folder(f"/usr/{name}").link(f"/{name}", f"usr/{name}")
        return self.folder("/tmp", 0o1777).folder("/etc").add("/etc/passwd",
                                                              b"root:x:0:0::/:/bin/sh\n")

    def add_program(self, path: str, program: Path) -> "Image":
        """With the shared libraries that it, or any of those, asks for."""
        self.add(path, program)
        return self.add_libraries(program)

    def add_libraries(self, *programs: Path) -> "Image":
        for library in shared_libraries(*programs):
            self.add(merged(library), Path(library))
        return self

    def add_packages(self, *names: str) -> "Image":
        """The files of installed Debian packages, without what is there for people to read."""
        listed = subprocess.run(["dpkg", "-L", *names], capture_output=True, text=True, check=True)
        for path in sorted(set(listed.stdout.splitlines())):
            if Path(path).is_symlink():
                self.link(merged(path), str(Path(path).readlink()))
            elif Path(path).is_file() and not path.startswith("/usr/share/"):
                self.add(merged(path), Path(path))
        return self

    def archive(self) -> bytes:
        """The image as a tar of an OCI layout, in the form that `ctr images import` reads."""
        self._layer.close()
        layer = self._bytes.getvalue()
        config = {"architecture": _architecture(), "os": "linux",
                  "config": {"Cmd": list(self._command)},
                  "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]}}
        blobs = [layer, json.dumps(config).encode()]
        manifest = {"schemaVersion": 2, "mediaType": f"{OCI}.manifest.v1+json",
                    "config": _reference(blobs[1], "config.v1+json"),
                    "layers": [_reference(layer, "layer.v1.tar")]}
        blobs.append(json.dumps(manifest).encode())
        index = {"schemaVersion": 2, "manifests": [
            _reference(blobs[2], "manifest.v1+json")
            | {"annotations": {"io.containerd.image.name": self.name}}]}
        files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
                 "index.json": json.dumps(index).encode()}
        files |= {f"blobs/{_digest(blob).replace(':', '/')}": blob for blob in blobs}
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for name, data in files.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
        return packed.getvalue()

    def load(self, socket: Path) -> None:
        command = ["ctr", "--address", socket, "--namespace", "k8s.io", "images", "import", "-"]
        done = subprocess.run(command, input=self.archive(), capture_output=True,
                              timeout=LOAD_SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name} was not imported: {done.stderr.decode()}")

    def _put(self, entry: tarfile.TarInfo, data: bytes | None) -> "Image":
        if entry.name not in self._paths:  # packages share libraries
            self._paths.add(entry.name)
            self._layer.addfile(entry, None if data is None else io.BytesIO(data))
        return self


def pause() -> Image:
    """What holds the namespaces of a pod, until it is killed."""
    return Image(PAUSE, ("/busybox", "sleep", "2000000000")).add("/busybox", busybox())


def busybox() -> Path:
    found = shutil.which("busybox")
    if found is None:
        raise RuntimeError("busybox is missing: install the package busybox-static")
    return Path(found)


def shared_libraries(*programs: Path) -> list[str]:
    """By the loader's own account; none for a static program."""
    found = set()
    for program in programs:
        said = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
        for line in said.splitlines():
            words = line.split()
            found.update(word for word in words if word.startswith("/"))
    return sorted(found)


def merged(path: str) -> str:
    top = path.split("/")[1]
    return f"/usr{path}" if top in ("bin", "sbin", "lib", "lib64") else path


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _reference(data: bytes, kind: str) -> dict:
    return {"mediaType": f"{OCI}.{kind}", "digest": _digest(data), "size": len(data)}


def _architecture() -> str:
    said = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True)
    return said.stdout.strip() or "amd64"
