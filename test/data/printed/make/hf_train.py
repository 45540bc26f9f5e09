"""What the Hugging Face Trainer prints while it trains a tiny network.

  hf_train.py steps|eval|no_tqdm
"""
import sys
import tempfile
import time
import warnings

import torch
import transformers

warnings.filterwarnings("ignore")


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, x, labels):
        time.sleep(0.02)
        logits = self.layer(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def main():
    case = sys.argv[1]
    transformers.set_seed(1)
    data = [{"x": torch.randn(4), "labels": torch.randint(0, 2, ())} for _ in range(160)]
    with tempfile.TemporaryDirectory() as folder:
        options = transformers.TrainingArguments(
            folder, num_train_epochs=2, per_device_train_batch_size=8, logging_steps=10, save_strategy="no",
            report_to=[], use_cpu=True, disable_tqdm=case == "no_tqdm",
            eval_strategy="epoch" if case == "eval" else "no")
        transformers.Trainer(Net(), options, train_dataset=data, eval_dataset=data[:40]).train()


main()
