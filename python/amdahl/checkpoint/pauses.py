"""Saves that are waited for, and what becomes of the pause that one was made for."""

from __future__ import annotations

import sys
from collections.abc import Callable

from amdahl import agreement, job
from amdahl.checkpoint import cadence, library
from amdahl.checkpoint.checkpointer import Checkpointer
from amdahl.rank_failure import Tried

WAIT_SECONDS = 1800.0


class Pauses:
    """Thread: one. Every rank makes every call, and gets the same answers."""

    def __init__(self) -> None:
        self._asked = False  # for a pause, at this step
        self._refused = False  # the save for the pause has failed

    def wanted(self, stop: bool, due: Callable[[], bool]) -> bool:
        """Whether to save and end now; stop: whether a pause is asked for.

        After a save that failed not at every step: when the next is due, or the pause was taken
        back and is asked for again.
        """
        self._asked, self._refused = stop, self._refused and stop
        return stop and (not self._refused or due())

    def due(self, asked: Callable[[], bool]) -> bool:
        """Not while wanted() asks the same: a usual save would pass for the one of the pause, and
        training goes on after it."""
        return not self._refused and asked()

    def save_and_wait(self, own: Tried, step: int, save: Callable[[], object]) -> bool:
        """Whether this very step is committed: an older one would lose what came after it.

        own: the checkpointer of this rank, or why it has none.
        """
        why = _not_saved(own, save)
        ranks = agreement.process_group()
        if ranks is not None and ranks.rank:
            why = why or _not_committed(own(), step)

        def is_committed() -> bool:  # rank 0 commits, so it knows; when it fails, the others hear
            nonlocal why
            why = why or _not_committed(own(), step)
            return why is None

        committed = cadence.agreed("save_and_wait", is_committed)
        self._refused = self._asked and not committed  # a usual save that failed refuses nothing
        if not committed:
            text = f"checkpoint of step {step}: {why or 'rank 0 could not commit it'}"
            print(f"amdahl: {text}; training goes on", file=sys.stderr, flush=True)
            job.failed(text)
            cadence.SAVES.note()  # the next try when the interval is over again
        return committed


def _not_saved(own: Tried, save: Callable[[], object]) -> str | None:
    why = None

    def is_saved() -> bool:
        nonlocal why
        own()
        why = _failure(save)
        return why is None

    # A rank whose part is missing would keep the others waiting for their commit.
    if agreement.all_say("save_and_wait", is_saved):
        return None
    return why or "another rank could not save its part, and its log says why"


def _not_committed(own: Checkpointer, step: int) -> str | None:
    why = _failure(lambda: own.wait(WAIT_SECONDS))
    newest = own.status().get("committedStep")
    if why is None and newest != step:
        why = f"it was not saved; the newest that is committed is {newest}"
    return why


def _failure(call: Callable[[], object]) -> str | None:
    """Why a save or a wait for it has failed; None: it has not. A bug in the script is raised."""
    try:
        skipped = call() is False
    except library.CheckpointError as error:
        return str(error)
    except BaseException as error:  # torch's CheckpointException is no Exception
        reasons = _reasons_of_store(error)
        if not reasons:
            raise
        return "; ".join(reasons)
    return "skipped, earlier saves are still being written" if skipped else None


def _reasons_of_store(error: BaseException) -> list[str]:
    """Of each rank, when dcp.save() has raised it because our writer failed; otherwise nothing."""
    failures = getattr(error, "failures", None)
    if type(error).__name__ != "CheckpointException" or not isinstance(failures, dict):
        return []
    if not all(isinstance(one[0], library.CheckpointError) for one in failures.values()):
        return []
    return [f"rank {rank}: {one[0]}" for rank, one in failures.items()]
