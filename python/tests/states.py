"""What tests of checkpoints compare."""

import math

from amdahl import checkpoint
from amdahl.checkpoint import library

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
