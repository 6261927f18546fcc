"""What tests of checkpoints compare, and where they save to."""

import math
import tempfile
import unittest

from amdahl import checkpoint
from amdahl.checkpoint import cadence, library

try:
    import torch
except ImportError:
    torch = None
try:
    import numpy
except ImportError:
    numpy = None


def has_library() -> bool:
    try:
        library.functions()
    except checkpoint.CheckpointError:
        return False
    return True


class LibraryCase(unittest.TestCase):
    """A test with the library: a folder that goes with it, and checkpoints in that."""

    def setUp(self):
        if not has_library():
            self.skipTest("libamdahl-checkpoint.so is not built; AMDAHL_CHECKPOINT_LIBRARY")
        folder = tempfile.TemporaryDirectory(prefix="amdahl-python-")
        self.addCleanup(folder.cleanup)
        self.folder, self.uri = folder.name, folder.name + "/run"
        cadence.SAVES.at = None  # not that of the test before

    def open(self, **options) -> checkpoint.Checkpointer:
        opened = checkpoint.Checkpointer(self.uri, **options)
        self.addCleanup(opened.close)
        return opened


def equal(a: object, b: object) -> bool:
    """The same types and values, nan equal to nan, tensors bit for bit."""
    if torch is not None and isinstance(a, torch.Tensor):
        return (isinstance(b, torch.Tensor) and a.dtype == b.dtype and a.shape == b.shape
                and bits(a) == bits(b))
    if numpy is not None and isinstance(a, numpy.ndarray):
        return (isinstance(b, numpy.ndarray) and a.dtype == b.dtype and a.shape == b.shape
                and a.tobytes() == b.tobytes())
    if isinstance(a, dict):
        return (isinstance(b, dict) and a.keys() == b.keys()
                and all(equal(a[key], b[key]) for key in a))
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, float) and math.isnan(a):
        return isinstance(b, float) and math.isnan(b)
    return type(a) is type(b) and a == b


def bits(tensor) -> bytes:
    plain = tensor.detach().contiguous().reshape(-1)
    if plain.dtype == torch.bfloat16:
        plain = plain.view(torch.int16)
    if str(plain.dtype).startswith("torch.float8"):
        plain = plain.view(torch.uint8)
    return plain.numpy().tobytes()
