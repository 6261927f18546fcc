"""DeepSpeed for Debian's torch, in a folder below build/ that is made once, by pip from PyPI.

usage: python3 tests/training_real/deepspeed_folder.py     makes it, if need be, and prints its path
"""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3"
INSTALL_SECONDS_MAX = 300

# The first that runs on CPUs without Intel's extension of torch, and what it imports.
DEEPSPEED = "deepspeed==0.14.4"
REQUIREMENTS = ("hjson==3.1.0", "ninja==1.11.1.1", "packaging==24.1", "psutil==5.9.8",
                "py-cpuinfo==9.0.0", "pydantic==1.10.17", "pynvml==11.5.0", "tqdm==4.66.4",
                "typing_extensions==4.12.2")


class NotInstalled(Exception):
    """Why there is no DeepSpeed here."""


def pip_install(folder: Path, *packages: str) -> None:
    command = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
               "--no-deps", "--no-build-isolation", "--target", folder, *packages]
    variables = {"PYTHONPATH": str(folder), "DS_BUILD_OPS": "0", "DS_ACCELERATOR": "cpu"}
    try:
        done = subprocess.run(command, env={**os.environ, **variables}, text=True,
                              capture_output=True, timeout=INSTALL_SECONDS_MAX)
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"pip took more than {INSTALL_SECONDS_MAX} s") from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        raise NotInstalled(f"pip cannot install {packages[0]} (is PyPI reachable?): {lines[-1]}")


def deepspeed_folder() -> Path:
    """Its path, for PYTHONPATH; raises NotInstalled with the reason."""
    folder = ROOT / "build" / DEEPSPEED.replace("==", "-")
    if folder.exists():
        return folder
    partial = folder.with_name(f"{folder.name}.{os.getpid()}.tmp")
    try:
        pip_install(partial, *REQUIREMENTS)
        pip_install(partial, DEEPSPEED)  # its setup.py imports the others
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


if __name__ == "__main__":
    print(deepspeed_folder())
