#!/usr/bin/env python3
"""The Pythons that the peers run in: folders below build/peers, by pip from PyPI, pinned.

  checkpoint_environments.py install     makes them (6 GB, some minutes) and says what is missing
  checkpoint_environments.py             says what is there

AMDAHL_PEERS names another folder than build/peers. Without them there is Debian's torch, which has
no distributed checkpoints yet.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PEERS = Path(os.environ.get("AMDAHL_PEERS", ROOT / "build" / "peers"))
DEBIAN = "/usr/bin/python3"
INSTALL_SECONDS_MAX = 1800
PROBE_SECONDS_MAX = 120
PINS = {"torch": ("checkpoint-venv", "checkpoint-peers.txt"),
        "jax": ("checkpoint-jax-venv", "checkpoint-peers-jax.txt")}


def install() -> None:
    for folder, pins in PINS.values():
        python = PEERS / folder / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", PEERS / folder], check=True)
        for line in (ROOT / "tools" / pins).read_text().splitlines():
            if not line.startswith("#"):
                _pip(python, line.split())


def _pip(python: Path, packages: list[str]) -> None:
    environment = {**os.environ, "DS_BUILD_OPS": "0", "DS_ACCELERATOR": "cpu"}
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-cache-dir",
                           "--disable-pip-version-check", *packages], text=True, env=environment,
                          capture_output=True, timeout=INSTALL_SECONDS_MAX, check=False)
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    print(" ".join(packages) + ("" if done.returncode == 0 else f": not installed: {last}"))


def python_for(kind: str) -> str | None:
    python = PEERS / PINS[kind][0] / "bin" / "python"
    if python.exists():
        return str(python)
    return DEBIAN if kind == "torch" and Path(DEBIAN).exists() else None


def variables() -> dict[str, str]:
    """For every process of the bench."""
    release = ROOT / "build" / "release" / "checkpoint" / "engine" / "libamdahl-checkpoint.so"
    sanitizers = os.environ.get("AMDAHL_SANITIZER_RUNTIME")  # of the library, if it needs one
    preload = {"LD_PRELOAD": sanitizers, "ASAN_OPTIONS": "detect_leaks=0"} if sanitizers else {}
    return {"AMDAHL_CHECKPOINT_LIBRARY": str(release),  # if the caller has no other
            **os.environ, **preload,
            "PYTHONPATH": str(ROOT / "python"), "TORCH_EXTENSIONS_DIR": str(PEERS / "extensions"),
            "DS_ACCELERATOR": "cpu", "JAX_PLATFORMS": "cpu", "PYTHONWARNINGS": "ignore"}


def probe(kinds: dict[str, str]) -> dict[str, str | None]:
    """{contestant: None, or why it cannot run}, of {contestant: the Python it runs in}."""
    found = {}
    for kind in PINS:
        names = [name for name, its in kinds.items() if its == kind]
        python = python_for(kind)
        if python is None or not names:
            found |= {name: "make bench-checkpoint-peers was not run" for name in names}
            continue
        done = subprocess.run([python, HERE / "checkpoint_life.py", "--probe", *names], text=True,
                              env=variables(), capture_output=True, timeout=PROBE_SECONDS_MAX,
                              check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            found |= {name: last for name in names}
        else:
            found |= json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    from checkpoint_peers import CONTESTANTS

    if sys.argv[1:] == ["install"]:
        install()
    found = probe({name: kind for name, (_, kind, _) in CONTESTANTS.items()})
    for name, reason in found.items():
        print(f"{name}: " + ("there" if reason is None else f"not installed: {reason}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
