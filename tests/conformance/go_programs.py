"""Programs of this folder that are written in Go: other people's clients of the API server.

A program is go/<name>/main.go and is built against the Kubernetes modules of the test cluster's
version. The file name under build/ holds a hash of the source, so a change is a new program.
"""

import fcntl
import hashlib
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cluster"))

import build  # noqa: E402

MODULES = ("api", "apiextensions-apiserver", "apimachinery", "client-go")


def program(name: str) -> Path:
    """Path of the program, built when it is not there yet."""
    source = (HERE / "go" / name / "main.go").read_text()
    version = build.PRODUCTS["kubernetes"].staging
    digest = hashlib.sha256((version + source).encode()).hexdigest()[:12]
    target = build.BIN / f"{name}-{digest}"
    if target.exists():
        return target
    build.BIN.mkdir(parents=True, exist_ok=True)
    with open(build.HOME / "build.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            _build(name, source, version, target)
    return target


def _build(name: str, source: str, version: str, target: Path) -> None:
    start = time.monotonic()
    folder = build.HOME / "mod" / name
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"module amdahl.dev/conformance/{name}", f"go {'.'.join(map(str, build.GO_MIN))}"]
    lines += [f"require k8s.io/{module} v{version}" for module in MODULES]
    (folder / "go.mod").write_text("\n".join(lines) + "\n")
    (folder / "go.sum").unlink(missing_ok=True)
    (folder / "main.go").write_text(source)
    partial = target.with_name(target.name + ".partial")
    log = folder / "build.log"
    build.say(f"{name}: building")
    with open(log, "wb") as out:
        command = ["build", "-mod=mod", "-trimpath", "-o", partial, "."]
        code = build.run_go(build.find_go(), folder, command, stdout=out, stderr=out).returncode
    if code != 0:
        raise SystemExit(f"{log.read_text()[-4000:]}\n{name}: go build failed, see {log}")
    partial.rename(target)
    build.say(f"{name}: built", start)
