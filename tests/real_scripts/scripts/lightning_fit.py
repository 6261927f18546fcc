"""A LightningModule and Trainer.fit, with Lightning's default output."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regressor(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


torch.set_num_threads(1)
L.seed_everything(42)
x = torch.randn(320, 8)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16)
trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False)
trainer.fit(Regressor(), loader)
