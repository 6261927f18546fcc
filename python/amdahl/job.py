"""What a trainer can tell its launcher, and ask it.

    from amdahl import job

    for n in range(start, total):
        with job.phase("DataWait"):
            batch = next(data)
        loss = train(batch)
        job.step(n, total, loss=loss)
        if job.should_stop():
            save(f"/ckpt/{n}")
            job.committed(n, f"/ckpt/{n}")
            job.exit_paused()

Outside of a job, and after anything goes wrong, every call does nothing; none waits for the
launcher. `should_stop()` gives all ranks of torch.distributed the same answer at the same step, so
all of them ask it at every step, rank 0 in any case. Ranks without it have to agree by themselves.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import NoReturn

from amdahl import agreement, launcher_lines
from amdahl.launcher_lines import TEXT_MAX

PHASES = frozenset({"Init", "DataWait", "Train", "CheckpointSave", "CheckpointRestore", "Eval"})
SEND_EVERY_SECONDS = 0.2  # steps between two messages are summed up
METRICS_MAX = 8
RECEIVE_MAX = 4096
# What a process exits with that ends for a pause: not 0, so that nothing after it (`&& publish`)
# takes its model for finished. The launcher understands it once the checkpoint is committed.
EXIT_PAUSED = 85
# What a checkpoint engine may tell with a commit.
ENGINE_FIELDS = ("manifestDigest", "stallSeconds", "uploadLagSeconds", "predictedPauseSeconds",
                 "failedSaves", "orphansCollected")


class Launcher:
    """The connection of one process. A broken one stays broken: the trainer matters more."""

    def __init__(self, path: str | None, clock=time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._pid = 0
        self._sent_at = -1.0
        self._phases: list[str] = []
        self._data_wait = 0.0
        self._unsent: tuple | None = None  # the last step, while it waits for its turn
        self._received = b""
        self._listening = self._heard = self._stop = False
        self._interval: float | None = None

    def step(self, step: int, total: int | None, metrics: dict) -> None:
        now = self._clock()
        if now - self._sent_at < SEND_EVERY_SECONDS and step != total:
            self._unsent = (step, total, metrics)
            return
        self._send_step(step, total, metrics, now)

    def _send_step(self, step: int, total: int | None, metrics: dict, now: float) -> None:
        self._unsent = None
        message = {"type": "state", "step": int(step), "phase": self._phase()}
        if total is not None:
            message["total"] = int(total)
        if metrics:
            message["metrics"] = {str(name)[:TEXT_MAX]: launcher_lines.number(metrics[name])
                                  for name in list(metrics)[:METRICS_MAX]}
        self._send_state(message, now)

    def enter(self, phase: str) -> None:
        self._phases.append(phase)
        if phase != "DataWait":
            self._send_state({"type": "state", "phase": phase}, self._clock())

    def leave(self, phase: str, seconds: float) -> None:
        if self._phases:
            self._phases.pop()
        if phase == "DataWait":
            self._data_wait += seconds  # goes out with the next step: it may happen every step
        else:
            self._send_state({"type": "state", "phase": self._phase()}, self._clock())

    def should_stop(self) -> bool:
        if not self._listening:
            self._listening = self._send({"type": "listening"})
        self._receive()
        return self._stop

    def stops(self) -> None:
        """It will save what it has now: the launcher counts no checkpoint of an earlier step."""
        if self._stop and not self._heard:
            if self._unsent is not None:
                self._send_step(*self._unsent, self._clock())
            self._heard = self._send({"type": "heard"})

    def stopping(self) -> bool:
        return self._stop and self._heard

    def interval(self) -> float | None:
        self._receive()  # without "listening": who asks this need not ask should_stop()
        return self._interval

    def committed(self, step: int, path: str, size: int, engine: dict | None = None) -> None:
        if self._unsent is not None:  # a checkpoint is never ahead of the steps that are known
            self._send_step(*self._unsent, self._clock())
        known = {name: engine[name] for name in ENGINE_FIELDS if name in (engine or {})}
        self._send({"type": "committed", "step": int(step), "path": str(path)[:TEXT_MAX],
                    "bytes": int(size), **known})

    def failed(self, message: str) -> None:
        self._send({"type": "failed", "message": str(message)[:TEXT_MAX]})

    def save_failed(self, total: int, message: str) -> None:
        self._send({"type": "saveFailed", "failedSaves": int(total),
                    "message": str(message)[:TEXT_MAX]})

    def _phase(self) -> str:
        return next((p for p in reversed(self._phases) if p != "DataWait"), "Train")

    def _send_state(self, message: dict, now: float) -> None:
        if self._data_wait > 0:
            message["dataWait"] = round(self._data_wait, 6)
        if self._send(message):
            self._sent_at, self._data_wait = now, 0.0

    def _send(self, message: dict) -> bool:
        with self._lock:
            connection = self._connection()
            if connection is None:
                return False
            try:
                connection.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            except (OSError, ValueError, TypeError):
                # If the launcher does not read, half a line may be out, so nothing can follow it.
                self._close()
                return False
            return True

    def _receive(self) -> None:
        with self._lock:
            connection = self._connection()
            if connection is None:
                return
            try:
                self._received += connection.recv(RECEIVE_MAX)
            except BlockingIOError:
                return
            except OSError:
                self._close()
                return
            *lines, self._received = self._received.split(b"\n")
            self._received = self._received[-RECEIVE_MAX:]
            for line in lines:
                self._hear(line)

    def _hear(self, line: bytes) -> None:
        if b'"stop"' in line:
            self._stop, self._heard = True, False
        elif b'"continue"' in line:
            self._stop = False
        elif b'"interval"' in line:
            self._interval = launcher_lines.seconds(line) or self._interval

    def _connection(self) -> socket.socket | None:
        if not self._path:
            return None
        if self._pid != os.getpid():  # the first call, or a fork: a child has its own
            self._pid = os.getpid()
            self._listening = self._heard = False
            self._received = b""
            self._open()
        return self._socket

    def _open(self) -> None:
        self._socket = None
        try:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
            connection.setblocking(False)
            address = "\0" + self._path[1:] if self._path.startswith("@") else self._path
            connection.connect(address)
            hello = {"type": "hello", "pid": self._pid,
                     "localRank": launcher_lines.rank("LOCAL_RANK"),
                     "rank": launcher_lines.rank("RANK")}
            connection.sendall(json.dumps(hello).encode() + b"\n")
            self._socket = connection
        except (OSError, ValueError):
            self._path = None

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket, self._path = None, None


class phase:  # noqa: N801: reads as a statement
    """``with phase("Eval"):`` gives the time inside to one of PHASES; others do nothing."""

    def __init__(self, name: str) -> None:
        self._name = name if name in PHASES else None
        self._since = 0.0

    def __enter__(self) -> "phase":
        if self._name:
            self._since = time.monotonic()
            _quietly(_launcher.enter, self._name)
        return self

    def __exit__(self, *_: object) -> None:
        if self._name:
            _quietly(_launcher.leave, self._name, time.monotonic() - self._since)


def step(n: int, total: int | None = None, **metrics: float) -> None:
    """Step n is done, of total; metrics are numbers worth showing, at most 8."""
    _quietly(_launcher.step, n, total, metrics)


def should_stop(ready: Callable[[], object] | None = None) -> bool:
    """Whether to save, say committed() and end: yes on all ranks once one was asked to.

    Cheap; every rank asks at every step. Raises TimeoutError if rank 0 has not for half an hour.
    ready: gives None, or raises if this rank cannot go on: then the others raise CheckpointError.
    """
    asked = bool(_quietly(_launcher.should_stop))
    stop = _stop.ask(lambda: asked if ready is None else ready() or asked)
    if stop:  # not before all ranks agree: until then they make steps, and their usual checkpoints
        _quietly(_launcher.stops)
    return stop


def stopping() -> bool:
    """Whether should_stop() has said yes in this process, and nobody has taken it back."""
    return bool(_quietly(_launcher.stopping))


def checkpoint_interval() -> float | None:
    """How often to save, in seconds, as the operator said last; nothing: it has not said anything
    since this process began. `amdahl.checkpoint.due()` goes by it."""
    return _quietly(_launcher.interval)


def committed(step: int, path: str, bytes: int = 0,  # noqa: A002
              engine: dict | None = None) -> None:
    """A checkpoint of this step is complete and can be read back from path.

    It counts what step() counts: a pause waits for a checkpoint of the last step. The interval of
    `amdahl.checkpoint.due()` begins again. engine: what a checkpoint engine knows of it, see
    ENGINE_FIELDS.
    """
    _quietly(_launcher.committed, step, path, bytes, engine)
    if engine is None:  # an engine has noted its save when it was copied
        _quietly(_note_save)


def failed(message: str) -> None:
    """The checkpoint that should_stop() asked for could not be written."""
    _quietly(_launcher.failed, message)


def save_failed(total: int, message: str) -> None:
    """A checkpoint could not be written, the total-th; training goes on."""
    _quietly(_launcher.save_failed, total, message)


def exit_paused() -> NoReturn:
    """Ends this process for a pause, after committed(): with EXIT_PAUSED, by SystemExit.

    Under torchrun with 0, because it takes anything else for a failed worker.
    """
    raise SystemExit(0 if os.environ.get("TORCHELASTIC_RUN_ID") else EXIT_PAUSED)


def _note_save() -> None:
    """For due(), if the script asks that: it is in a module that imports this one."""
    cadence = sys.modules.get("amdahl.checkpoint.cadence")
    if cadence is not None:
        cadence.SAVES.note()


def _quietly(call, *arguments):
    """A bug in here costs a report, never a training run."""
    try:
        return call(*arguments)
    except Exception:  # noqa: BLE001
        return None


_launcher = Launcher(os.environ.get("AMDAHL_SOCKET"))
_stop = agreement.Question("should_stop", any_rank=True, lasting=True)
