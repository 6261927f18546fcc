"""Hugging Face's Trainer on several processes, with a model that needs no download."""

import argparse
import tempfile

import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=400)
parser.add_argument("--out", default="/tmp/model", help="where the finished model goes")
steps, out = parser.parse_args().steps, parser.parse_args().out
torch.set_num_threads(1)
set_seed(11)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.Dropout(0.1), nn.Linear(32, 2))

    def forward(self, x, labels):
        logits = self.body(x)
        return {"loss": (logits - labels).pow(2).mean(), "logits": logits}


class Data(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return 4096

    def __getitem__(self, at: int) -> dict:
        x = torch.randn(8, generator=torch.Generator().manual_seed(at))
        return {"x": x, "labels": x[:2]}


model, data = Model(), Data()
folder = tempfile.mkdtemp(prefix="trainer-")
# [recipe]
from amdahl.checkpoint import hooks  # noqa: E402

args = TrainingArguments(output_dir=folder, max_steps=steps, save_strategy="no",  # ours are enough
                         per_device_train_batch_size=4, logging_steps=10, report_to=[],
                         use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=data,
                  callbacks=[hooks.HuggingFaceCallback()])
trainer.train(resume_from_checkpoint=hooks.restore_huggingface(folder))
trainer.save_model(out)                       # not reached after a pause: the callback ends it
# [end]
