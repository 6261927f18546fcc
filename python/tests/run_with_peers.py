"""Runs test files by the Python that `make bench-checkpoint-peers` installs, which has a torch of
today, Hugging Face's Trainer, Lightning and DeepSpeed. Without it they are skipped: exit code 77.

  run_with_peers.py test_checkpoint_dcp.py ..
"""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PEERS = pathlib.Path(os.environ.get("AMDAHL_PEERS", HERE.parents[1] / "build" / "peers"))
SKIPPED = 77


def main() -> int:
    python = PEERS / "checkpoint-venv" / "bin" / "python"
    if not python.exists():
        print(f"skipped: {python} is not there; `make bench-checkpoint-peers` installs it")
        return SKIPPED
    environment = dict(os.environ)
    if environment.get("AMDAHL_SANITIZER_RUNTIME"):
        environment |= {"LD_PRELOAD": environment["AMDAHL_SANITIZER_RUNTIME"],
                        "ASAN_OPTIONS": "detect_leaks=0"}
    codes = [subprocess.run([python, "-W", "ignore", HERE / name, "-v"], env=environment,
                            check=False).returncode for name in sys.argv[1:]]
    return max(codes, key=abs)


if __name__ == "__main__":
    sys.exit(main())
