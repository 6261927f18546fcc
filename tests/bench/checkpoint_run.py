#!/usr/bin/env python3
"""Measures amdahl.checkpoint beside its peers, and says which bars are met.

  checkpoint_run.py [--rounds 5] [--mib 1024] [--contestants amdahl,dcp-thread]
                    [--cases fp32-16,lora] [--kills 200] [--peer-kills 60] [--quick]

In a round every contestant lives once for each case, in an order that rotates; cases but the first
have fewer rounds. All samples are in build/bench/checkpoint.json, which grows with the run: what
was measured until Ctrl-C is kept and shown. Peers: make bench-checkpoint-peers. --quick proves in
some seconds that it works, not that it is fast.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import checkpoint_environments as environments
import checkpoint_report as report
import machine
from checkpoint_victims import VICTIMS
from checkpoint_peers import CONTESTANTS
from report import STRANGERS_CORES_MAX

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / "build" / "bench"
CASES = {"fp32-16": ("fp32-16", 1), "fp32-4000": ("fp32-4000", 1), "bf16-16": ("bf16-16", 1),
         "lora": ("lora", 1), "fp32-16x2": ("fp32-16", 2)}
QUICK_CONTESTANTS = ("amdahl", "torch.save", "safetensors")
LIFE_SECONDS_MAX = 900
KILLING_SECONDS_MAX = 7200


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--other-rounds", type=int, default=2, help="of cases but the first")
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--saves", type=int, default=6)
    parser.add_argument("--loads", type=int, default=3)
    parser.add_argument("--contestants")
    parser.add_argument("--cases")
    parser.add_argument("--kills", type=int, default=report.OUR_KILLS, help="of ours; 0: none")
    parser.add_argument("--peer-kills", type=int, default=60)
    parser.add_argument("--kill-mib", type=int, default=128)
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folder", type=Path, help="on the file system that is measured")
    args = parser.parse_args()
    if args.quick:
        args.rounds = args.other_rounds = args.saves = args.loads = 1
        args.mib, args.kills, args.peer_kills, args.kill_mib = 4, 2, 1, 4
    contestants = QUICK_CONTESTANTS if args.quick else CONTESTANTS
    cases = [report.MAIN] if args.quick else CASES
    args.contestants = (args.contestants or ",".join(contestants)).split(",")
    args.cases = (args.cases or ",".join(cases)).split(",")
    return args


def build() -> None:
    run = {"cwd": ROOT, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["make", "SKIP_SETUP=1", "build/release/build.ninja"], **run)
    subprocess.run(["ninja", "-C", "build/release", "amdahl-checkpoint"], **run)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Broken(Exception):
    """A measurement that did not happen."""


def life(contestant: str, case: str, args: argparse.Namespace, folder: Path) -> list[dict]:
    """What one life says; of several ranks, merged."""
    shape, world = CASES[case]
    own = folder / "life"
    command = [environments.python_for(CONTESTANTS[contestant][1]), HERE / "checkpoint_life.py",
               contestant, "--folder", own, "--shape", shape, "--mib", str(args.mib),
               "--saves", str(args.saves), "--loads", str(args.loads)]
    if case != report.MAIN:
        command.append("--step-threads")
    base = {**environments.variables(), "WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(free_port())}
    ranks, logs = [], [folder / f"{contestant}-{rank}.log" for rank in range(world)]
    try:
        for rank, log in enumerate(logs):
            environment = {**base, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            ranks.append(subprocess.Popen(command, env=environment, text=True,
                                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                          stderr=log.open("w")))
        said = [rank.communicate(timeout=LIFE_SECONDS_MAX)[0] for rank in ranks]
    except subprocess.TimeoutExpired:
        raise Broken(f"{contestant}, {case}: more than {LIFE_SECONDS_MAX} s") from None
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
        shutil.rmtree(own, ignore_errors=True)
    for rank, log in zip(ranks, logs):
        if rank.returncode:
            last = (log.read_text().strip().splitlines() or ["no message"])[-1]
            raise Broken(f"{contestant}, {case}: {last}")
    return report.merged([[json.loads(line) for line in text.splitlines()] for text in said])


class Run:
    def __init__(self, args: argparse.Namespace, folder: Path):
        self._args, self._folder = args, folder
        self.samples: dict = {}
        self.kills: dict = {}
        self.missing = environments.probe(
            {name: CONTESTANTS[name][1] for name in args.contestants})
        self.missing = {name: why for name, why in self.missing.items() if why is not None}
        self.broken: list[str] = []

    def measure(self) -> None:
        # Case by case: what is cut short has whole cases, the most important ones.
        for case in self._args.cases:
            rounds = self._args.rounds if case == report.MAIN else self._args.other_rounds
            for number in range(rounds):
                self._round(case, number)
                keep(self._args, self, None)

    def _round(self, case: str, number: int) -> None:
        names = [name for name in self._args.contestants if name not in self.missing
                 and CASES[case][1] <= CONTESTANTS[name][0].ranks_max]
        shift = number % max(len(names), 1)
        for name in names[shift:] + names[:shift]:
            print(f"round {number + 1}, {case}: {name}", file=sys.stderr, flush=True)
            figures = self.samples.setdefault(case, {}).setdefault(name, {})
            try:
                for line in life(name, case, self._args, self._folder):
                    report.add_line(figures, line)
            except Broken as error:
                if name == report.OURS:
                    raise
                self.broken.append(str(error))
                print(f"bench: {error}", file=sys.stderr)

    def kill(self) -> None:
        for victim, (contestant, *_) in VICTIMS.items():
            count = self._args.kills if victim == report.OURS else self._args.peer_kills
            if contestant in self.missing or contestant not in self._args.contestants or not count:
                continue
            print(f"kills: {victim}", file=sys.stderr, flush=True)
            python = environments.python_for(CONTESTANTS[contestant][1])
            command = [python, HERE / "checkpoint_killing.py", victim, "--kills", str(count),
                       "--mib", str(self._args.kill_mib), "--folder", self._folder / "kills"]
            with (self._folder / f"kills-{victim}.log").open("w") as log:
                done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=log,
                                      env={**environments.variables(), "RANK": "0",
                                           "LOCAL_RANK": "0", "WORLD_SIZE": "1",
                                           "MASTER_ADDR": "127.0.0.1"},
                                      timeout=KILLING_SECONDS_MAX, check=False)
            if done.returncode:
                text = (self._folder / f"kills-{victim}.log").read_text().strip().splitlines()
                self.broken.append(f"kills of {victim}: {(text or ['no message'])[-1]}")
            else:
                self.kills[victim] = [json.loads(line) for line in done.stdout.splitlines()]
            keep(self._args, self, None)

    def show(self, args: argparse.Namespace) -> None:
        for case in self.samples:
            print(f"\n{report.case_table(self.samples, case)}")
        print(f"\n{report.verdict_table(self.samples)}")
        if self.kills:
            print(f"\n{report.kill_table(self.kills)}")
        for name, why in self.missing.items():
            print(f"{name}: not installed: {why}")
        print(f"{len(args.contestants) - len(self.missing)} contestants ran, "
              f"{len(self.missing)} not installed, {len(self.broken)} measurements broke")
        for text in self.broken:
            print(f"  {text}")


def keep(args: argparse.Namespace, run: Run, strangers_cores: float | None) -> dict:
    """Everything so far, to the file."""
    found = {"machine": machine.describe(), "version": machine.git_version(),
             "strangers_cores": strangers_cores, "arguments": vars(args) | {"folder": None},
             "figures": report.summary(run.samples), "samples": run.samples, "kills": run.kills,
             "not_installed": run.missing, "broken": run.broken}
    name = "checkpoint-quick.json" if args.quick else "checkpoint.json"
    (OUT / name).write_text(json.dumps(found, indent=1) + "\n")
    return found


def measured(args: argparse.Namespace, folder: Path) -> tuple[Run, float]:
    """The run, and how many cores others used meanwhile."""
    if not args.no_build:
        build()
    run = Run(args, folder)
    if report.OURS in run.missing:
        raise Broken(f"amdahl: {run.missing[report.OURS]}")
    with machine.Strangers([]) as strangers:
        try:
            run.measure()
            run.kill()
        except KeyboardInterrupt:
            run.broken.append("interrupted")
    return run, strangers.cores


def main() -> int:
    args = parse()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was measured is kept
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="checkpoints-", dir=args.folder or OUT) as folder:
        try:
            run, strangers_cores = measured(args, Path(folder))
        except (subprocess.SubprocessError, OSError, Broken) as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
    found = keep(args, run, strangers_cores)
    here = found["machine"]
    print(f"{here['cores']} cores, {here['cpu']}, kernel {here['kernel']}; amdahl "
          f"{found['version']}\nmedian (min-max) of {args.rounds} rounds of {args.saves} saves, "
          f"{args.mib} MiB")
    run.show(args)
    if strangers_cores > STRANGERS_CORES_MAX:
        print(f"WARNING: other programs used {strangers_cores:.2f} of {os.cpu_count()} cores: "
              "measure again on a quiet machine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
