"""Callbacks for Hugging Face's Trainer and for Lightning. Neither is imported: they only have the
methods that these call.

    from amdahl.checkpoint import hooks

    trainer = Trainer(..., callbacks=[hooks.HuggingFaceCallback()])
    trainer.train(resume_from_checkpoint=hooks.restore_huggingface("/tmp/resume"))

    trainer = lightning.Trainer(..., callbacks=[hooks.LightningCallback()])
    trainer.fit(model, ckpt_path=hooks.restore_lightning("/tmp/resume"))

They save when the interval is over (AMDAHL_CHECKPOINT_INTERVAL_SECONDS), at multiples of
`every_steps` (one that comes within a second of the last save is left out), and when the launcher
asks to stop: then the commit is awaited, and the process ends right there, with job.EXIT_PAUSED. So
what a script does after `trainer.train()` is done by a run that is complete, not with half a model.
`exit_on_pause=False` ends the loop only, and `.paused` tells the script. A pause whose save fails
is refused, and training goes on. The frameworks' own saves can be switched off. A restore writes
the files that the framework resumes from, so that it does all of it: data that was seen,
schedulers, scalers. Lightning begins an epoch's data anew unless the loader can resume by itself.
For models that are sharded (FSDP, DeepSpeed) see `dcp` and `capture`.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import sys

from amdahl import job
from amdahl.checkpoint import cadence, library, together
from amdahl.checkpoint.checkpointer import Checkpointer
from amdahl.checkpoint.pauses import Pauses
from amdahl.rank_failure import Tried

PATIENCE_SECONDS = 1800.0
RNG_KEY = "amdahl_rng"


class _Saving:
    """What both callbacks do after a step."""

    def __init__(self, checkpointer: Checkpointer | None = None, interval: float | None = None,
                 every_steps: int = 0, exit_on_pause: bool = True) -> None:
        self.paused = False
        self._exit_on_pause = exit_on_pause
        self._pauses = Pauses()
        self._given = checkpointer
        self._cadence = cadence.Cadence(interval)
        self._every_steps = every_steps
        self._last_step: int | None = None

    @property
    def checkpointer(self) -> Checkpointer:
        """Made when it is first needed: the frameworks start torch.distributed late."""
        if self._given is None:
            from amdahl import checkpoint  # noqa: PLC0415

            self._given = checkpoint.default()
        return self._given

    def _after_step(self, step: int, state) -> bool:
        """Saves what state() gives if it is time to; whether to stop."""
        # Both are asked by every rank at every step, whatever each has saved: one answer for all.
        due, stop = self._cadence.asked(), cadence.asked_to_stop()
        if self._every_steps and step % self._every_steps == 0:
            due = self._cadence.asked_apart() or due
        stop = self._pauses.wanted(stop, lambda: due)
        if stop or (due and step != self._last_step):
            with job.phase("CheckpointSave"):
                self.paused = self._save(step, state, stop)
        else:
            self.checkpointer.report()  # a commit that became complete meanwhile
        if self.paused and self._exit_on_pause:
            print(f"amdahl: paused at step {step}, the process ends here", file=sys.stderr)
            job.exit_paused()
        return self.paused

    def _save(self, step: int, state, stop: bool) -> bool:
        """Whether this is the checkpoint of a pause, and committed."""
        own = self.checkpointer
        # A rank that skipped a save would keep the others waiting for its part.
        patience = PATIENCE_SECONDS if stop or own.world_size > 1 else 0.0

        def save() -> bool:
            if step != self._last_step:
                if not own.save(state(), step, patience=patience):
                    return False
                self._last_step = step
            return True

        if stop:
            return self._pauses.save_and_wait(Tried(lambda: own), step, save)
        save()
        return False

    def _ended(self) -> None:
        """The run is complete, so a checkpoint that failed must not keep it from its last lines."""
        try:
            self.checkpointer.wait(PATIENCE_SECONDS)  # tells the launcher of a failure too
        except library.CheckpointError as error:
            print(f"amdahl: a checkpoint was not committed: {error}", file=sys.stderr, flush=True)

    def _shared(self, state) -> dict:
        """All of it from rank 0, generators from every rank."""
        return {**(state() if self.checkpointer.rank == 0 else {}), "rng": rng_state()}

    def __getattr__(self, name: str):
        # The frameworks call every hook they know, and learn new ones.
        if name.startswith("on_") or name in ("setup", "teardown"):
            return _nothing
        raise AttributeError(f"{type(self).__name__} has no {name}")


def _nothing(*_, **__) -> None:
    return None


class HuggingFaceCallback(_Saving):
    """For transformers.Trainer. Give it `.trainer` too, if gradients are scaled (fp16)."""

    trainer = None

    def on_step_end(self, args, state, control, **having):
        job.step(state.global_step, state.max_steps or None)

        def everything() -> dict:
            return self._shared(lambda: self._state(state, having))

        if self._after_step(state.global_step, everything):
            control.should_training_stop = True
        return control

    def on_train_end(self, args, state, control, **having):
        self._ended()
        return control

    def _state(self, state, having: dict) -> dict:
        saved = {"kind": "huggingface", "model": having["model"].state_dict(),
                 "trainer": json.dumps(dataclasses.asdict(state))}
        for name, key in (("optimizer", "optimizer"), ("lr_scheduler", "scheduler")):
            if having.get(name) is not None:
                saved[key] = having[name].state_dict()
        scaler = getattr(getattr(self.trainer, "accelerator", None), "scaler", None)
        if scaler is not None:
            saved["scaler"] = scaler.state_dict()
        return saved


class LightningCallback(_Saving):
    """For lightning.pytorch.Trainer."""

    state_key = "amdahl.checkpoint.LightningCallback"
    _legacy_state_key = state_key
    _rng = None
    _epoch_ended = False
    _before_batch: int | None = None  # the step

    def on_train_batch_end(self, trainer, module, *_, **__) -> None:
        if trainer.global_step == self._before_batch:
            return  # gradients are accumulated: no step was made
        job.step(trainer.global_step, trainer.max_steps if trainer.max_steps > 0 else None)

        def everything() -> dict:
            # A collective of its own with some strategies: on every rank.
            dump = trainer._checkpoint_connector.dump_checkpoint(weights_only=False)  # noqa: SLF001
            return self._shared(lambda: {"kind": "lightning", "checkpoint": dump})

        if self._after_step(trainer.global_step, everything):
            trainer.should_stop = True

    def on_load_checkpoint(self, trainer, module, checkpoint: dict) -> None:
        self._rng = checkpoint.get(RNG_KEY)
        progress = checkpoint.get("loops", {}).get("fit_loop", {})
        progress = progress.get("epoch_loop.batch_progress", {})
        self._epoch_ended = bool(progress.get("is_last_batch"))

    def on_fit_start(self, trainer, module) -> None:
        # A loader that begins draws from the generators, which is after this and before the first
        # batch. In the run that was saved it did so after the save only if an epoch had ended.
        if self._rng is not None and self._epoch_ended:
            set_rng_state(self._rng)

    def on_train_batch_start(self, trainer, module, *_, **__) -> None:
        self._before_batch = trainer.global_step
        if self._rng is not None and not self._epoch_ended:
            set_rng_state(self._rng)
        self._rng = None

    def on_train_end(self, trainer, module) -> None:
        self._ended()

    def state_dict(self) -> dict:
        return {}

    def load_state_dict(self, state: dict) -> None:
        pass


def rng_state() -> dict:
    """The generators of this process."""
    found = {"python": random.getstate()}
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        found["numpy"] = numpy.random.get_state()
    if torch is not None:
        found["cpu"] = torch.get_rng_state()
        if torch.cuda.is_available():
            found["cuda"] = torch.cuda.get_rng_state()
    return found


def set_rng_state(state: dict) -> None:
    random.setstate(state["python"])
    if "numpy" in state:
        import numpy  # noqa: PLC0415

        kind, keys, *rest = state["numpy"]
        numpy.random.set_state((kind, numpy.asarray(keys, dtype=numpy.uint32), *rest))
    if "cpu" in state:
        import torch  # noqa: PLC0415

        torch.set_rng_state(state["cpu"])
        if "cuda" in state and torch.cuda.is_available():
            torch.cuda.set_rng_state(state["cuda"])


def restore_huggingface(folder: str, checkpointer: Checkpointer | None = None) -> str | None:
    """Writes the newest checkpoint as the Trainer would have; gives its path, or nothing.

    Every rank calls it, and all restore one step: the newest that every rank can read. Each has a
    separate folder below `folder`, so a local disk will do.
    """
    import torch  # noqa: PLC0415

    found = _load("huggingface", checkpointer)
    if found is None:
        return None
    step, state, rng, rank, world = found
    path = os.path.join(folder, f"rank{rank}", f"checkpoint-{step}")
    os.makedirs(path, exist_ok=True)
    torch.save(state["model"], os.path.join(path, "pytorch_model.bin"))
    for name in ("optimizer", "scheduler", "scaler"):
        if name in state:
            torch.save(state[name], os.path.join(path, f"{name}.pt"))
    if rng is not None:
        name = f"rng_state_{rank}.pth" if world > 1 else "rng_state.pth"
        torch.save(rng, os.path.join(path, name))
    with open(os.path.join(path, "trainer_state.json"), "w", encoding="utf-8") as file:
        file.write(state["trainer"])
    return path


def restore_lightning(folder: str, checkpointer: Checkpointer | None = None) -> str | None:
    """Writes the newest checkpoint as a file for ckpt_path; gives its path, or nothing.

    Every rank calls it, and all restore one step: the newest that every rank can read.
    """
    import torch  # noqa: PLC0415

    found = _load("lightning", checkpointer)
    if found is None:
        return None
    step, state, rng, rank, _ = found
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"step-{step}-rank{rank}.ckpt")
    if rng is not None and "numpy" in rng:  # torch.load() trusts no array of numpy
        kind, keys, *rest = rng["numpy"]
        rng["numpy"] = (kind, keys.tolist(), *rest)
    torch.save({**state["checkpoint"], RNG_KEY: rng}, path)
    return path


def _load(kind: str, checkpointer: Checkpointer | None) -> tuple | None:
    """(step, rank 0's state, generators of this rank or None, rank, ranks)"""
    from amdahl import checkpoint  # noqa: PLC0415

    tried = Tried(lambda: checkpointer or checkpoint.default())

    def look(step: int | None, before: int) -> tuple | None:
        mine = tried().load(step, before=before)
        if mine is None or "kind" in mine.state:
            return mine and (mine.step, mine, mine)
        # Another rank than 0, which saved its generators only.
        with Checkpointer(tried().uri, rank=0, world_size=1) as reader:
            return mine.step, mine, reader.load(mine.step)

    with job.phase("CheckpointRestore"):
        loaded = together.newest(f"hooks.restore_{kind}", look, tried)
    if loaded is None:
        return None
    own, (_, mine, shared) = tried(), loaded
    found = shared.state.get("kind") if isinstance(shared.state, dict) else None
    if found != kind:
        raise library.CheckpointError("invalid", f"step {mine.step} in {own.uri} was saved by "
                                      f"{found or 'something else'}, not by {kind}")
    rng = mine.state["rng"] if (mine is not shared or own.rank == 0) else None
    return mine.step, shared.state, rng, own.rank, own.world_size
