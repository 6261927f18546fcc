"""A machine inside the machine: network, mounts and processes that all end with one process.

`run()` is the outside. Whatever ends it, SIGKILL included, ends the first process inside, and the
kernel ends the rest: containers, mounts, the bridge, every file that was written. Only cgroups
outlive that; a keeper, which no signal to `run()` reaches, waits for its end and removes them.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import build
import cgroups

BRIDGE = "amdahl0"
ADDRESS = "10.244.0.1"  # of the node, of its DNS server, and of what pods are to find
STATE = Path("/run/amdahl")  # inside: short, because names of sockets are
NOT_POSSIBLE = 77  # as exit code: what ctest and automake count as skipped

ENTER = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
# What a kubelet sets for the whole machine, and the values that it wants. Inside they are files.
KERNEL_SETTINGS = {
    "vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10",
    "kernel/panic_on_oops": "1", "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}


def refusal() -> str | None:
    """Why there can be no such machine here, if so."""
    if os.geteuid() != 0:
        return "pods that run need root: containers, network namespaces, cgroups"
    tried = subprocess.run([*ENTER, "true"], capture_output=True, text=True, timeout=60)
    if tried.returncode != 0:
        return f"namespaces are not permitted here: {tried.stderr.strip()}"
    probe = f"amdahl-probe-{os.getpid()}"
    try:
        cgroups.create(probe)
        found = cgroups.remaining(probe)
        cgroups.remove(probe)
    except OSError as error:
        return f"cgroups cannot be made here: {error}"
    return None if found else "there are no cgroups here"


def run(name: str, command: list) -> int:
    """Runs the command as the first process inside and returns its exit code; leaves nothing."""
    cgroup = cgroup_of(name)
    until_end, ours = os.pipe()
    keeper = subprocess.Popen([sys.executable, __file__, cgroup], stdin=until_end,
                              start_new_session=True)
    os.close(until_end)
    for sign in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, _end)
    # unshare ignores SIGTERM while it waits, and --kill-child speaks only of its own death.
    first = None
    try:
        cgroups.create(cgroup)
        first = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *ENTER, *map(str, command)])
        return first.wait()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    finally:
        if first is not None:
            first.kill()
            first.wait()
        os.close(ours)
        keeper.wait()


def cgroup_of(name: str) -> str:
    return f"amdahl-cluster-{name}"


def settle(name: str, writable: list[Path]) -> None:
    """Inside, first of all: nothing that is written from here on reaches the machine's disk."""
    cgroups.enter(cgroup_of(name))
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    for folder in (STATE, STATE / "upper", STATE / "work", STATE / "tmp"):
        folder.mkdir()
    # Containers and their logs are kept in places below /var that no flag can move.
    layers = f"lowerdir=/var,upperdir={STATE}/upper,workdir={STATE}/work"
    _mount("-t", "overlay", "-o", layers, "overlay", "/var")
    for folder in (Path("/dev/shm").resolve(), *writable):
        folder.mkdir(parents=True, exist_ok=True)
        _mount("-t", "tmpfs", "tmpfs", folder)
    for number, (setting, value) in enumerate(KERNEL_SETTINGS.items()):
        stand_in = STATE / f"setting-{number}"
        stand_in.write_text(f"{value}\n")
        _mount("--bind", stand_in, Path("/proc/sys") / setting)
    for words in (["link", "set", "lo", "up"], ["link", "add", BRIDGE, "type", "bridge"],
                  ["addr", "add", f"{ADDRESS}/16", "dev", BRIDGE], ["link", "set", BRIDGE, "up"]):
        _run("ip", *words)
    os.environ["TMPDIR"] = str(STATE / "tmp")


def keep(cgroup: str) -> None:
    """The keeper: returns when the other end of standard input is closed, by whatever."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    sys.stdin.buffer.read()
    cgroups.remove(cgroup)


def _end(sign: int, _frame) -> None:
    signal.signal(sign, signal.SIG_IGN)
    sys.exit(128 + sign)  # through the `finally` of run()


def _mount(*words) -> None:
    _run("mount", *words)


def _run(*words) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")


if __name__ == "__main__":
    try:
        keep(sys.argv[1])
    except RuntimeError as failure:
        build.say(str(failure))
        sys.exit(1)
