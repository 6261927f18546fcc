"""Tensors of torch and arrays of numpy, known by what they have: neither is imported here."""

from __future__ import annotations

import sys

TORCH_DTYPES = {
    "torch.bool": "BOOL", "torch.uint8": "U8", "torch.int8": "I8",
    "torch.float8_e4m3fn": "F8_E4M3", "torch.float8_e5m2": "F8_E5M2",
    "torch.float8_e8m0fnu": "F8_E8M0", "torch.uint16": "U16", "torch.int16": "I16",
    "torch.float16": "F16", "torch.bfloat16": "BF16", "torch.uint32": "U32",
    "torch.int32": "I32", "torch.float32": "F32", "torch.uint64": "U64", "torch.int64": "I64",
    "torch.float64": "F64", "torch.complex64": "C64",
}
NUMPY_DTYPES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16",
    "float16": "F16", "bfloat16": "BF16", "uint32": "U32", "int32": "I32", "float32": "F32",
    "uint64": "U64", "int64": "I64", "float64": "F64", "complex64": "C64",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0",
}
_TORCH_NAMES = {ours: name for name, ours in TORCH_DTYPES.items()}
_torch_names: dict = {}  # of dtypes that were met: str() of one takes as long as the rest


def is_torch(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_numpy(value: object) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def dtype_of(plain, path: str) -> str:
    return torch_dtype(plain, path) if is_torch(plain) else NUMPY_DTYPES[plain.dtype.name]


def torch_dtype(tensor, path: str) -> str:
    name = _torch_names.get(tensor.dtype)
    if name is None:
        name = TORCH_DTYPES.get(str(tensor.dtype))
        if name is None:
            raise TypeError(f"{path}: a tensor of {tensor.dtype} cannot be saved")
        _torch_names[tensor.dtype] = name
    return name


def torch_type():
    """torch.Tensor, or what nothing is an instance of."""
    torch = sys.modules.get("torch")
    return () if torch is None else torch.Tensor


def torch_plain(tensor, path: str):
    """The same values on the CPU, one after another; itself if it is so already."""
    if tensor.layout is not sys.modules["torch"].strided or tensor.is_quantized:
        raise TypeError(f"{path}: a sparse or quantized tensor cannot be saved; make it dense")
    if not tensor.is_cpu:
        tensor = tensor.detach().cpu()
    if tensor.is_conj() or tensor.is_neg():
        tensor = tensor.detach().resolve_conj().resolve_neg()
    return tensor if tensor.is_contiguous() else tensor.detach().contiguous()


def numpy_plain(array, path: str):
    if array.dtype.name not in NUMPY_DTYPES:
        raise TypeError(f"{path}: an array of {array.dtype} cannot be saved")
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    return sys.modules["numpy"].ascontiguousarray(array).reshape(array.shape)


def numpy_address(array) -> int:
    return array.__array_interface__["data"][0]


def torch_dtype_of(dtype: str):
    import torch  # noqa: PLC0415

    kind = getattr(torch, _TORCH_NAMES[dtype].partition(".")[2], None)
    if kind is None:
        raise TypeError(f"this torch has no {_TORCH_NAMES[dtype]}")
    return kind


def torch_dtype_if_loaded(dtype: str):
    """None: torch was not imported, or has none such."""
    torch = sys.modules.get("torch")
    return None if torch is None else getattr(torch, _TORCH_NAMES[dtype].partition(".")[2], None)


def empty_torch(dtype: str, shape: list):
    import torch  # noqa: PLC0415

    return torch.empty(shape, dtype=torch_dtype_of(dtype))


def empty_numpy(dtype: str, shape: list):
    import numpy  # noqa: PLC0415

    names = {ours: name for name, ours in NUMPY_DTYPES.items()}
    try:
        kind = numpy.dtype(names[dtype])
    except TypeError:
        kind = {"BF16": numpy.uint16}.get(dtype, numpy.uint8)  # the bits
    return numpy.empty(shape, dtype=kind)
