"""The callbacks: by stand-ins that call them as the frameworks do, and by the frameworks where they
are installed (`make frameworks`, run_with_frameworks.py)."""

import dataclasses
import importlib.util
import pathlib
import random
import sys
import types
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from amdahl import checkpoint, job  # noqa: E402
from amdahl.checkpoint import cadence, hooks  # noqa: E402
from states import LibraryCase  # noqa: E402

torch, transformers, lightning = (
    importlib.import_module(name) if importlib.util.find_spec(name) else None
    for name in ("torch", "transformers", "lightning"))


class Case(LibraryCase):
    def open(self, **options) -> checkpoint.Checkpointer:
        return super().open(keepLast=100, **options)

    def stop_at(self, step: int):
        """The launcher asks to stop once so many steps were asked about."""
        asked = iter(range(1, 1_000_000))
        return mock.patch.object(cadence, "asked_to_stop", lambda: next(asked) >= step)


class Cadences(unittest.TestCase):
    def test_the_interval_is_the_operators(self):
        for text, seconds in (("30", 30.0), ("0.5", 0.5), ("", 600.0), ("x", 600.0), ("0", 600.0),
                              ("-3", 600.0), ("nan", 600.0), ("inf", 600.0)):
            with mock.patch.dict("os.environ", {cadence.INTERVAL_VARIABLE: text}):
                self.assertEqual(cadence.Cadence().seconds, seconds, text)


@dataclasses.dataclass
class FakeTrainerState:
    global_step: int = 0
    max_steps: int = 20
    log_history: list = dataclasses.field(default_factory=list)


class Holding:
    def __init__(self, **values):
        self.values = values

    def state_dict(self) -> dict:
        return dict(self.values)


def fake_huggingface(callback, steps: int = 20) -> int:
    """The order of calls of transformers.Trainer; the step it ended at."""
    state, control = FakeTrainerState(), types.SimpleNamespace(should_training_stop=False)
    model, optimizer = Holding(w=0), Holding(lr=0.1)
    having = {"model": model, "optimizer": optimizer, "lr_scheduler": None, "tokenizer": None}
    for event in ("on_init_end", "on_train_begin", "on_epoch_begin"):
        getattr(callback, event)(None, state, control, **having)
    while state.global_step < steps and not control.should_training_stop:
        callback.on_step_begin(None, state, control, **having)
        model.values["w"] += 1
        state.global_step += 1
        callback.on_step_end(None, state, control, **having)
        callback.checkpointer.wait()  # steps take no time here, and saves would be skipped
    for event in ("on_epoch_end", "on_train_end"):
        getattr(callback, event)(None, state, control, **having)
    return state.global_step


class WithFakes(Case):
    @mock.patch.object(cadence, "BETWEEN_SECONDS_MIN", 0.0)
    def test_saves_every_so_many_steps_and_at_the_end_all_are_committed(self):
        mine = self.open()
        self.assertEqual(fake_huggingface(hooks.HuggingFaceCallback(mine, 1e9, every_steps=6)), 20)
        self.assertEqual([one["step"] for one in mine.list()], [18, 12, 6])
        self.assertEqual(mine.load().state["model"], {"w": 18})

    def test_saves_when_the_interval_is_over(self):
        mine = self.open()
        callback = hooks.HuggingFaceCallback(mine, interval=100)
        due = mock.Mock(side_effect=[False, False, True])
        with mock.patch.object(callback._cadence, "due", due):  # noqa: SLF001
            fake_huggingface(callback, steps=3)
        self.assertEqual([one["step"] for one in mine.list()], [3])

    # promises: D7
    def test_a_stop_saves_waits_and_ends_the_process(self):
        for step, torchrun, code in ((7, "", job.EXIT_PAUSED), (8, "run", 0)):
            mine = self.open()
            with mock.patch.dict("os.environ", {"TORCHELASTIC_RUN_ID": torchrun}), \
                    self.stop_at(step), self.assertRaises(SystemExit) as ended:
                fake_huggingface(hooks.HuggingFaceCallback(mine, 1e9))
            self.assertEqual(ended.exception.code, code)
            self.assertEqual(mine.status()["committedStep"], step)

    # promises: D7
    def test_a_stop_ends_the_loop_alone_if_the_script_asks_for_that(self):
        mine = self.open()
        callback = hooks.HuggingFaceCallback(mine, 1e9, exit_on_pause=False)
        self.assertFalse(callback.paused)
        with self.stop_at(7):
            self.assertEqual(fake_huggingface(callback), 7)
        self.assertTrue(callback.paused)
        self.assertEqual(mine.status()["committedStep"], 7)
        state = mine.load().state
        self.assertEqual((state["model"], state["optimizer"]), ({"w": 7}, {"lr": 0.1}))

    def test_a_stop_at_a_step_that_is_saved_already_only_waits(self):
        mine = self.open()
        callback = hooks.HuggingFaceCallback(mine, 1e9, exit_on_pause=False)
        state = mock.Mock(return_value={"w": 1})
        due = mock.Mock(side_effect=[True, False])
        with mock.patch.object(callback._cadence, "asked", due), \
                mock.patch.object(cadence, "asked_to_stop", side_effect=[False, True]):
            self.assertFalse(callback._after_step(3, state))  # noqa: SLF001
            self.assertTrue(callback._after_step(3, state))  # noqa: SLF001
        state.assert_called_once()
        self.assertEqual(mine.status()["committedStep"], 3)

    # promises: D2
    def test_a_stop_that_cannot_be_saved_is_told_and_training_goes_on(self):
        other = self.open(job_uid="one")
        other.save({}, 1)
        other.wait()
        mine = checkpoint.Checkpointer(self.uri, job_uid="two")
        callback = hooks.HuggingFaceCallback(mine, 1e9)
        states = [mock.Mock(return_value={"w": n}) for n in range(2, 9)]
        with mock.patch.object(cadence, "asked_to_stop", return_value=True), \
                mock.patch("amdahl.job.failed") as failed, \
                mock.patch("amdahl.job.save_failed") as told:
            for n, state in enumerate(states, start=2):
                self.assertFalse(callback._after_step(n, state))  # noqa: SLF001
        failed.assert_called_once()  # and not at every step that follows
        self.assertIn("belongs to", failed.call_args.args[0])
        self.assertEqual(told.call_args.args[0], 1)
        self.assertIn("belongs to", told.call_args.args[1])
        mine._session.close()  # noqa: SLF001: close() would raise it again

    # promises: D2
    def test_a_second_stop_is_tried_at_once_though_the_first_was_refused(self):
        mine = self.open()
        callback = hooks.HuggingFaceCallback(mine, 1e9, exit_on_pause=False)
        full, really = checkpoint.CheckpointError("unavailable", "disk full"), mine.save
        tried = iter([mock.Mock(side_effect=full), really])
        with mock.patch.object(cadence, "asked_to_stop", side_effect=[True, True, False, True]), \
                mock.patch.object(mine, "save", lambda *a, **b: next(tried)(*a, **b)), \
                mock.patch("amdahl.job.failed") as failed:
            paused = [callback._after_step(n, dict) for n in range(4)]  # noqa: SLF001
        self.assertEqual(paused, [False, False, False, True])
        self.assertEqual((list(tried), failed.call_count), ([], 1))

    def test_other_hooks_do_nothing_and_other_names_are_errors(self):
        callback = hooks.LightningCallback(self.open())
        self.assertIsNone(callback.on_something_new(1, two=3))
        self.assertIsNone(callback.setup(None, None, "fit"))
        with self.assertRaises(AttributeError):
            callback.no_such_thing  # noqa: B018

    def test_lightning_stops_through_the_trainer(self):
        mine = self.open()
        dump = {"state_dict": {"w": 5}, "loops": {"batch": 3}}
        connector = types.SimpleNamespace(dump_checkpoint=lambda weights_only: dump)
        trainer = types.SimpleNamespace(global_step=0, max_steps=-1, should_stop=False,
                                        _checkpoint_connector=connector)
        callback = hooks.LightningCallback(mine, 1e9, exit_on_pause=False)
        with self.stop_at(4):
            while not trainer.should_stop:
                callback.on_train_batch_start(trainer, None, None, 0)
                trainer.global_step += 1
                callback.on_train_batch_end(trainer, None, None, None, 0)
        self.assertEqual((trainer.global_step, mine.status()["committedStep"]), (4, 4))
        self.assertEqual(mine.load().state["checkpoint"], dump)

    def test_generators_go_on_where_they_were(self):
        mine = self.open()
        state = hooks.rng_state()
        mine.save({"rng": state}, 1)
        mine.wait()
        wanted = [random.random() for _ in range(5)]
        hooks.set_rng_state(mine.load().state["rng"])
        self.assertEqual([random.random() for _ in range(5)], wanted)

    @unittest.skipIf(torch is None, "no torch")
    def test_nothing_to_restore_is_nothing_and_another_kind_is_refused(self):
        mine = self.open()
        self.assertIsNone(hooks.restore_huggingface(self.folder, mine))
        fake_huggingface(hooks.HuggingFaceCallback(mine, 1e9, every_steps=10))
        with self.assertRaisesRegex(checkpoint.CheckpointError, "saved by huggingface, not by"):
            hooks.restore_lightning(self.folder, mine)

    @unittest.skipIf(torch is None, "no torch")
    def test_a_rank_gets_the_model_of_rank_0_and_generators_of_its_own(self):
        ranks = [self.open(rank=n, world_size=2, attempt="x") for n in range(2)]
        random.seed(5)
        for one in reversed(ranks):
            shared = hooks.HuggingFaceCallback(one, 1e9)._shared  # noqa: SLF001
            one.save(shared(lambda: {"kind": "huggingface", "model": {"w": 1}}), 1)
            wanted = random.random()  # of rank 0 at the end, of rank 1 first
            if one.rank == 1:
                own = wanted
        for one in ranks:
            one.wait()
        _, state, rng, rank, _ = hooks._load("huggingface", ranks[1])  # noqa: SLF001
        self.assertEqual((state["model"], rank), ({"w": 1}, 1))
        hooks.set_rng_state(rng)
        self.assertEqual(random.random(), own)


def tiny_data() -> list:
    torch.manual_seed(3)
    return [{"x": torch.randn(8), "labels": torch.randn(2)} for _ in range(40)]


@unittest.skipIf(transformers is None, "transformers is not installed")
class RealTrainer(Case):
    def train(self, callback=None, resume: str | None = None):
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.body = torch.nn.Linear(8, 2)
                self.dropout = torch.nn.Dropout(0.3)

            def forward(self, x, labels):
                logits = self.body(self.dropout(x))
                return {"loss": (logits - labels).pow(2).mean(), "logits": logits}

        transformers.set_seed(11)
        args = transformers.TrainingArguments(
            output_dir=self.folder + "/out", num_train_epochs=3, save_strategy="no",
            per_device_train_batch_size=4, report_to=[], use_cpu=True, disable_tqdm=True,
            logging_steps=5, learning_rate=0.01)
        trainer = transformers.Trainer(model=Model(), args=args, train_dataset=tiny_data(),
                                       callbacks=[callback] if callback else [])
        trainer.train(resume_from_checkpoint=resume)
        return trainer

    def test_stopped_and_resumed_it_ends_with_the_same_bits(self):
        whole = self.train()
        self.assertEqual(whole.state.global_step, 30)
        with self.stop_at(13):
            stopped = self.train(
                hooks.HuggingFaceCallback(self.open(), 1e9, exit_on_pause=False))
        self.assertEqual(stopped.state.global_step, 13)
        path = hooks.restore_huggingface(self.folder + "/resume", self.open())
        resumed = self.train(hooks.HuggingFaceCallback(self.open(), 1e9), path)
        self.assertEqual(resumed.state.global_step, 30)
        for name, value in whole.model.state_dict().items():
            self.assertTrue(torch.equal(resumed.model.state_dict()[name], value), name)


@unittest.skipIf(lightning is None, "lightning is not installed")
class RealLightning(Case):
    def fit(self, callback=None, resume: str | None = None):
        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.body = torch.nn.Linear(8, 2)
                self.dropout = torch.nn.Dropout(0.3)

            def training_step(self, batch, _):
                return (self.body(self.dropout(batch["x"])) - batch["labels"]).pow(2).mean()

            def configure_optimizers(self):
                optimizer = torch.optim.AdamW(self.parameters(), lr=0.01)
                return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]

        lightning.seed_everything(11, verbose=False)
        loader = torch.utils.data.DataLoader(tiny_data(), batch_size=4)
        trainer = lightning.Trainer(
            max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, min_epochs=0,
            callbacks=[callback] if callback else [])
        model = Model()
        trainer.fit(model, loader, ckpt_path=resume)
        return trainer, model

    def test_stopped_and_resumed_it_ends_with_the_same_bits(self):
        whole, model = self.fit()
        self.assertEqual(whole.global_step, 30)
        with self.stop_at(10):  # the end of an epoch: loaders begin anew there
            stopped, _ = self.fit(
                hooks.LightningCallback(self.open(), 1e9, exit_on_pause=False))
        self.assertEqual(stopped.global_step, 10)
        path = hooks.restore_lightning(self.folder + "/resume", self.open())
        resumed, other = self.fit(hooks.LightningCallback(self.open(), 1e9), path)
        self.assertEqual(resumed.global_step, 30)
        for name, value in model.state_dict().items():
            self.assertTrue(torch.equal(other.state_dict()[name], value), name)


if __name__ == "__main__":
    unittest.main()
