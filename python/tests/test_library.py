"""Where libamdahl-checkpoint.so is looked for, and what is said when it is nowhere."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

from amdahl import checkpoint  # noqa: E402
from amdahl.checkpoint import library  # noqa: E402


class Found(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="amdahl-library-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        variables = {"PATH": str(self.folder / "cli")}
        patch = mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)
        os.environ.pop("AMDAHL_CHECKPOINT_LIBRARY", None)

    def program(self, path: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True)
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)

    # promises: D12
    def test_beside_the_package_then_in_the_build_of_its_clone_then_with_the_programs(self):
        self.program("cli/amdahl")
        found = library.places()
        self.assertEqual(found[:2], [
            HERE.parent / "amdahl" / "checkpoint" / library.NAME,
            ROOT / "build" / "release" / "checkpoint" / "engine" / library.NAME])
        self.assertIn(self.folder / "cli" / library.NAME, found)
        self.assertIn(self.folder / "lib" / library.NAME, found)
        self.assertIn(self.folder / "checkpoint" / "engine" / library.NAME, found)

    # promises: D12
    def test_when_it_is_nowhere_the_error_has_every_place_and_the_next_step(self):
        nowhere = [self.folder / "one.so", self.folder / "two.so"]
        with mock.patch.object(library, "places", lambda: nowhere), \
                mock.patch.object(library, "NAME", "libamdahl-none.so"), \
                self.assertRaises(checkpoint.CheckpointError) as raised:
            library._load()  # noqa: SLF001
        for part in (*map(str, nowhere), "make release", "AMDAHL_CHECKPOINT_LIBRARY"):
            self.assertIn(part, str(raised.exception))

    # promises: D12
    def test_make_demo_builds_it(self):
        said = subprocess.run(["make", "-n", "demo", "SKIP_SETUP=1"], cwd=ROOT, text=True,
                              env={"PATH": "/usr/bin:/bin"}, capture_output=True, check=False)
        self.assertRegex(said.stdout, r"ninja .* amdahl-checkpoint\b")


if __name__ == "__main__":
    unittest.main()
