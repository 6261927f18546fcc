"""Runs test files by the Python that `make frameworks` installs, which has a torch of today,
Hugging Face's Trainer, Lightning and DeepSpeed. Without it they are skipped: exit code 77.

  run_with_frameworks.py test_checkpoint_dcp.py ..
"""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))

import frameworks  # noqa: E402


def main() -> int:
    python = frameworks.python()
    if python is None:
        print("skipped: frameworks are not installed; `make frameworks` installs them")
        return frameworks.SKIPPED
    environment = {**os.environ, **frameworks.variables()}
    if environment.get("AMDAHL_SANITIZER_RUNTIME"):
        environment |= {"LD_PRELOAD": environment["AMDAHL_SANITIZER_RUNTIME"],
                        "ASAN_OPTIONS": "detect_leaks=0"}
    codes = [subprocess.run([python, "-W", "ignore", HERE / name, "-v"], env=environment,
                            check=False).returncode for name in sys.argv[1:]]
    return max(codes, key=abs)


if __name__ == "__main__":
    sys.exit(main())
