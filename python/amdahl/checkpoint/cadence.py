"""When to save, and whether to stop: one answer for all ranks."""

from __future__ import annotations

import os
import sys
import time

from amdahl import job

INTERVAL_VARIABLE = "AMDAHL_CHECKPOINT_INTERVAL_SECONDS"  # the operator sets it
INTERVAL_SECONDS = 600.0  # where nobody does


class Cadence:
    """due() is true when the interval is over since the last save, or since the beginning.

    The interval is that of INTERVAL_VARIABLE until the operator says another one, unless the script
    has set its own. Ranks hear of a new one at different moments, as their clocks are different
    ones: due() is an answer of one process, and what rank 0 answers is what all do (agreed()).
    """

    def __init__(self, seconds: float | None = None, clock=time.monotonic,
                 told=job.checkpoint_interval) -> None:
        self.seconds = _interval() if seconds is None else float(seconds)
        self._told = told if seconds is None else _nothing_told
        self._clock = clock
        self._since = clock()

    def due(self) -> bool:
        self.seconds = self._told() or self.seconds
        return self._clock() - self._since >= self.seconds

    def saved(self) -> None:
        """The interval begins anew."""
        self._since = self._clock()


def _nothing_told() -> None:
    return None


def _interval() -> float:
    try:
        seconds = float(os.environ.get(INTERVAL_VARIABLE, ""))
    except ValueError:
        return INTERVAL_SECONDS
    return seconds if 0 < seconds < float("inf") else INTERVAL_SECONDS


def agreed(save: bool, stop: bool) -> tuple[bool, bool]:
    """What rank 0 says, on all ranks. Every rank calls it, at the same place."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.distributed.is_available() or \
            not torch.distributed.is_initialized() or torch.distributed.get_world_size() == 1:
        return save, stop
    device = "cuda" if torch.distributed.get_backend() == "nccl" else "cpu"
    words = torch.tensor([int(save), int(stop)], device=device)
    torch.distributed.broadcast(words, src=0)
    return bool(words[0]), bool(words[1])


def asked_to_stop() -> bool:
    """Of this process: the launcher's wish."""
    return job.should_stop()
