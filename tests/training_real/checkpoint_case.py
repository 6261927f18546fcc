"""Jobs of examples/local-checkpoints.yaml, with the library of the build under test."""

import os
import unittest

from job_case import PYTHON, JobCase, has_torch

LIBRARY = os.environ.get("AMDAHL_CHECKPOINT_LIBRARY", "")
# The library of a build with sanitizers needs their runtime before anything else.
SANITIZER = os.environ.get("AMDAHL_SANITIZER_RUNTIME", "")


@unittest.skipUnless(has_torch(), f"{PYTHON} has no torch: tools/setup installs it")
@unittest.skipUnless(LIBRARY, "AMDAHL_CHECKPOINT_LIBRARY names no library: run it by ctest")
class CheckpointCase(JobCase):
    example = "local-checkpoints.yaml"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.edits = {"/path/to/libamdahl-checkpoint.so": LIBRARY}
        if SANITIZER:  # for Python alone: amdahl-launch has its own
            python = cls.home.path / "python3"
            python.write_text(f"#!/bin/sh\nexport LD_PRELOAD={SANITIZER}\n"
                              f"export ASAN_OPTIONS=detect_leaks=0\nexec {PYTHON} \"$@\"\n")
            python.chmod(0o755)
            cls.edits[f"command: [{PYTHON},"] = f"command: [{python},"
