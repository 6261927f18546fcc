"""Lightning on several processes that torchrun has started."""

import argparse
import os
import tempfile

import lightning
import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=400)
parser.add_argument("--out", default="/tmp/model.ckpt", help="where the finished model goes")
steps, out = parser.parse_args().steps, parser.parse_args().out
torch.set_num_threads(1)
lightning.seed_everything(5, verbose=False)


class Module(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.Dropout(0.1), nn.Linear(32, 2))

    def training_step(self, batch, _):
        loss = (self.body(batch) - batch[:, :2]).pow(2).mean()
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.003)


model = Module()
loader = torch.utils.data.DataLoader(torch.randn(512, 8), batch_size=4, shuffle=True)
nodes, folder = int(os.environ.get("AMDAHL_NODES", "1")), tempfile.mkdtemp(prefix="lightning-")
# [recipe]
from amdahl.checkpoint import hooks  # noqa: E402

trainer = lightning.Trainer(max_steps=steps, accelerator="cpu", num_nodes=nodes,
                            devices=int(os.environ.get("LOCAL_WORLD_SIZE", "1")), strategy="ddp",
                            callbacks=[hooks.LightningCallback()], enable_checkpointing=False,
                            logger=False, enable_progress_bar=False)
trainer.fit(model, loader, ckpt_path=hooks.restore_lightning(folder))
trainer.save_checkpoint(out)                  # not reached after a pause: the callback ends it
# [end]
