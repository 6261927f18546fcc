"""The processes of torch.distributed, and the store in which they leave each other words."""

from __future__ import annotations

import os
import sys


class Ranks:
    """This process among others, and the store that they share."""

    def __init__(self, rank: int, store, size: int) -> None:
        self.rank, self.store, self.size = rank, store, size


def process_group() -> Ranks | None:
    """This process among the ranks of torch.distributed; None when there is no other."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or \
            not distributed.is_initialized() or distributed.get_world_size() == 1:
        return None
    store = distributed.distributed_c10d._get_default_store()  # noqa: SLF001: nothing public has it
    return Ranks(distributed.get_rank(), store, distributed.get_world_size())


def starting_group(size: int) -> Ranks | None:
    """process_group(), or the ranks that torchrun has started and that will form one.

    For what all ranks do before the framework starts torch.distributed, as Lightning does late.
    size: how many ranks there are; nothing without a place to meet (MASTER_ADDR), or alone.
    """
    global _meeting  # noqa: PLW0603
    ranks, torch = process_group(), sys.modules.get("torch")
    env = os.environ
    if ranks is not None or torch is None or size < 2 or env.get("WORLD_SIZE") != str(size) or \
            not {"RANK", "MASTER_ADDR", "MASTER_PORT"} <= env.keys():
        return ranks
    if not torch.distributed.is_available() or torch.distributed.is_initialized():
        return None
    if _meeting is None:  # kept: without torchrun its server is in the process of rank 0
        store, rank, size = next(torch.distributed.rendezvous("env://"))
        _meeting = Ranks(rank, torch.distributed.PrefixStore("amdahl", store), size)
    return _meeting


_meeting: Ranks | None = None
