"""Writes a model of a few kilobytes and a task of its own for lm-eval, so that it runs offline.

usage: lm_eval_tiny.py FOLDER [QUESTIONS]

Needs torch and transformers. Afterwards: examples/local-lm-eval.yaml. The model knows nothing: its
accuracy is that of guessing.
"""

import json
import random
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

DIGITS = [str(digit) for digit in range(10)]
WORDS = ["[UNK]", "<end>", "plus", "is", "?", *DIGITS]

TASK = """\
task: tiny_mc
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
doc_to_choice: "{{{{choices}}}}"
metric_list:
- {{metric: acc, aggregation: mean, higher_is_better: true}}
metadata: {{version: 1}}
"""


def write_model(folder: Path) -> None:
    torch.manual_seed(0)
    vocabulary = {word: index for index, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", eos_token="<end>",
                            pad_token="<end>").save_pretrained(folder)
    config = GPT2Config(n_layer=1, n_head=1, n_embd=8, n_positions=16, vocab_size=len(WORDS),
                        bos_token_id=1, eos_token_id=1)
    GPT2LMHeadModel(config).save_pretrained(folder)


def write_task(folder: Path, questions: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(0)
    data = folder / "tiny_mc.jsonl"
    with open(data, "w", encoding="utf-8") as file:
        for _ in range(questions):
            first, second = chance.randrange(5), chance.randrange(5)
            wrong = chance.choice([n for n in range(10) if n != first + second])
            choices = [str(first + second), str(wrong)]
            chance.shuffle(choices)
            file.write(json.dumps({"question": f"{first} plus {second} is", "choices": choices,
                                   "answer": choices.index(str(first + second))}) + "\n")
    (folder / "tiny_mc.yaml").write_text(TASK.format(data=data), encoding="utf-8")


if __name__ == "__main__":
    where = Path(sys.argv[1]).resolve()
    write_model(where / "model")
    write_task(where / "tasks", int(sys.argv[2]) if len(sys.argv) > 2 else 200)
