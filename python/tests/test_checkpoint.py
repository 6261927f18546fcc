"""amdahl.checkpoint with the real library, and with torch and numpy where they are installed."""

import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from amdahl import checkpoint  # noqa: E402
from states import LibraryCase, bits, equal  # noqa: E402

try:
    import torch
except ImportError:
    torch = None
try:
    import numpy
except ImportError:
    numpy = None


class WithoutTensors(LibraryCase):
    def test_state_and_metrics_come_back(self):
        with self.open() as mine:
            self.assertIsNone(mine.load())
            state = {"random": random.getstate(), "epoch": 3, "lr": 0.1}
            self.assertTrue(mine.save(state, 5, metrics={"loss": 2.5}))
            mine.wait()
            loaded = mine.load()
        self.assertEqual((loaded.step, loaded.metrics), (5, {"loss": 2.5}))
        self.assertTrue(equal(loaded.state, state))

    def test_retention_list_pin_and_verify(self):
        mine = self.open(keepLast=2)
        for step in range(1, 6):
            mine.save({"step": step}, step)
            mine.settle()
            if step == 2:
                mine.pin(2)
        self.assertEqual([one["step"] for one in mine.list()], [5, 4, 2])
        self.assertEqual(mine.verify(5)["bad"], [])
        self.assertEqual(mine.collect()["objects"], [])
        self.assertEqual(mine.status()["committedStep"], 5)

    def test_errors_name_the_cause(self):
        mine = self.open(job_uid="one")
        mine.save({}, 1)
        mine.wait()
        other = checkpoint.Checkpointer(self.uri, job_uid="two")
        other.save({}, 2)
        with self.assertRaisesRegex(checkpoint.CheckpointError, "belongs to") as caught:
            other.wait()
        self.assertEqual(caught.exception.code, "forbidden")
        other._session.close()  # noqa: SLF001: close() would raise it again
        with self.assertRaises(checkpoint.CheckpointError):
            self.open(noSuchOption=1)
        with self.assertRaisesRegex(ValueError, "attempt id"):
            checkpoint.Checkpointer(self.uri, rank=0, world_size=2)


@unittest.skipIf(numpy is None, "no numpy")
class WithNumpy(LibraryCase):
    def test_arrays_of_every_type_and_shape(self):
        names = ["bool", "uint8", "int8", "uint16", "int16", "float16", "uint32", "int32",
                 "float32", "uint64", "int64", "float64", "complex64"]
        state = {name: numpy.arange(24).astype(name).reshape(2, 3, 4) for name in names}
        state |= {"scalar": numpy.array(7.5), "none": numpy.zeros((0, 4)),
                  "big": numpy.arange(5, dtype=">i4"), "strided": numpy.arange(20)[::3],
                  "generator": numpy.random.default_rng(3).bit_generator.state}
        mine = self.open()
        mine.save(state, 1)
        mine.wait()
        loaded = mine.load(as_numpy=True).state
        state["big"] = state["big"].astype("<i4")
        self.assertTrue(equal(loaded, state))


@unittest.skipIf(torch is None, "no torch")
class WithTorch(LibraryCase):
    def model(self):
        torch.manual_seed(1)
        net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
        optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
        return net, optimizer

    def train(self, net, optimizer, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            net(torch.randn(4, 8)).pow(2).mean().backward()
            optimizer.step()

    def test_training_goes_on_bit_for_bit(self):
        net, optimizer = self.model()
        mine = self.open()
        self.train(net, optimizer, 3)
        mine.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(),
                   "rng": torch.get_rng_state()}, 3)
        self.train(net, optimizer, 4)
        mine.wait()
        other, other_optimizer = self.model()
        loaded = self.open().load()
        other.load_state_dict(loaded.state["net"])
        other_optimizer.load_state_dict(loaded.state["optimizer"])
        torch.set_rng_state(loaded.state["rng"])
        self.train(other, other_optimizer, 4)
        self.assertTrue(equal(other.state_dict(), net.state_dict()))
        self.assertTrue(equal(other_optimizer.state_dict(), optimizer.state_dict()))

    def test_every_tensor_may_change_once_save_returns(self):
        state = {f"t{i}": torch.randn(200, 50) for i in range(20)}
        state["step"] = torch.tensor(5.0)
        state["counts"] = {i: torch.tensor(i) for i in range(5)}
        before = {"flat": {k: v.clone() for k, v in state.items() if k != "counts"},
                  "counts": {k: v.clone() for k, v in state["counts"].items()}}
        mine = self.open()
        mine.save(state, 1)
        for tensor in [v for k, v in state.items() if k != "counts"] + list(
                state["counts"].values()):
            tensor.fill_(77)
        mine.wait()
        loaded = mine.load().state
        self.assertTrue(equal(loaded.pop("counts"), before["counts"]))
        self.assertTrue(equal(loaded, before["flat"]))

    def test_a_state_may_change_its_shape_between_saves(self):
        mine = self.open(keepLast=9)
        memory = torch.randn(6)
        states = [{"a": memory, "b": torch.ones(2), "b#2": torch.zeros(3)},
                  {"a": memory, "b": torch.ones(3), "c": memory, "view": memory[:3]},
                  {"b": {"x": memory}, "b#2": torch.ones(1, dtype=torch.int64), "a": memory},
                  {"a": memory.double(), "a2": [memory[:3], memory[:3], memory]}]
        for step, state in enumerate(states):
            mine.save(state, step)
            mine.wait()
        for step, state in enumerate(states):
            self.assertTrue(equal(mine.load(step).state, state), step)
        again = mine.load(3).state["a2"]
        self.assertIs(again[0], again[1])

    def test_load_fills_tensors_in_place(self):
        mine = self.open()
        value = torch.randn(50, 3)
        mine.save({"a": value, "b": [torch.tensor(3), 2.5]}, 1)
        mine.wait()
        target = {"a": torch.zeros(50, 3), "b": [torch.tensor(0), 0.0]}
        places = (target["a"], target["b"][0])
        loaded = mine.load(into=target).state
        self.assertIs(loaded["a"], places[0])
        self.assertIs(loaded["b"][0], places[1])
        self.assertEqual(loaded["b"][1], 2.5)
        self.assertTrue(equal(places[0], value))
        gaps = torch.zeros(3, 50).t()
        self.assertTrue(equal(mine.load(into={"a": gaps}).state["a"], value))
        with self.assertRaisesRegex(checkpoint.CheckpointError, r"a was saved as F32 \[50, 3\]"):
            mine.load(into={"a": torch.zeros(3, 50)})

    def test_dtypes_views_and_shared_memory(self):
        base = torch.randn(6, 8)
        state = {"bf16": torch.randn(33).to(torch.bfloat16), "bool": torch.tensor([True, False]),
                 "half": torch.randn(5).half(), "complex": torch.randn(3, dtype=torch.complex64),
                 "transposed": base.t(), "row": base[2], "base": base, "again": base,
                 "conjugate": torch.randn(3, dtype=torch.complex64).conj(),
                 "parameter": torch.nn.Parameter(torch.randn(3)), "empty": torch.empty(0, 3),
                 "nan": torch.tensor([math.nan, -0.0, math.inf])}
        if hasattr(torch, "float8_e4m3fn"):
            state["fp8"] = torch.randn(9).to(torch.float8_e4m3fn)
        mine = self.open()
        mine.save(state, 1)
        mine.wait()
        loaded = mine.load().state
        self.assertIs(loaded["base"], loaded["again"])
        state["parameter"] = state["parameter"].detach()
        state["conjugate"] = state["conjugate"].resolve_conj()
        self.assertTrue(equal(loaded, state))
        with self.assertRaisesRegex(TypeError, "x: a tensor of torch.complex128"):
            mine.save({"x": torch.zeros(1, dtype=torch.complex128)}, 2)
        with self.assertRaisesRegex(TypeError, "sparse"):
            mine.save({"x": torch.eye(3).to_sparse()}, 2)

    def test_damage_falls_back_one_step_with_the_reason(self):
        mine = self.open()
        for step in (1, 2):
            mine.save({"t": torch.full((1000,), float(step))}, step)
            mine.wait()
        name = next(pathlib.Path(self.uri).glob(f"data/{2:020}-*.safetensors"))
        damaged = bytearray(name.read_bytes())
        damaged[-5] ^= 1
        name.write_bytes(damaged)
        with self.assertWarnsRegex(RuntimeWarning, "chunk 0 .* is damaged"):
            loaded = self.open().load()
        self.assertEqual(loaded.step, 1)
        self.assertEqual(loaded.passed_over[0]["step"], 2)
        self.assertTrue(equal(loaded.state["t"], torch.full((1000,), 1.0)))
        self.assertIn("is damaged", mine.verify(2)["bad"][0])

    def test_export_is_a_safetensors_file(self):
        mine = self.open()
        value = torch.arange(12, dtype=torch.float32).reshape(3, 4)
        mine.save({"a": {"b": value}}, 1)
        mine.wait()
        path = self.uri + ".safetensors"
        mine.export(1, path)
        data = pathlib.Path(path).read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8:8 + length])
        begin, end = header["a.b"]["data_offsets"]
        self.assertEqual(data[8 + length + begin:8 + length + end], bits(value))

    def test_frozen_tensors_are_stored_once(self):
        mine = self.open(frozen=lambda name: name.startswith("base"), keepLast=1)
        frozen = torch.randn(50_000)
        for step in range(1, 4):
            mine.save({"base": {"w": frozen}, "lora": torch.randn(10)}, step)
            mine.wait()
        self.assertEqual(len(list(pathlib.Path(self.uri).glob("blobs/*"))), 1)
        self.assertLess(mine.status()["uploadedBytes"], 10_000)
        frozen[7] += 1  # against what was said
        mine.save({"base": {"w": frozen}, "lora": torch.randn(10)}, 9)
        mine.wait()
        self.assertTrue(equal(mine.load().state["base"]["w"], frozen))

    def test_ranks_commit_together_and_any_other_number_of_ranks_loads(self):
        whole = torch.arange(7 * 5, dtype=torch.float32).reshape(7, 5)
        cuts = [(0, 3), (3, 7)]

        def rank(number):
            begin, end = cuts[number]
            mine = checkpoint.Checkpointer(self.uri, rank=number, world_size=2, attempt="x")
            state = {"w": checkpoint.Shard(whole[begin:end], (7, 5), (begin, 0)),
                     "own": torch.tensor(number)}
            mine.save(state, 4)
            mine.wait()
            mine.close()

        threads = [threading.Thread(target=rank, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(equal(self.open().load().state["w"], whole))
        third = self.open(rank=1, world_size=3, attempt="y")
        part = third.load(slices={"w": ((2, 0), (2, 5))}).state
        self.assertTrue(equal(part["w"], whole[2:4]))
        self.assertEqual(int(part["own"]), 1)

    def test_what_was_copied_is_committed_when_the_process_ends(self):
        code = ("import sys, torch; from amdahl import checkpoint as c\n"
                "c.save({'t': torch.ones(100000)}, 3)\n")
        environment = dict(os.environ, AMDAHL_CHECKPOINT_URI=self.uri)
        environment["PYTHONPATH"] = str(pathlib.Path(__file__).resolve().parents[1])
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
        self.assertEqual(self.open().load().step, 3)


if __name__ == "__main__":
    unittest.main()
