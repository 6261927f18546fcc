"""States that are saved: large tensors, many small ones, bf16, and a LoRA. Made in the trainer.

A state changes before every save (`advance`), so that nothing can be stored once and for all but
what does not move in real life either: the base of a LoRA.
"""

import dataclasses

PAGE_BYTES = 4096
BLOCK_BYTES = 16 << 20  # of random values; further than compressors look back
MATMUL = 768


@dataclasses.dataclass(frozen=True)
class Part:
    """Tensors of one kind: a share of the state's size, in so many tensors."""

    name: str
    count: int
    share: float = 1.0
    dtype: str = "float32"
    moves: bool = True


SHAPES = {
    "fp32-16": (Part("layer", 16),),
    "fp32-4000": (Part("layer", 4000),),
    "bf16-16": (Part("layer", 16, dtype="bfloat16"),),
    "lora": (Part("base", 16, share=2.0, dtype="bfloat16", moves=False),
             Part("adapter", 128, share=0.02)),
}
ELEMENT_BYTES = {"float32": 4, "bfloat16": 2}


def layout(shape: str, size: int, rank: int) -> list[tuple[str, Part, int]]:
    """(name, part, elements) of every tensor. Ranks have tensors of their own."""
    found = []
    for part in SHAPES[shape]:
        each = max(1, int(size * part.share) // part.count // ELEMENT_BYTES[part.dtype])
        found += [(f"rank{rank}.{part.name}.{i:05d}.weight", part, each)
                  for i in range(part.count)]
    return found


class TorchState:
    def __init__(self, shape: str, size: int, rank: int = 0):
        import torch

        self._torch = torch
        generator = torch.Generator().manual_seed(7 + rank)
        block = torch.randn(min(BLOCK_BYTES, size) // 4, generator=generator)
        self.tensors, self._moving = {}, []
        for number, (name, part, count) in enumerate(layout(shape, size, rank)):
            tensor = torch.empty(count, dtype=getattr(torch, part.dtype))
            for at in range(0, count, len(block)):
                piece = tensor[at:at + len(block)]
                piece.copy_(block[:len(piece)] + 0.01 * number)
            self.tensors[name] = tensor
            if part.moves:
                self._moving.append(tensor)
        self.bytes = sum(t.numel() * t.element_size() for t in self.tensors.values())

    def advance(self) -> None:
        for tensor in self._moving:
            tensor.add_(0.5)

    def sources(self) -> list[tuple[int, int]]:
        """(address, bytes) of every tensor."""
        return [(t.data_ptr(), t.numel() * t.element_size()) for t in self.tensors.values()]

    def touch(self, loaded: dict) -> None:
        """A value of every page: what was only mapped is read."""
        for tensor in loaded.values():
            tensor[::PAGE_BYTES // tensor.element_size()].sum()

    def same(self, loaded: dict) -> bool:
        return loaded.keys() == self.tensors.keys() and all(
            self._torch.equal(loaded[name], tensor) for name, tensor in self.tensors.items())

    def stepper(self, threads: int):
        """One step of a trainer that computes with so many threads."""
        torch = self._torch
        torch.set_num_threads(threads)
        a, b, c = (torch.randn(MATMUL, MATMUL) for _ in range(3))
        return lambda: torch.mm(a, b, out=c)


class JaxState:
    """The same for Orbax. jax has no arrays that change: new ones take their places."""

    def __init__(self, shape: str, size: int, rank: int = 0):
        import jax
        import jax.numpy
        import numpy

        self._jax, self._numpy = jax, numpy
        block = numpy.random.default_rng(7 + rank).standard_normal(
            min(BLOCK_BYTES, size) // 4, dtype=numpy.float32)
        self.tensors, self._moving = {}, []
        for number, (name, part, count) in enumerate(layout(shape, size, rank)):
            values = numpy.resize(block, count) + numpy.float32(0.01 * number)
            self.tensors[name] = jax.numpy.asarray(values, dtype=part.dtype)
            if part.moves:
                self._moving.append(name)
        self.bytes = sum(array.nbytes for array in self.tensors.values())

    def advance(self) -> None:
        for name in self._moving:
            self.tensors[name] = (self.tensors[name] + 0.5).block_until_ready()

    def sources(self) -> list[tuple[int, int]]:
        return [(array.unsafe_buffer_pointer(), array.nbytes) for array in self.tensors.values()]

    def touch(self, loaded: dict) -> None:
        for array in loaded.values():
            values = self._numpy.asarray(array)
            values[::PAGE_BYTES // values.itemsize].sum()

    def same(self, loaded: dict) -> bool:
        return loaded.keys() == self.tensors.keys() and all(
            self._numpy.array_equal(loaded[name], array) for name, array in self.tensors.items())

    def stepper(self, threads: int):
        import threadpoolctl

        self._limits = threadpoolctl.threadpool_limits(limits=threads)
        a, b, c = (self._numpy.random.rand(MATMUL, MATMUL).astype("float32") for _ in range(3))
        return lambda: self._numpy.matmul(a, b, out=c)
