"""Saves that are waited for, and what becomes of the pause that one was made for."""

from __future__ import annotations

import sys
from collections.abc import Callable

from amdahl import agreement, job
from amdahl.checkpoint import cadence, library
from amdahl.checkpoint.checkpointer import Checkpointer

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

    def save_and_wait(self, own: Checkpointer, step: int, save: Callable[[], object]) -> bool:
        """Whether this very step is committed: an older one would lose what came after it."""
        why = _not_committed(own, step, save)
        # Rank 0 commits, so it knows.
        committed = cadence.agreed(False, why is None)[1]
        self._refused = self._asked and not committed  # a usual save that failed refuses nothing
        if not committed:
            text = f"checkpoint of step {step}: {why or 'rank 0 could not commit it'}"
            print(f"amdahl: {text}; training goes on", file=sys.stderr, flush=True)
            job.failed(text)
            cadence.SAVES.note()  # the next try when the interval is over again
        return committed


def _not_committed(own: Checkpointer, step: int, save: Callable[[], object]) -> str | None:
    why = _failure(save)
    # A rank whose part is missing would keep the others waiting for their commit.
    if not agreement.all_say("save_and_wait", why is None):
        return why or "another rank could not save its part, and its log says why"
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
