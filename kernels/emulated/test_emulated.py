"""The kernels' own tests on processors that this machine is not, and under valgrind."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
OUT = ROOT / "build" / "kernels-emulated"
ARM = ("-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
       "-DCMAKE_CXX_COMPILER_TARGET=aarch64-linux-gnu")
SECONDS_MAX = 600


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run([str(word) for word in command], text=True, timeout=SECONDS_MAX,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, **environment})
    if done.returncode != 0:
        shown = " ".join(str(word) for word in command)
        raise AssertionError(f"{shown}: exit {done.returncode}\n{done.stdout[-6000:]}")
    return done.stdout


def built(name: str, *options: str) -> Path:
    folder = OUT / name
    run("cmake", "-G", "Ninja", "-S", HERE, "-B", folder, "-DCMAKE_CXX_COMPILER=clang++-19",
        *options)
    run("ninja", "-C", folder, "-j2")
    return folder / "kernels_test"


class Emulated(unittest.TestCase):
    def passes(self, rows: str, *command: str | Path, **environment: str) -> None:
        """Every test of the program, on exactly these rows."""
        text = run(*command, AMDAHL_EXPECT_ROWS=rows, **environment)
        self.assertIn(f"rows here: {rows}\n", text)
        self.assertRegex(text, r"All tests passed \(\d+ assertions in \d\d+ test cases\)")

    def test_neon(self):
        self.passes("neon,scalar", needed("qemu-aarch64-static"), built("aarch64", *ARM))

    def test_avx2(self):
        program = built("x86_64")
        self.passes("avx2,scalar", needed("qemu-x86_64-static"), "-cpu", "Haswell", program)

    def test_nothing_leaks_into_a_program_for_an_old_processor(self):
        # Nehalem traps on AVX, so one instruction outside its row would end this.
        program = built("x86_64")
        self.passes("scalar", needed("qemu-x86_64-static"), "-cpu", "Nehalem", program)

    def test_valgrind(self):
        # It knows no AVX-512 and says so to the program.
        self.passes("avx2,scalar", needed("valgrind"), "-q", "--error-exitcode=9",
                    "--leak-check=full", built("x86_64"))


def needed(program: str) -> str:
    if shutil.which(program) is None:
        raise AssertionError(f"{program} is missing: make setup")
    return program


if __name__ == "__main__":
    unittest.main()
