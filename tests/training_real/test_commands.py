"""What `command` means with Torchrun: a script is started by real torchrun, and a job whose ranks
did not join one world of the declared size has failed."""

import contextlib
import socket
import unittest

from job_case import PYTHON, has_torch
from script_case import ScriptCase

WORLD = """
import os, sys
import torch.distributed as dist
dist.init_process_group("gloo")
with open(os.path.join(sys.argv[1], os.environ["AMDAHL_JOB"].rpartition("/")[2]
                       + "-" + str(dist.get_rank())), "w") as file:
    file.write(str(dist.get_world_size()))
dist.barrier()
"""


def free_ports(count: int) -> dict[str, str]:
    """PORT0, PORT1, ...: pods share the ports of this machine."""
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return {f"PORT{at}": str(probe.getsockname()[1]) for at, probe in enumerate(probes)}


@unittest.skipUnless(has_torch(), f"{PYTHON} has no torch: tools/setup installs it")
class Commands(ScriptCase):
    def worlds(self, name: str) -> dict[int, str]:
        """The size of the world that each rank saw."""
        return {int(path.name.rpartition("-")[2]): path.read_text()
                for path in self.home.path.glob(f"{name}-[0-9]*")}

    def cause(self, name: str) -> dict:
        return self.until_end(name, "Failed")["attempts"][-1]["cause"]

    # promises: D1
    # fields: spec.runtime, spec.processesPerNode
    def test_a_script_alone_runs_under_torchrun_on_all_nodes(self):
        script = self.write("world.py", WORLD)
        self.submit("script", script, self.home.path, nodes=2, processesPerNode=2)
        self.until_end("script", "Succeeded")
        self.assertEqual(self.worlds("script"), {rank: "4" for rank in range(4)})

    # promises: D1
    def test_an_executable_script_is_no_plain_process(self):
        script = self.write("run.py", f"#!{PYTHON}\n{WORLD}", 0o755)
        self.submit("executable", script, self.home.path, processesPerNode=2)
        self.until_end("executable", "Succeeded")
        self.assertEqual(self.worlds("executable"), {0: "2", 1: "2"})

    # promises: D1
    def test_a_command_without_a_world_fails_and_says_what_to_do(self):
        self.submit("plain", "sh", "-c", "sleep 1", processesPerNode=2)
        cause = self.cause("plain")
        self.assertEqual((cause["exitCode"], cause["outlook"]), (126, "CannotRecoverUnchanged"))
        self.assertIn("needs a world of 2", cause["message"])

    # promises: D1
    def test_a_separate_world_on_each_node_fails(self):
        script = self.write("apart.py", WORLD)
        flags = ("--nnodes=1 --node_rank=0 --nproc_per_node=1 --master_addr=127.0.0.1 "
                 "--master_port=$(eval echo \\$PORT$AMDAHL_RANK)")
        self.submit("apart", "sh", "-c",
                    f"{PYTHON} -m torch.distributed.run {flags} {script} {self.home.path}",
                    nodes=2, processesPerNode=1, env=free_ports(2))
        self.assertIn("a world of 1 instead of 2", self.cause("apart")["message"])

    # promises: D1
    def test_torchrun_in_a_shell_and_one_plain_process_succeed(self):
        script = self.write("shell.py", WORLD)
        self.submit("shell", "sh", "-c",
                    f"{PYTHON} -m torch.distributed.run {script} {self.home.path}",
                    processesPerNode=2)
        self.until_end("shell", "Succeeded")
        self.assertEqual(self.worlds("shell"), {0: "2", 1: "2"})
        self.submit("one", "sh", "-c", "exit 0")
        self.until_end("one", "Succeeded")


if __name__ == "__main__":
    unittest.main()
