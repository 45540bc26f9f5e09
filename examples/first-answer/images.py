"""Classify pictures in folders, as PyTorch's ImageNet example does: `images.py FOLDER [--workers N]`."""
import argparse

import torch
from torch import nn
from torchvision import datasets, models, transforms

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
train_set = datasets.ImageFolder(args.folder, transforms.Compose([
    transforms.RandomResizedCrop(224),
    transforms.RandomHorizontalFlip(),
    transforms.ToTensor(),
    transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
]))
loader = torch.utils.data.DataLoader(train_set, batch_size=args.batch_size, shuffle=True, drop_last=True,
                                     num_workers=args.workers, pin_memory=True, persistent_workers=args.workers > 0)
model = models.resnet50(num_classes=len(train_set.classes)).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)

step = 0
while step < args.steps:
    for images, target in loader:
        images, target = images.to(device, non_blocking=True), target.to(device, non_blocking=True)
        loss = criterion(model(images), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 10 == 0:
            print(f"Step [{step}/{args.steps}], Loss: {loss.item():.4f}", flush=True)
        if step == args.steps:
            break
