"""When to save: one cadence for all ways to save, and one answer for all ranks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from amdahl import agreement, job

INTERVAL_VARIABLE = "AMDAHL_CHECKPOINT_INTERVAL_SECONDS"  # the operator sets it
INTERVAL_SECONDS = 600.0  # where nobody does
BETWEEN_SECONDS_MIN = 1.0  # however short the interval is, and whatever becomes of the saves


class Saves:
    """When this process last saved, whichever way: save(), capture(), DCP, a callback."""

    def __init__(self) -> None:
        self.at: float | None = None

    def note(self, now: float | None = None) -> None:
        self.at = time.monotonic() if now is None else now


SAVES = Saves()


class Cadence:
    """due() is true when the interval is over since the last save, or since the beginning.

    The interval is that of INTERVAL_VARIABLE until the operator says another one, unless the script
    has set its own. due() says yes at most once in BETWEEN_SECONDS_MIN. It is the answer of one
    process; asked() is rank 0's, on all ranks. So is asked_apart(), for those who save at certain
    steps: whether the last save is far enough away.
    """

    def __init__(self, seconds: float | None = None, clock=time.monotonic,
                 told=job.checkpoint_interval, saves: Saves = SAVES) -> None:
        self.seconds = _interval() if seconds is None else float(seconds)
        self._told = told if seconds is None else _nothing_told
        self._clock = clock
        self._saves = saves
        self._since = clock()
        self._yes_at: float | None = None
        self._question = agreement.Question("due")
        self._apart_question = agreement.Question("every_steps")

    def due(self) -> bool:
        self.seconds = self._told() or self.seconds
        now = self._clock()
        since = self._since if self._saves.at is None else max(self._since, self._saves.at)
        if now - since < max(self.seconds, BETWEEN_SECONDS_MIN):
            return False
        return self.apart(now)

    def apart(self, now: float | None = None) -> bool:
        """Whether the floor is over since the last save and the last yes; a yes begins it again."""
        now = self._clock() if now is None else now
        before = [at for at in (self._saves.at, self._yes_at) if at is not None]
        if before and now - max(before) < BETWEEN_SECONDS_MIN:
            return False
        self._yes_at = now
        return True

    def saved(self) -> None:
        """The interval begins again, though nothing was saved: the next try is after it."""
        self._saves.note(self._clock())

    def asked(self) -> bool:
        """due() of rank 0, on all ranks. Every rank asks, at the same place of every step."""
        return self._question.ask(self.due)

    def asked_apart(self) -> bool:
        """apart() of rank 0, on all ranks. Every rank asks, at the same steps."""
        return self._apart_question.ask(self.apart)


def _nothing_told() -> None:
    return None


def _interval() -> float:
    try:
        seconds = float(os.environ.get(INTERVAL_VARIABLE, ""))
    except ValueError:
        return INTERVAL_SECONDS
    return seconds if 0 < seconds < float("inf") else INTERVAL_SECONDS


def agreed(name: str, yes: Callable[[], bool]) -> bool:
    """What rank 0 says, on all ranks, which wait for it: for what is asked seldom, not per step."""
    return bool(agreement.tell_all(name, lambda: int(yes()), ends=True))


def asked_to_stop() -> bool:
    """Whether one rank was asked to stop, on all ranks."""
    return job.should_stop()
