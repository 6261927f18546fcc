"""One step for all ranks that restore."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

from amdahl import agreement
from amdahl.checkpoint import library

DAMAGED = ("corrupt", "not_found")


def newest(name: str, look: Callable[[int | None, int], tuple | None],
           ranks: agreement.Ranks | None = None) -> tuple | None:
    """What look() gives for the newest step that every rank can read; nothing: there is none.

    look(step, before) gives (step, ..): that step, or the newest one (before another) when step is
    None. Rank 0 looks for the newest, the others read its step. If one of them cannot, because its
    part is damaged, all go back to an older one: ranks of different steps would train nonsense.
    All ranks call it; ranks: those of torch.distributed, unless given.
    """
    ranks = ranks or agreement.process_group()
    before = -1
    while True:
        found: list = []  # on rank 0
        step = agreement.tell_all(name, functools.partial(_first, look, before, found),
                                  ranks=ranks)
        if step < 0:
            if before >= 0:
                raise library.CheckpointError("corrupt", "no checkpoint loads on all ranks; the "
                                              f"oldest that was tried is that of step {before}")
            return None
        mine = found[0] if found else _read(look, step)
        if agreement.all_say(name, mine is not None, ranks=ranks):
            return mine
        before = step


def _first(look: Callable, before: int, found: list) -> int:
    found.append(look(None, before))
    return found[0][0] if found[0] else -1


def _read(look: Callable, step: int) -> tuple | None:
    """None: damaged."""
    try:
        return look(step, -1)
    except library.CheckpointError as error:
        if error.code not in DAMAGED:
            raise
        print(f"amdahl: the part of this rank in the checkpoint of step {step} is damaged: {error};"
              " all ranks go back to an older one", file=sys.stderr, flush=True)
        return None
