#!/usr/bin/env python3
"""`make frameworks`: torch, Hugging Face's Trainer, Lightning and DeepSpeed for tests, CPU only.

usage: tools/frameworks.py           install them from PyPI (1.6 GB, 2 minutes), once per machine
       tools/frameworks.py --path    print the Python that has them; exit code 77 if there is none

They lie in ~/.cache/amdahl/frameworks-VERSIONS (XDG_CACHE_HOME), outside of the clone; another
tools/frameworks.txt is another folder. PyPI's torch for x86 is linked with CUDA libraries of 5 GB.
Without a GPU only the runtime is called; the others are replaced by one library whose functions
all return an error.
"""

from __future__ import annotations

import collections
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PINS = HERE / "frameworks.txt"
PYTHON = "/usr/bin/python3"  # Debian's: the wheels are made for its version
COMPLETE = "complete"
LAYOUT = "1"  # raise it when the folder is made in another way
SKIPPED = 77
INSTALL_SECONDS_MAX = 1200
IMPORT_SECONDS_MAX = 300
BUILT_FROM_SOURCE = "deepspeed=="
# Libraries that torch is linked with, and the functions that it calls in them.
ABSENT = re.compile(r"lib(cublas|cublasLt|cudnn|cufft|cufile|cupti|cusolver|cusparse|cusparseLt|"
                    r"nccl|nvrtc|nvshmem_host|nvJitLink)\.so\.\d+")
FUNCTIONS = re.compile(r"(cublas|cudnn|cufft|cuFile|cupti|cusolver|cusparse|nccl|nvrtc|nvshmem|"
                       r"nvJitLink)\w+")
PROBE = "import torch, transformers, lightning.pytorch, deepspeed, torch.distributed.checkpoint"


class NotInstalled(Exception):
    """Why there are none, and the next step."""


def folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    versions = hashlib.sha256(PINS.read_bytes() + LAYOUT.encode()).hexdigest()[:12]
    return Path(home) / "amdahl" / f"frameworks-{versions}"


def python() -> Path | None:
    """The Python that has all of them, or None where `make frameworks` was not run."""
    where = folder()
    return where / "bin" / "python" if (where / COMPLETE).exists() else None


def variables() -> dict[str, str]:
    """For processes that use them."""
    return {"DS_ACCELERATOR": "cpu", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}


def install() -> Path:
    where = folder()
    where.parent.mkdir(parents=True, exist_ok=True)
    with open(where.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another clone may be at it
        if not (where / COMPLETE).exists():
            try:
                _install_into(where)
            except NotInstalled:
                shutil.rmtree(where, ignore_errors=True)
                raise
    return where / "bin" / "python"


def _install_into(where: Path) -> None:
    shutil.rmtree(where, ignore_errors=True)
    _run("venv", PYTHON, "-m", "venv", where)
    pins = [line for line in PINS.read_text().splitlines() if line and not line.startswith("#")]
    _pip(where, *(pin for pin in pins if not pin.startswith(BUILT_FROM_SOURCE)))
    _replace_absent(next(where.glob("lib/python3*/site-packages/torch/lib")))
    _pip(where, "--no-build-isolation", *(pin for pin in pins if pin.startswith(BUILT_FROM_SOURCE)))
    _run("import of the frameworks", where / "bin" / "python", "-W", "ignore", "-c", PROBE,
         seconds=IMPORT_SECONDS_MAX)
    (where / COMPLETE).touch()


def _pip(where: Path, *words: str) -> None:
    _run("pip (is PyPI reachable?)", where / "bin" / "python", "-m", "pip", "install", "--quiet",
         "--disable-pip-version-check", "--no-cache-dir", "--no-deps", *words)


def _replace_absent(libraries: Path) -> None:
    """One library under the names of all that are absent; symbols keep their versions."""
    names, symbols = set(), collections.defaultdict(set)  # version: functions
    for library in libraries.glob("*.so"):
        needed = _run("readelf", "readelf", "--dynamic", library)
        names |= {found[0] for found in ABSENT.finditer(needed)}
        for line in _run("nm", "nm", "--dynamic", "--undefined-only", library).splitlines():
            name, _, version = line.split()[-1].partition("@")
            if FUNCTIONS.fullmatch(name):
                symbols[version].add(name)
    if not names:
        return
    source, script = libraries / "absent.c", libraries / "absent.map"
    source.write_text("".join(f"int {name}(void) {{ return 1; }}\n"
                              for name in sorted(set().union(*symbols.values()))))
    script.write_text("".join(f"{version} {{ global: {'; '.join(sorted(functions))}; }};\n"
                              for version, functions in sorted(symbols.items()) if version))
    _run("the compiler", "clang-19", "-fuse-ld=lld", "-fno-builtin", "-w", "-shared", "-nostdlib",
         f"-Wl,--version-script={script}", source, "-o", libraries / "libabsent.so")
    for name in names:
        (libraries / name).symlink_to("libabsent.so")


def _run(what: str, *command: object, seconds: int = INSTALL_SECONDS_MAX) -> str:
    try:
        done = subprocess.run(list(map(str, command)), env={**os.environ, **variables()},
                              text=True, capture_output=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"{what}: {error}") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise NotInstalled(f"{what}: {last}")
    return done.stdout


def main() -> int:
    if sys.argv[1:] == ["--path"]:
        found = python()
        print(found or "not installed: run `make frameworks`")
        return 0 if found else SKIPPED
    try:
        print(f"frameworks: {install()}")
    except NotInstalled as why:
        print(f"frameworks: not installed: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
