"""With hooks in it a trainer goes on as without them: its modules, its failures, its speed."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import fake_frameworks  # noqa: E402
from hook_case import DEEPSPEED, LOOP, SGD, START, HookCase  # noqa: E402
from launch import ROOT, Launch  # noqa: E402


class Beside(HookCase):
    """What else a trainer does goes on to work."""

    def hidden(self, text):
        (self.folder / "sitecustomize.py").write_text(text)

    # promises: D8
    def test_a_sitecustomize_on_the_path_is_run(self):
        self.hidden("import builtins, torch.optim\nbuiltins.seen = __file__\nmine = 7\n")
        code = SGD + LOOP % 5 + "import sitecustomize\nprint(seen, sitecustomize.mine)\n"
        self.assertEqual(self.step(code), 5)
        self.assertEqual(self.printed, f"{self.folder}/sitecustomize.py 7\n")

    # promises: D8
    def test_one_that_raises_does_what_it_does_without_us(self):
        for text in ("raise ValueError('mine')\n", "import not_there\n", "def\n",
                     "import sys; sys.exit(3)\n"):
            self.hidden(text)
            seen = []
            for hooks in ("0", "1"):
                launch = self.launch(SGD + LOOP % 5, AMDAHL_HOOKS=hooks)
                code, lines = launch.wait(), launch.errors().splitlines()
                seen.append((code, lines[-1]))  # the trace of sys.exit() shows our frames
            self.assertEqual(seen[0], seen[1])
            if seen[1][0] == 0:
                self.assertIn("Error in sitecustomize", launch.errors())
                self.assertEqual(launch.last_word()["step"], 5)  # and the hooks count

    # promises: D8
    def test_modules_look_as_without_us(self):
        look = START + """
import copy, importlib, importlib.util, inspect, pickle, pkgutil
name = "torch.optim.optimizer"
found = importlib.util.find_spec("deepspeed.runtime.engine")
module = sys.modules[name]
print([one for one in sys.path if "hooks" in one], type(found.loader), type(module.__loader__),
      module.__spec__.loader is module.__loader__, found.origin, module.__file__,
      vars(module.__loader__), importlib.util.find_spec("torch.optim.no_such"),
      pkgutil.get_data("torch.optim", "optimizer.py")[:9], inspect.getsource(optim.SGD)[:9],
      inspect.signature(optim.Optimizer.__init__),
      os.listdir(importlib.import_module("importlib.resources").files("torch.optim"))[:0])
one = pickle.loads(pickle.dumps(optim.SGD([0])))
print(one.step(), copy.deepcopy(one).step(), type(one), importlib.reload(module) is module)
"""
        for torch in (fake_frameworks.TORCH_2, fake_frameworks.TORCH_1):
            fake_frameworks.write(self.folder, torch)
            self.silent(look, AMDAHL_HOOKS="0")
            without = self.printed
            self.assertEqual(self.step(look), 1)
            self.assertEqual(self.printed, without)

    # promises: D8
    def test_nothing_stays_when_both_are_patched_and_the_folder_goes(self):
        code = DEEPSPEED + ("print([one for one in sys.meta_path if type(one).__module__ == "
                            "'sitecustomize'], os.environ['PYTHONPATH'])\n")
        launch = self.launch(code)
        self.assertEqual(launch.wait(), 0, launch.errors())
        finders, path = launch.output().split()
        self.assertEqual(finders, "[]")
        self.assertTrue(path.endswith(f":{self.folder}:{ROOT / 'python'}"), path)
        self.assertFalse(Path(path.partition(":")[0]).parent.exists())

    # promises: D8
    def test_they_are_off_unless_asked_for(self):
        code = SGD + "print(os.environ['PYTHONPATH'])\n" + LOOP % 5
        for off in ("", "0", "yes"):
            self.silent(code, AMDAHL_HOOKS=off)
            self.assertEqual(self.printed, f"{self.folder}:{ROOT / 'python'}\n")
        self.assertIn("AMDAHL_HOOKS=yes: expected a number", self.complained)
        for option in ("-S", "-I", "-E"):  # documented: they leave sitecustomize or PYTHONPATH out
            code = f"import sys\nsys.path.insert(0, {str(self.folder)!r})\n" + SGD + LOOP % 5
            launch = Launch(sys.executable, option, "-c", code, env={"AMDAHL_HOOKS": "1"})
            with launch:
                self.assertEqual(launch.wait(), 0, launch.errors())
                self.assertNotIn("step", launch.last_word())

    # promises: D8
    def test_a_broken_socket_costs_the_count_and_nothing_else(self):
        gone = "import socket\nos.environ['AMDAHL_SOCKET']\n"
        for code in ("socket.socket.connect = None\n",
                     "socket.socket.sendall = lambda *_: 1 / 0\n",
                     "def full(*_): raise BlockingIOError\nsocket.socket.sendall = full\n"):
            self.silent(SGD + gone + code + LOOP % 5)
        env = {"AMDAHL_SOCKET": "/no/such/folder/socket"}
        self.silent(SGD + LOOP % 5, **env)
        # A script that closes all files, and gets the number of the socket for its own one.
        mine = ("one.step()\nos.closerange(3, 64)\nmine = open('mine', 'w+')\n"
                "kept = [os.dup(mine.fileno()) for n in range(60)]\ntime.sleep(0.3)\n" + LOOP % 5 +
                "import atexit\natexit.register(lambda: print(os.fstat(kept[-1]).st_size))\n")
        self.assertEqual(self.step(SGD + mine), 1)
        self.assertEqual(self.printed, "0\n")
        # One that breaks later: the steps before it count.
        later = "one.step()\nsocket.socket.sendall = full\ntime.sleep(0.3)\n" + LOOP % 5
        self.assertEqual(self.step(SGD + gone + "def full(*_): raise OSError\n" + later), 1)


class Cost(HookCase):
    # promises: D8
    def test_a_step_costs_less_than_ten_microseconds(self):
        # The minimum of many short rounds: other processes cannot make that smaller.
        code = SGD + """
def cost(step):
    rounds = []
    for _ in range(200):
        since = time.perf_counter()
        for _ in range(100):
            step()
        rounds.append((time.perf_counter() - since) / 100)
    return min(rounds)
one.step()
print(cost(one.step), cost(lambda: "stepped"))
"""
        self.step(code)
        hooked, bare = map(float, self.printed.split())
        self.assertLess(hooked - bare, 10e-6)

    # promises: D8
    def test_python_starts_as_fast(self):
        code = "import json, sys\nprint(json.dumps(sorted(sys.modules)))\n"
        self.silent(code, AMDAHL_HOOKS="0")
        without = set(self.printed.split('"'))
        self.silent(code)
        # Small ones that torch imports in any case.
        self.assertLessEqual(set(self.printed.split('"')) - without,
                             {"sitecustomize", "_weakrefset", "weakref", "time"})


if __name__ == "__main__":
    unittest.main()
