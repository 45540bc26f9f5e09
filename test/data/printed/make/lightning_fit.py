"""What PyTorch Lightning prints while it trains a tiny network.

  lightning_fit.py tqdm|tqdm_val|rich
"""
import logging
import sys
import time
import warnings

import torch

try:
    import lightning.pytorch as lightning
except ImportError:
    import pytorch_lightning as lightning

warnings.filterwarnings("ignore")


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def loss(self, batch):
        time.sleep(0.02)
        return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

    def training_step(self, batch, index):
        loss = self.loss(batch)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, index):
        self.log("val_loss", self.loss(batch), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def main():
    case = sys.argv[1]
    lightning.seed_everything(1)
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    data = torch.utils.data.TensorDataset(torch.randn(200, 4), torch.randint(0, 2, (200,)))
    loader = torch.utils.data.DataLoader(data, 8)
    part = torch.utils.data.DataLoader(torch.utils.data.Subset(data, range(40)), 8)
    bar = lightning.callbacks.RichProgressBar if case == "rich" else lightning.callbacks.TQDMProgressBar
    trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", logger=False, callbacks=[bar()],
                                enable_checkpointing=False, enable_model_summary=False)
    trainer.fit(Net(), loader, part if case == "tqdm_val" else None)


main()
