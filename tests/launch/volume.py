#!/usr/bin/env python3
"""200 MB of log through the launcher: what it costs, and that it stays within bounds."""

import argparse
import os
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from launch import Launch, python  # noqa: E402

RSS_MB_MAX = 64
CPU_SECONDS_MAX = 10.0  # of supervisor and observer together, with sanitizers and a busy machine
QUIET_CPU_SHARE_MAX = 0.03  # with sanitizers, beside other programs; a loop that spins takes 0.5

TRAINER = """
import sys, time
line = b" 10%|#         | {0}/1000000 [00:10<01:30, 10.00it/s] " + b"x" * 150 + b"\\n"
for n in range(MEGABYTES * 5):
    sys.stdout.buffer.write(line * 1000)
sys.stdout.flush()
print("written", file=sys.stderr, flush=True)
time.sleep(60)
"""


def cpu(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rss-mb-max", type=float, default=RSS_MB_MAX)
    options = parser.parse_args()
    with Launch(*python(TRAINER.replace("MEGABYTES", str(options.megabytes)))) as launch:
        start = time.monotonic()
        while "written" not in launch.errors():
            if time.monotonic() - start > 120 or launch.process.poll() is not None:
                raise SystemExit("the trainer did not write: " + launch.errors())
            time.sleep(0.02)
        took = time.monotonic() - start
        pids = {"supervisor": launch.process.pid, "observer": launch.observer()}
        used = {name: cpu(pid) for name, pid in pids.items()}
        peak = {name: peak_mb(pid) for name, pid in pids.items()}
        time.sleep(5)
        quiet = sum(cpu(pid) for pid in pids.values()) - sum(used.values())
        size = launch.out.stat().st_size
    print(f"volume: {size / 1e6:.0f} MB in {took:.1f} s ({size / 1e6 / took:.0f} MB/s)")
    for name in pids:
        print(f"  {name}: {used[name]:.2f} s of CPU, {peak[name]:.1f} MB at most")
    print(f"  afterwards, in 5 quiet seconds: {quiet:.2f} s of CPU")
    bad = (max(peak.values()) > options.rss_mb_max or sum(used.values()) > CPU_SECONDS_MAX
           or quiet / 5 > QUIET_CPU_SHARE_MAX or size < options.megabytes * 1e6 * 0.95)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
