"""Train a small BERT with the Hugging Face Trainer, evaluate and save often: `trainer.py [--save-steps N] [--eval-steps N]`."""
import argparse

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--save-steps", type=int, default=10)
parser.add_argument("--eval-steps", type=int, default=10)
parser.add_argument("--max-steps", type=int, default=40)
parser.add_argument("--output", default="results")
args = parser.parse_args()


class TextDataset(torch.utils.data.Dataset):
    """Sentences of random words; those of class 1 use more of the second half of the vocabulary."""

    def __init__(self, count, seed, words=30522, length=64):
        generator = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(2, (count,), generator=generator)
        self.words = (torch.rand((count, length), generator=generator) ** (1.5 - self.labels[:, None]) * words).long()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        return {"input_ids": self.words[idx], "attention_mask": torch.ones_like(self.words[idx]), "labels": self.labels[idx]}


model = BertForSequenceClassification(
    BertConfig(hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024, num_labels=2))
training_args = TrainingArguments(
    output_dir=args.output,
    per_device_train_batch_size=8,
    per_device_eval_batch_size=64,
    learning_rate=5e-5,
    max_steps=args.max_steps,
    logging_steps=10,
    eval_strategy="steps",
    eval_steps=args.eval_steps,
    save_strategy="steps",
    save_steps=args.save_steps,
    save_total_limit=2,
)
trainer = Trainer(model=model, args=training_args, train_dataset=TextDataset(8000, 1), eval_dataset=TextDataset(256, 2))
trainer.train()
