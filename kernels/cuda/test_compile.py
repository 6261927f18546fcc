"""Compiles the CUDA kernels for real GPUs and holds them to budget.txt. Nothing is executed.

nvcc comes from the Python package index, into a virtual environment under build/, 0.4 GB, once. If
it cannot be had the test says why and exits with 77, which ctest counts as skipped.
"""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VENV = ROOT / "build" / "cuda-venv"
PACKAGES = ("nvidia-cuda-nvcc==13.4.92", "nvidia-cuda-crt==13.4.92", "nvidia-nvvm==13.4.92",
            "nvidia-cuda-runtime==13.4.92", "nvidia-cuda-cccl==13.3.5.0.6")
ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
SKIPPED = 77
INSTALL_SECONDS_MAX, COMPILE_SECONDS_MAX = 900, 300

ENTRY = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
SPILL = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")


def installed() -> Path | None:
    found = sorted(VENV.glob("lib/python3*/site-packages/nvidia/cu13/bin/nvcc"))
    return found[0] if found and (VENV / "complete").exists() else None


def install() -> Path:
    VENV.parent.mkdir(parents=True, exist_ok=True)
    for command in ([sys.executable, "-m", "venv", VENV],
                    [VENV / "bin" / "pip", "install", "--quiet", *PACKAGES]):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, timeout=INSTALL_SECONDS_MAX)
        if done.returncode != 0:
            raise RuntimeError((done.stdout.strip().splitlines() or ["no output"])[-1])
    (VENV / "complete").touch()
    return installed() or _no_nvcc()


def _no_nvcc() -> Path:
    raise RuntimeError(f"the packages hold no nvcc: {', '.join(PACKAGES)}")


def usage(text: str) -> dict[str, dict[str, int]]:
    """What ptxas -v says of each kernel."""
    found: dict[str, dict[str, int]] = {}
    name = ""
    for line in text.splitlines():
        if match := ENTRY.search(line):
            name = match[1]
            found[name] = {"registers": 0, "shared": 0, "spilled": 0}
        elif match := SPILL.search(line):
            found[name]["spilled"] = sum(int(number) for number in match.groups())
        elif match := USED.search(line):
            found[name]["registers"] = int(match[1])
            shared = SHARED.search(line)
            found[name]["shared"] = int(shared[1]) if shared else 0
    return found


def budget() -> dict[str, dict[str, int]]:
    lines = (HERE / "budget.txt").read_text().splitlines()
    rows = (line.split() for line in lines if line and not line.startswith("#"))
    return {name: {"registers": int(registers), "shared": int(shared), "spilled": 0}
            for name, registers, shared in rows}


def over_budget(used: dict, allowed: dict) -> list[str]:
    """One sentence for each figure above its budget, and for each kernel in only one of the two."""
    said = [f"{name}: not in budget.txt" for name in used.keys() - allowed.keys()]
    said += [f"{name}: not compiled" for name in allowed.keys() - used.keys()]
    for name in used.keys() & allowed.keys():
        said += [f"{name}: {used[name][what]} {what}, budget {allowed[name][what]}"
                 for what in used[name] if used[name][what] > allowed[name][what]]
    return sorted(said)


class Compile(unittest.TestCase):
    nvcc = Path()

    def test_every_architecture_stays_in_its_budget(self):
        for architecture in ARCHITECTURES:
            with self.subTest(architecture):
                text = self._compile(architecture)
                self.assertEqual(over_budget(usage(text), budget()), [])
                figures = ", ".join(f"{name[7:]} {one['registers']}"
                                    for name, one in sorted(usage(text).items()))
                print(f"{architecture}: registers of {figures}; nothing spilled", flush=True)

    def test_a_spill_or_a_register_too_many_is_noticed(self):
        allowed = {"k": {"registers": 32, "shared": 0, "spilled": 0}}
        text = ("ptxas info : Compiling entry function 'k' for 'sm_80'\n"
                " 8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
                "ptxas info : Used 33 registers, used 1 barriers, 64 bytes smem\n")
        self.assertEqual(over_budget(usage(text), allowed),
                         ["k: 16 spilled, budget 0", "k: 33 registers, budget 32",
                          "k: 64 shared, budget 0"])
        self.assertEqual(over_budget({}, allowed), ["k: not compiled"])

    def _compile(self, architecture: str) -> str:
        out = ROOT / "build" / f"kernels-{architecture}.o"
        done = subprocess.run(
            [self.nvcc, "-ccbin", "clang++-19", "-std=c++20", "-I", ROOT, "-Werror",
             "all-warnings", f"-arch={architecture}", "-Xptxas", "-v", "-c", HERE / "kernels.cu",
             "-o", out],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            timeout=COMPILE_SECONDS_MAX, env={**os.environ, "TMPDIR": str(out.parent)})
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout


def main() -> int:
    try:
        Compile.nvcc = installed() or install()
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        print(f"SKIPPED: the CUDA kernels were not compiled, nvcc cannot be had: {error}")
        return SKIPPED
    return 0 if unittest.main(exit=False, verbosity=2).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
