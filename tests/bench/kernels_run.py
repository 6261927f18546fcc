#!/usr/bin/env python3
"""Measures kernels/ beside ISA-L, zstd and memcpy, and says which bars are met.

  kernels_run.py [--rounds 15] [--no-build] [--train-seconds 120]

Weights for the codec are trained once and kept (kernels_weights.py says how, and why). Everything
else is in build/bench/kernels.json. AMDAHL_ISA chooses another row.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import kernels_report as report
import machine

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "bench"
RUN_SECONDS_MAX = 1800


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--train-seconds", type=int, default=120)
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "tests" / "bench")
    return parser.parse_args()


def build() -> None:
    run = {"cwd": ROOT, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["make", "SKIP_SETUP=1", "build/release/build.ninja"], **run)
    subprocess.run(["ninja", "-C", "build/release", "bench_kernels"], **run)


def weights(seconds: int) -> tuple[Path, str]:
    """The file, and what kernels_weights.py said about it."""
    path, said = OUT / "kernels_weights.bf16", OUT / "kernels_weights.txt"
    if not (path.exists() and said.exists()):
        # Debian's torch belongs to the system's own interpreter.
        done = subprocess.run(["/usr/bin/python3", ROOT / "tests" / "bench" / "kernels_weights.py",
                               path, "--seconds", str(seconds)], check=True, text=True,
                              stdout=subprocess.PIPE, timeout=seconds + 300)
        said.write_text(done.stdout)
    return path, said.read_text().strip()


def main() -> int:
    args = parse()
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        if not args.no_build:
            build()
        path, said = weights(args.train_seconds)
        with machine.Strangers([]) as strangers:
            done = subprocess.run([args.bin / "bench_kernels", path, str(args.rounds)], check=True,
                                  text=True, stdout=subprocess.PIPE, timeout=RUN_SECONDS_MAX)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    measured = json.loads(done.stdout)
    samples = measured["samples"]
    found = {"machine": machine.describe(), "version": machine.git_version(),
             "strangers_cores": strangers.cores, "row": measured["row"], "weights": said,
             "rounds": args.rounds, "figures": report.summary(samples), "samples": samples}
    (OUT / "kernels.json").write_text(json.dumps(found, indent=1) + "\n")
    print(f"row {measured['row']}, one thread, {args.rounds} rounds of pairs, CPU time; "
          f"others kept {strangers.cores:.2f} of {os.cpu_count()} cores busy")
    print(f"weights: {said}")
    print(report.table(samples))
    return 0


if __name__ == "__main__":
    sys.exit(main())
