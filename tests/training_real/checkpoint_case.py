"""Jobs of examples/local-checkpoints.yaml, with the library of the build under test."""

import os
import unittest
from pathlib import Path

from job_case import PYTHON, ROOT, TORCHRUN_PYTHON, JobCase, has_torch

LIBRARY = os.environ.get("AMDAHL_CHECKPOINT_LIBRARY", "")
# The library of a build with sanitizers needs their runtime before anything else.
SANITIZER = os.environ.get("AMDAHL_SANITIZER_RUNTIME", "")


def python_for_jobs(folder: Path, python: str | Path) -> Path:
    """That Python, with the runtime of the sanitizers if the library needs one."""
    if not SANITIZER:
        return Path(python)
    wrapped = folder / "python3"  # for Python alone: amdahl-launch has its own
    wrapped.write_text(f"#!/bin/sh\nexport LD_PRELOAD={SANITIZER}\n"
                       f"export ASAN_OPTIONS=detect_leaks=0\nexec {python} \"$@\"\n")
    wrapped.chmod(0o755)
    return wrapped


@unittest.skipUnless(has_torch(), f"{PYTHON} has no torch: tools/setup installs it")
@unittest.skipUnless(LIBRARY, "AMDAHL_CHECKPOINT_LIBRARY names no library: run it by ctest")
class CheckpointCase(JobCase):
    example = "local-checkpoints.yaml"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        package = f"- {{name: PYTHONPATH, value: {ROOT}/python}}"
        cls.edits = {package: f"{package}\n        - {{name: AMDAHL_CHECKPOINT_LIBRARY, "
                              f"value: {LIBRARY}}}"}
        cls.edits["/path/to/python"] = str(python_for_jobs(cls.home.path, TORCHRUN_PYTHON))
