"""SIGKILL at random times for trainers and for the agent that writes their snapshots.

A save that has returned is a checkpoint, whoever is killed afterwards, as long as one of the two
processes lives: after a trainer's death the agent commits, after the agent's the trainer does. What
was being copied is dropped. AMDAHL_KILLS says how often (make kill-agent: 1,000), AMDAHL_SEED
with which times.
"""

import os
import pathlib
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VICTIM = os.environ.get("AMDAHL_AGENT_VICTIM",
                        str(ROOT / "build/dev/tests/checkpoint/checkpoint_agent_victim"))
KILLS = int(os.environ.get("AMDAHL_KILLS", "50"))
SEED = int(os.environ.get("AMDAHL_SEED", "1"))
WAIT_SECONDS = 60


class Process:
    """One that says what it does, a line at a time."""

    def __init__(self, *words, **streams):
        self.process = subprocess.Popen([VICTIM, *map(str, words)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, **streams)
        self.said = {"copying": -1, "saved": -1, "committed": -1, "listening": -1}
        self.lines = queue.Queue()
        self.errors = []
        self.readers = [threading.Thread(target=self._read), threading.Thread(target=self._hear)]
        for reader in self.readers:
            reader.start()

    def _read(self):
        for line in self.process.stdout:
            if line.endswith("\n"):
                word, _, number = line.strip().partition(" ")
                self.said[word] = int(number or 0)
                self.lines.put(word)
        self.lines.put(None)

    def _hear(self):
        self.errors += self.process.stderr.readlines()

    def until(self, word):
        """Waits for the next line that begins so; False: it has ended."""
        while True:
            line = self.lines.get(timeout=WAIT_SECONDS)
            if line is None or line == word:
                return line == word

    def kill(self):
        self.process.kill()
        self.end()

    def end(self):
        self.process.wait(WAIT_SECONDS)
        for reader in self.readers:
            reader.join(WAIT_SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()


class World:
    """An agent and a prefix; trainers come and go."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.store = self.folder / "store"
        self.socket = self.folder / "agent"
        self.agent = None
        self.attempt = 0

    def start_agent(self):
        self.socket.unlink(missing_ok=True)
        self.agent = Process("agent", self.socket, stdin=subprocess.PIPE)
        assert self.agent.until("listening"), self.agent.errors

    def start_trainers(self, step, world):
        self.attempt += 1
        return [Process("train", self.socket, self.store, step, f"{rank}/{world}",
                        f"attempt-{self.attempt}", stdin=subprocess.DEVNULL)
                for rank in range(world)]

    def newest(self, at_least, world):
        done = subprocess.run([VICTIM, "check", self.socket, self.store, str(at_least), str(world)],
                              capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)
        assert done.returncode == 0, (done.stderr, self.agent and self.agent.errors)
        return int(done.stdout.split()[1])

    def end_agent(self):
        self.agent.process.stdin.close()
        self.agent.end()
        return self.agent.process.returncode


class Sigkill(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="amdahl-agent-kill-")
        self.addCleanup(folder.cleanup)
        self.world = World(folder.name)
        self.world.start_agent()
        self.addCleanup(lambda: self.world.agent.kill())

    def test_a_trainer_killed_right_after_a_save(self):
        trainer, = self.world.start_trainers(0, 1)
        for word in ("saved", "copying", "committed", "copying", "saved"):
            self.assertTrue(trainer.until(word), trainer.errors)
        trainer.kill()
        self.assertEqual(self.world.newest(trainer.said["saved"], 1), trainer.said["saved"])

    def test_an_agent_killed_and_the_trainer_goes_on(self):
        trainer, = self.world.start_trainers(0, 1)
        self.assertTrue(trainer.until("saved"), trainer.errors)
        self.world.agent.kill()
        self.assertTrue(trainer.until("committed"), trainer.errors)
        step = trainer.said["committed"]
        self.assertTrue(trainer.until("committed"), trainer.errors)
        self.assertGreater(trainer.said["committed"], step)
        trainer.kill()
        self.assertEqual(len([line for line in trainer.errors if "no checkpoint agent" in line]), 1)
        self.world.newest(step, 1)

    def test_two_ranks_killed_after_both_have_saved(self):
        trainers = self.world.start_trainers(0, 2)
        for _ in range(2):
            for trainer in trainers:
                self.assertTrue(trainer.until("committed"), trainer.errors)
        for trainer in trainers:
            self.assertTrue(trainer.until("saved"), trainer.errors)
        for trainer in trainers:
            trainer.kill()
        both = min(trainer.said["saved"] for trainer in trainers)
        self.assertGreaterEqual(self.world.newest(both, 2), both)

    def test_at_random(self):
        chance = random.Random(SEED)
        step, counts = 0, {"trainer": 0, "agent": 0}
        for kill in range(KILLS):
            with self.subTest(kill=kill, seed=SEED):
                step = self.one_kill(chance, step, counts) + 1
        self.assertEqual(self.world.end_agent(), 0, self.world.agent.errors)
        done = subprocess.run([VICTIM, "last", self.world.store, str(step)], capture_output=True,
                              text=True, timeout=WAIT_SECONDS, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "unneeded 0\n"), done.stderr)
        print(f"{counts['trainer']} trainers and {counts['agent']} agents killed, seed {SEED}, "
              f"last step {step}", file=sys.stderr)

    def test_two_ranks_at_random(self):
        chance = random.Random(SEED + 1)
        step, counts = 0, {"trainer": 0, "agent": 0}
        for kill in range(max(KILLS // 10, 1)):
            with self.subTest(kill=kill, seed=SEED):
                step = self.one_kill_of_two(chance, step, counts) + 1
        print(f"two ranks: {counts['trainer']} pairs of trainers and {counts['agent']} agents "
              f"killed, seed {SEED}, last step {step}", file=sys.stderr)

    def one_kill_of_two(self, chance, step, counts):
        trainers = self.world.start_trainers(step, 2)
        victim = "agent" if chance.random() < 0.4 else "trainer"
        counts[victim] += 1
        for trainer in trainers:
            self.assertTrue(trainer.until("saved"), trainer.errors)
        time.sleep(chance.uniform(0.0, 0.3))
        if victim == "agent":
            self.world.agent.kill()
            both = min(trainer.said["saved"] for trainer in trainers)
            for trainer in trainers:
                while trainer.said["committed"] < both:
                    self.assertTrue(trainer.until("committed"), trainer.errors)
        chance.shuffle(trainers)
        for trainer in trainers:
            trainer.kill()
        if victim != "agent":
            both = min(trainer.said["saved"] for trainer in trainers)
        self.world.newest(both, 2)
        if victim == "agent":
            self.world.start_agent()
        return max(trainer.said["copying"] for trainer in trainers)

    def one_kill(self, chance, step, counts):
        trainer, = self.world.start_trainers(step, 1)
        victim = "agent" if chance.random() < 0.3 else "trainer"
        counts[victim] += 1
        self.assertTrue(trainer.until(chance.choice(("copying", "saved"))), trainer.errors)
        time.sleep(chance.uniform(0.0, 0.3))
        if victim == "agent":
            self.world.agent.kill()
            saved = trainer.said["saved"]
            # What it had been given is written by the trainer: commits go on beyond it.
            while trainer.said["committed"] < saved:
                self.assertTrue(trainer.until("committed"), trainer.errors)
            trainer.kill()
            newest = self.world.newest(max(saved, trainer.said["committed"]), 1)
            self.world.start_agent()
            return max(newest, trainer.said["copying"])
        trainer.kill()
        newest = self.world.newest(trainer.said["saved"], 1)
        self.assertLessEqual(newest, trainer.said["copying"])
        return newest


if __name__ == "__main__":
    unittest.main()
