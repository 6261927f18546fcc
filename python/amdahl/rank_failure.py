"""A rank that fails where the others wait for it: what it tells them, and what they raise."""

from __future__ import annotations

import json

REASON_MAX = 400  # characters; the rank that failed raises all of it
CALL = "amdahl.checkpoint"
CODE = "cancelled"  # of an error that is none of ours


class Tried:
    """What a call gave or raised, for the place at which the others hear of it.

    For what a rank does alone before a call that all ranks make. An interrupt is raised at once.
    """

    def __init__(self, call) -> None:
        self._value = self._error = None
        try:
            self._value = call()
        except Exception as error:  # noqa: BLE001: raised when it is asked for
            self._error = error

    @property
    def failed(self) -> bool:
        return self._error is not None

    def __call__(self):
        if self._error is not None:
            raise self._error
        return self._value


def text_of(name: str, rank: int, error: BaseException) -> str:
    """For the store, in which all other answers are numbers."""
    ours = isinstance(error, _checkpoint_error())
    reason = _text(error) if ours else f"{type(error).__name__}: {_text(error)}"
    if len(reason) > REASON_MAX:
        reason = reason[:REASON_MAX] + " ..."
    return json.dumps({"code": str(error.code) if ours else CODE,
                       "text": f"rank {rank} failed in {CALL}.{name}(): {reason}"})


def error_of(text: bytes) -> Exception | None:
    """What the other ranks raise; None when no rank failed."""
    if not text.startswith(b"{"):
        return None
    told = json.loads(text)
    return _checkpoint_error()(told["code"], told["text"])


def _text(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())
    except Exception:  # noqa: BLE001: the others must hear of it anyway
        return "its text cannot be read"


def _checkpoint_error() -> type:
    from amdahl.checkpoint import library  # noqa: PLC0415: amdahl.checkpoint imports this module

    return library.CheckpointError
