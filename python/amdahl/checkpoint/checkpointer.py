"""Saves and loads of one process."""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import secrets
import sys
import warnings
import weakref

from amdahl import job
from amdahl.checkpoint import cadence, library, tree
from amdahl.checkpoint.init_from import InitFrom
from amdahl.checkpoint.reading import Loaded, Reading

CLOSE_SECONDS = 600.0  # a process that ends waits so long for what it has copied


class Checkpointer:
    """Checkpoints below one prefix.

    Every rank calls `save()` with the same step. Of a state that all ranks have alike, rank 0 gives
    all and the others what is theirs alone (generators, data loaders); of a tensor that is cut
    across ranks each gives a `Shard`. `frozen` says of a tensor's name that it does not change:
    it is stored once. What it says is checked by checksum at every save, and never trusted.
    Options are those of checkpoint/engine/session_options.hpp: `keepLast=2, arenaBytes=...`.
    """

    def __init__(self, uri: str | None = None, *, job_uid: str | None = None,
                 rank: int | None = None, world_size: int | None = None,
                 attempt: str | None = None, frozen=None, **options) -> None:
        env = os.environ
        of_job = env.get("AMDAHL_CHECKPOINT_URI")
        uri = uri or of_job
        if not uri:
            raise ValueError("no checkpoint URI; pass uri= or set AMDAHL_CHECKPOINT_URI")
        self.uri = os.path.abspath(uri) if "://" not in uri else uri
        own = uri == of_job and bool(env.get("AMDAHL_JOB_UID")) and job_uid is None
        self.rank = _number(rank, "RANK", 0)
        self.world_size = _number(world_size, "WORLD_SIZE", 1)
        given = {"uri": self.uri, "rank": self.rank, "worldSize": self.world_size,
                 "jobUid": job_uid or env.get("AMDAHL_JOB_UID") or "local",
                 "attempt": attempt or self._attempt(),
                 "job": env.get("AMDAHL_JOB", ""),
                 "imageDigest": env.get("AMDAHL_IMAGE_DIGEST", ""),
                 "signingKeyFile": env.get("AMDAHL_CHECKPOINT_SIGNING_KEY", ""),
                 "trustedKeysFile": env.get("AMDAHL_CHECKPOINT_TRUSTED_KEYS", "")}
        if env.get("AMDAHL_ARENA_PATH"):
            given["arenaPath"] = env["AMDAHL_ARENA_PATH"]
        if own:
            given["ownPrefix"] = 1
        given.update(json.loads(env.get("AMDAHL_CHECKPOINT_RETENTION") or "{}"))
        given.update({key: int(value) if isinstance(value, bool) else value
                      for key, value in options.items()})
        self._session = library.Session({key: v for key, v in given.items() if v != ""})
        self._read = self._session  # what open_step() has opened
        self._initial = InitFrom(env.get("AMDAHL_CHECKPOINT_INIT_FROM", ""), given) if own else None
        self._frozen = _predicate(frozen)
        self._described: list | None = None
        self._known: dict = {}  # of the last save: tree.Flattener
        self._reported: int | None = None
        self._failures = 0  # that were reported
        self._pid = os.getpid()
        atexit.register(_close, weakref.ref(self))

    def save(self, state: object, step: int, *, metrics: dict | None = None,
             patience: float = 0.0) -> bool:
        """Copies the state and returns; False: skipped, earlier saves are still being written."""
        prefix = f"rank{self.rank}/" if self.rank else ""
        flat = tree.Flattener(prefix, self._frozen, self._known)
        values = flat.value(state, "")
        self._known = flat.known
        return self.save_tensors(flat.specs, flat.addresses, values, step, metrics=metrics,
                                 patience=patience)

    def save_tensors(self, specs: list, addresses: list, state: object, step: int,
                     *, metrics: dict | None = None, patience: float = 0.0) -> bool:
        """save() of what is described already: memory at addresses, and a state as JSON."""
        self._check_process()
        if specs != self._described:
            self._session.done("describe", json.dumps(specs, ensure_ascii=False).encode())
            self._described = specs
        values = {str(name): repr(float(value)) for name, value in (metrics or {}).items()}
        places = library.addresses(addresses)
        request = library.SaveRequest(
            step=int(step), state=json.dumps(state, ensure_ascii=False).encode(),
            metrics=json.dumps(values).encode(), patience_ms=int(patience * 1000),
            tensors=ctypes.addressof(places), count=len(addresses))
        try:
            self._session.done("save", request)
        except library.CheckpointError as error:
            if error.code != "throttled":
                raise
            return False
        finally:
            self.report()
        cadence.SAVES.note()
        return True

    def wait(self, seconds: float = 1800.0) -> None:
        """Until all saves so far are committed; raises if the newest could not be."""
        self._done_and_reported("wait", seconds)
        # A commit that was told before the pause was heard counts for it from now on.
        self.report(again=job.stopping())

    def settle(self, seconds: float = 1800.0) -> None:
        """wait(), and until the checkpoints that are no longer kept are gone."""
        self._done_and_reported("settle", seconds)

    def _done_and_reported(self, what: str, seconds: float) -> None:
        self._check_process()
        try:
            self._session.done(what, int(seconds * 1000))
        finally:
            self.report()

    def load(self, step: int | None = None, *, into: object = None, as_numpy: bool = False,
             slices: dict | None = None, before: int = -1) -> Loaded | None:
        """A step, or the newest that is sound (before another); nothing when there is none.

        A job that has none itself starts from its `checkpoint.initFrom`: `Loaded.init_from` then
        says where the state is from.
        A rank gets the state that it saved, or that of rank 0 if it saved none; `Loaded.own` says
        which. Tensors of `into` are filled in place if they lie on the CPU and have no gaps, which
        needs no memory and is faster; after an error they hold anything. `slices` has for names of
        tensors (offset, shape) of the part that is wanted; others are loaded whole.
        """
        self._check_process()
        reading = Reading(self.rank, as_numpy, slices or {}, into)
        passed: list = []
        while True:
            found = self.open_step(step, before)
            if found is None:
                if passed:
                    raise library.CheckpointError("corrupt", f"no checkpoint loads: {passed}")
                return None
            passed += found["passedOver"]
            try:
                return self._loaded(found, passed, reading)
            except library.CheckpointError as error:
                if step is not None or error.code not in ("corrupt", "not_found"):
                    raise
                passed.append({"step": found["step"], "why": str(error)})
                warnings.warn(f"checkpoint of step {found['step']} is damaged: {error}",
                              RuntimeWarning, stacklevel=2)
                before = found["step"]

    def _loaded(self, found: dict, passed: list, reading: Reading) -> Loaded:
        state = found.get("rankState")
        own = state is not None or self.rank == 0
        state = found["state"] if state is None else state
        wanted, loaded, places = reading.plan(found["tensors"], tree.tensor_names(state))
        self.read_tensors(wanted, places)
        return Loaded(step=found["step"], state=tree.restored(state, loaded),
                      metrics={k: float(v) for k, v in found["metrics"].items()},
                      passed_over=passed,
                      init_from=None if self._read is self._session else self._initial.text,
                      own=own)

    def open_step(self, step: int | None = None, before: int = -1) -> dict | None:
        """What is known of a step, or of the newest (before another); for `read_tensors()`."""
        self._check_process()
        self._read = self._session
        if self._initial and self._session.text("open_step", -1, -1) is None:
            self._read = self._initial.session()
            return self._initial.open_step(step, before)
        return self._session.text("open_step", -1 if step is None else step, before)

    def read_tensors(self, wanted: list | None, places: list) -> None:
        """Slices of the step that is open, to addresses; every byte that is read is verified.

        Without slices: all its tensors, whole, in their order; None stands for one that is not
        wanted.
        """
        described = None if wanted is None else json.dumps(wanted, ensure_ascii=False).encode()
        self._read.done("load", described, library.addresses(places), len(places))

    def status(self) -> dict:
        return self._session.text("status")

    def list(self) -> list:
        """Committed checkpoints, newest first."""
        return self._session.text("list")

    def verify(self, step: int) -> dict:
        """Reads every chunk of a checkpoint; "bad" has what is damaged."""
        return self._session.text("verify", step)

    def collect(self, dry_run: bool = True) -> dict:
        """What retention would delete, or has deleted."""
        return self._session.text("collect", int(dry_run))

    def export(self, step: int, path: str) -> None:
        """All tensors, whole, as one safetensors file."""
        self._session.done("export", step, os.fsencode(path))

    def pin(self, step: int, pinned: bool = True) -> None:
        self._session.done("pin", step, int(pinned))

    def report(self, *, again: bool = False) -> None:
        """Tells the launcher of news (`again`: of the last commit anyway); one process per node."""
        if self.rank and os.environ.get("LOCAL_RANK", "") != "0":
            return
        status = self.status()
        if status["failures"] > self._failures:
            self._failures = status["failures"]
            job.save_failed(self._failures, status.get("lastError", ""))
        step = status.get("committedStep")
        if step is not None and (again or step != self._reported):
            self._reported = step
            job.committed(step, self.uri, status["committedBytes"], engine=_engine_words(status))

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Waits for what is under way, then lets go of memory and threads."""
        if self._pid != os.getpid() or not self._session.is_open:
            return
        try:
            self.settle(seconds)
        finally:
            self._session.close()
            if self._initial:
                self._initial.close()

    def __enter__(self) -> "Checkpointer":
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.close()

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            raise library.CheckpointError("invalid", "made by another process: after a fork, make "
                                          "a Checkpointer of its own")

    def _attempt(self) -> str:
        """One id for all ranks of this start, which is how they agree on the names of a save."""
        if self.world_size == 1:
            return secrets.token_hex(16)
        env = os.environ
        again = env.get("TORCHELASTIC_RESTART_COUNT", "0")  # torchrun's, within one attempt of ours
        if env.get("AMDAHL_ATTEMPT_ID"):
            return f"{env['AMDAHL_ATTEMPT_ID']}/{again}"
        if env.get("AMDAHL_JOB_UID") and env.get("AMDAHL_ATTEMPT"):  # both the operator's
            return f"{env['AMDAHL_JOB_UID']}/{env['AMDAHL_ATTEMPT']}/{again}"
        torch = sys.modules.get("torch")
        if torch is None or not torch.distributed.is_initialized():
            raise ValueError("several ranks need one attempt id: set AMDAHL_ATTEMPT_ID to the same "
                             "random text on all, or initialise torch.distributed before")
        shared = [secrets.token_hex(16)]
        torch.distributed.broadcast_object_list(shared, src=0)
        return shared[0]


def _engine_words(status: dict) -> dict:
    """What stands in status.checkpoint of the job."""
    words = {"manifestDigest": f"sha256:{status['committedSha256']}",
             "stallSeconds": status["stallSeconds"],
             "uploadLagSeconds": status["uploadSeconds"] + status["commitSeconds"],
             "failedSaves": status["failures"], "orphansCollected": status["objectsRemoved"]}
    if "pauseSeconds" in status:
        words["predictedPauseSeconds"] = status["pauseSeconds"]
    return words


def _number(given: int | None, variable: str, otherwise: int) -> int:
    if given is not None:
        return given
    text = os.environ.get(variable, "")
    return int(text) if text.isdecimal() else otherwise


def _predicate(frozen):
    if frozen is None:
        return lambda name: False
    if callable(frozen):
        return frozen
    names = frozenset(frozen)
    return lambda name: name in names


def _close(reference) -> None:
    checkpointer = reference()
    try:
        if checkpointer is not None:
            checkpointer.close()
    except library.CheckpointError as error:
        print(f"amdahl: a checkpoint was not committed: {error}", file=sys.stderr)
