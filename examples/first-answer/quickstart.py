"""The training loop of PyTorch's quickstart with the `CustomImageDataset` of its data tutorial, as both are: `quickstart.py FOLDER [--workers N]`."""
import argparse
import csv
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset
from torchvision.io import decode_image

parser = argparse.ArgumentParser()
parser.add_argument("folder", help="from fashion_images.py FOLDER")
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--epochs", type=int, default=2)
args = parser.parse_args()


class CustomImageDataset(Dataset):
    def __init__(self, annotations_file, img_dir):
        self.img_labels = list(csv.reader(open(annotations_file)))
        self.img_dir = img_dir

    def __len__(self):
        return len(self.img_labels)

    def __getitem__(self, idx):
        image = decode_image(os.path.join(self.img_dir, self.img_labels[idx][0]))
        return image.float() / 255, int(self.img_labels[idx][1])


data = CustomImageDataset(os.path.join(args.folder, "labels.csv"), args.folder)
training_data, test_data = Subset(data, range(len(data) * 9 // 10)), Subset(data, range(len(data) * 9 // 10, len(data)))
train_dataloader = DataLoader(training_data, batch_size=64, shuffle=True, num_workers=args.workers)
test_dataloader = DataLoader(test_data, batch_size=64, num_workers=args.workers)
model = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)


def train(dataloader):
    size = len(dataloader.dataset)
    model.train()
    for batch, (X, y) in enumerate(dataloader):
        loss = loss_fn(model(X), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if batch % 100 == 0:
            loss, current = loss.item(), (batch + 1) * len(X)
            print(f"loss: {loss:>7f}  [{current:>5d}/{size:>5d}]")


def test(dataloader):
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for X, y in dataloader:
            pred = model(X)
            test_loss += loss_fn(pred, y).item() / len(dataloader)
            correct += (pred.argmax(1) == y).type(torch.float).sum().item() / len(dataloader.dataset)
    print(f"Test Error: \n Accuracy: {(100 * correct):>0.1f}%, Avg loss: {test_loss:>8f} \n")


for t in range(args.epochs):
    print(f"Epoch {t + 1}\n-------------------------------")
    train(train_dataloader)
    test(test_dataloader)
print("Done!")
