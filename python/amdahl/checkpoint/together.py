"""One step for all ranks that restore."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable

from amdahl import agreement
from amdahl.checkpoint import library
from amdahl.rank_failure import Tried

DAMAGED = ("corrupt", "not_found")


def newest(name: str, look: Callable[[int | None, int], tuple | None],
           own: Tried | None = None) -> tuple | None:
    """What look() gives for the newest step that every rank can read; nothing: there is none.

    look(step, before) gives (step, ..): that step, or the newest one (before another) when step is
    None. Rank 0 looks for the newest, the others read its step. If one of them cannot, because its
    part is damaged, all go back to an older one: ranks of different steps would train nonsense.
    When a rank fails otherwise, all raise.
    All ranks call it. own: the checkpointer of this rank, or why it has none.
    """
    ranks = ranks_of(own) if own else agreement.process_group()
    before = -1
    while True:
        found: list = []  # by this rank
        step = agreement.tell_all(name, functools.partial(_first, look, before, found, own),
                                  ranks=ranks)
        if step < 0:
            if before >= 0:
                raise library.CheckpointError("corrupt", "no checkpoint loads on all ranks; the "
                                              f"oldest that was tried is that of step {before}")
            return None
        if agreement.all_say(name, functools.partial(_is_read, look, step, found, own),
                             ranks=ranks):
            return found[0]
        before = step


def all_do(name: str, call: Callable, own: Tried):
    """What call() gives, once it is done on all ranks; when one fails, all raise."""
    given: list = []

    def done() -> bool:
        own()
        given.append(call())
        return True

    agreement.all_say(name, done, ranks=ranks_of(own))
    return given[0]


def ranks_of(own: Tried) -> agreement.Ranks | None:
    """Those of a checkpointer. One that could not be made has those of its environment."""
    given = os.environ.get("WORLD_SIZE", "") if own.failed else str(own().world_size)
    return agreement.starting_group(int(given) if given.isdecimal() else 1)


def _first(look: Callable, before: int, found: list, own: Tried | None) -> int:
    if own:
        own()
    found.append(look(None, before))
    return found[0][0] if found[0] else -1


def _is_read(look: Callable, step: int, found: list, own: Tried | None) -> bool:
    if own:
        own()  # without a checkpointer nothing is damaged
    if not found:
        found.append(_read(look, step))
    return found[0] is not None


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
