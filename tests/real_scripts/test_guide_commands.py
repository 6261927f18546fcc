"""The commands and the Python of the guides are run as they are printed, with other places.

What builds or installs (`make`) is left out: the programs are those of the build under test.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "training_real"), str(ROOT / "tests" / "embedded"),
                str(ROOT / "python")]

from amdahl import job  # noqa: E402
from checkpoint_case import LIBRARY, python_for_jobs  # noqa: E402
from job_case import PYTHON, TORCHRUN_PYTHON, has_torch  # noqa: E402
from local_cli import PROGRAM, Home  # noqa: E402

CHECKPOINTS = (ROOT / "docs/guides/checkpoints.md").read_text()
TRAINERS = (ROOT / "docs/guides/trainers.md").read_text()
RECIPES = ROOT / "examples" / "recipes"
SECONDS_MAX = 180
WITH_LIBRARY = unittest.skipUnless(
    LIBRARY, "AMDAHL_CHECKPOINT_LIBRARY names no library: run it by ctest")
WITH_TORCH = unittest.skipUnless(has_torch(), f"{PYTHON} has no torch: tools/setup installs it")


def block(page: str, title: str) -> str:
    """The only commands of a section."""
    section = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page, re.M | re.S)[1]
    found = re.findall(r"```sh\n(.*?)```", section, re.S)
    assert len(found) == 1, f"{title}: {len(found)} blocks of commands"
    return found[0]


class Shell(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="amdahl-guide-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def program(self, name: str, text: str) -> None:
        """One that the commands find before all others."""
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def sh(self, commands: str, places: dict[str, str] | None = None, folder: Path = ROOT,
           **variables: str) -> str:
        for old, new in (places or {}).items():
            self.assertIn(old, commands)
            commands = commands.replace(old, new)
        path = f"{self.folder}:{os.environ['PATH']}"
        done = subprocess.run(["sh", "-e", "-c", commands], cwd=folder, text=True,
                              capture_output=True, timeout=SECONDS_MAX,
                              env=os.environ | {"PATH": path} | variables)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, f"{commands}\n{said}")
        return said


class Commands(Shell):
    # promises: D12
    @WITH_LIBRARY
    def test_try_it_without_a_cluster(self):
        self.program("make", "true")
        python_for_jobs(self.folder, PYTHON)
        said = self.sh(block(CHECKPOINTS, "Try it, without a cluster"), {
            "/tmp/run": f"{self.folder}/run", "build/release/cli/amdahl": str(PROGRAM)})
        self.assertIn("100 {'epoch': 3, 'seen': [1, 2]}\n", said)
        self.assertRegex(said, r"(?m)^100 +\d{4}-")  # ls
        self.assertIn("step 100: ok", said)  # verify

    # promises: D12
    @WITH_LIBRARY
    @WITH_TORCH
    def test_a_recipe_by_hand(self):
        text = (RECIPES / "README.md").read_text()
        commands = textwrap.dedent("\n".join(re.findall(r"(?m)^    .*$", text)))
        python = python_for_jobs(self.folder, TORCHRUN_PYTHON)
        out = self.folder / "model.pt"
        with socket.create_server(("127.0.0.1", 0)) as free:  # torchrun's own may be taken
            port = str(free.getsockname()[1])
        self.sh(commands + f" --steps=5 --out={out}", {
            "/tmp/run": f"{self.folder}/run", "$(tools/frameworks.py --path)": str(python)},
            PET_MASTER_PORT=port, PET_MONITOR_INTERVAL="1")
        self.assertTrue(out.exists())

    # promises: D7, D12
    def test_a_command_after_torchrun_publishes_only_a_complete_run(self):
        commands = block(CHECKPOINTS, "After a pause")
        self.program("publish", "touch published")
        for writes, published in (("true", False), ("touch model.pt", True)):
            self.program("torchrun", writes)  # exit code 0, as after a pause
            self.sh(commands, folder=self.folder)
            self.assertEqual((self.folder / "published").exists(), published)


@WITH_LIBRARY
@WITH_TORCH
class RecipeJob(Shell):
    # promises: D12
    def test_the_commands_in_the_recipe_run_it(self):
        home = Home()
        self.addCleanup(home.close)
        text = (RECIPES / "recipe.yaml").read_text()
        up = re.search(r"\((amdahl local up [^)]*)\)", text)[1].split()
        home.run(*up[1:])
        make, submit = re.search(r"(?m)^#   (.*)\n((?:#   .*\n)+)", text).groups()
        self.assertRegex(make, "^make ")
        row = "        - {name: PYTHONPATH, "
        more = {"AMDAHL_CHECKPOINT_LIBRARY": LIBRARY, "NSS_WRAPPER_DISABLE_DEEPBIND": "1",
                "PET_MONITOR_INTERVAL": "1"}
        recipe = self.folder / "recipe.yaml"
        recipe.write_text(text.replace(row, "".join(
            f'        - {{name: {name}, value: "{value}"}}\n' for name, value in more.items())
            + row))
        self.program("amdahl", f'exec {PROGRAM} "$@"')
        place = {"HOME": str(home.path)}
        self.sh(re.sub(r"(?m)^#   ", "", submit), {
            "examples/recipes/recipe.yaml": str(recipe),
            "$(tools/frameworks.py --path)": str(python_for_jobs(self.folder, TORCHRUN_PYTHON))},
            **place)
        spec = json.loads(home.run("get", "trainingjob", "recipe", "-o", "json").stdout)["spec"]
        self.assertNotIn("/path/to", json.dumps(spec))
        pause, resume, look = re.search(r"(?m)^# Then: (.*)$", text)[1].split("; ")
        self.sh(f"{pause} --wait", **place)  # long before Python has imported torch
        self.sh(f"{resume} --wait", **place)
        self.sh("amdahl wait recipe --for=Succeeded --timeout 3m", **place)
        self.sh(look, **place)


class PythonOfTrainers(unittest.TestCase):
    def setUp(self):
        found = re.findall(r"( *)```python\n(.*?)```", TRAINERS, re.S)
        self.blocks = [textwrap.dedent(indent + code) if indent else code
                       for indent, code in found]
        self.saved, self.published = [], []
        self.names = {"job": job, "json": json, "os": os, "start": 0, "total": 3, "model": "model",
                      "data": iter("abc"), "train": len, "save": self.saved.append,
                      "publish": self.published.append}

    def steps(self, code: str, stop_at: int, torchrun: str = "") -> list:
        """Runs a part of a loop over three steps; what was committed."""
        asked = mock.patch.object(job, "should_stop", side_effect=[n == stop_at for n in range(3)])
        with asked, mock.patch.object(job, "committed") as committed, \
                mock.patch.dict(os.environ, {"TORCHELASTIC_RUN_ID": torchrun}):
            try:
                exec("for n in range(3):\n" + code, self.names)  # noqa: S102
            except SystemExit as ended:
                self.code = ended.code
        return [call.args for call in committed.call_args_list]

    # promises: D12
    def test_there_are_as_many_blocks_as_are_run_here(self):
        self.assertEqual(len(self.blocks), 4)

    # promises: D12
    def test_the_loop_that_reports_steps(self):
        with mock.patch.object(job, "step") as step:
            exec(self.blocks[0], self.names)  # noqa: S102
        self.assertEqual(step.call_args_list, [mock.call(n, 3, loss=1) for n in range(3)])

    # promises: D12
    def test_the_loop_that_stops(self):
        self.assertEqual(self.steps(textwrap.indent(self.blocks[1], "    "), 1), [(1, "/ckpt/1")])
        self.assertEqual(self.saved, ["/ckpt/1"])

    # promises: D12
    def test_the_marker(self):
        with tempfile.TemporaryDirectory() as folder:
            exec(self.blocks[2], self.names | {"marker": f"{folder}/marker", "n": 7})  # noqa: S102
            self.assertEqual(json.loads(Path(folder, "marker").read_text()),
                             {"step": 7, "path": "/ckpt/7"})

    # promises: D7, D12
    def test_a_pause_ends_the_script_before_it_publishes(self):
        for torchrun, code in (("", job.EXIT_PAUSED), ("run", 0)):
            self.assertEqual(self.steps(self.blocks[3], 1, torchrun), [(1, "/ckpt/1")])
            self.assertEqual((self.code, self.published), (code, []))
        self.assertEqual(self.steps(self.blocks[3], -1), [])
        self.assertEqual(self.published, ["model"])


if __name__ == "__main__":
    unittest.main()
