"""Fine-tuning with Hugging Face's Trainer: a tiny GPT-2 made here, nothing to download."""

import tempfile

import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    Trainer,
    TrainingArguments,
)

torch.set_num_threads(1)
torch.manual_seed(0)
rows = [{"input_ids": (torch.arange(16) + n) % 50} for n in range(160)]


def collate(batch):
    ids = torch.stack([row["input_ids"] for row in batch])
    return {"input_ids": ids, "labels": ids.clone()}


model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=16, n_layer=1, n_head=2))
with tempfile.TemporaryDirectory() as folder:
    training_args = TrainingArguments(output_dir=folder, num_train_epochs=2,
                                      per_device_train_batch_size=4, logging_steps=10,
                                      save_strategy="no", report_to="none", use_cpu=True)
    trainer = Trainer(model=model, args=training_args, train_dataset=rows, data_collator=collate)
    trainer.train()
    trainer.save_model(folder)
