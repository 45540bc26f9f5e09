#!/usr/bin/env python3
"""Inception v3 on generated images, for a given time, on the CPU or on a GPU: the same training twice.

  trainscope run --instrument --name on-cpu -- python inception_v3.py --device cpu --seconds 300
  trainscope run --instrument --name on-gpu -- python inception_v3.py --device cuda --seconds 300
  trainscope compare on-cpu on-gpu
"""
import argparse
import time

import torch
import torchvision
from torch.utils.data import DataLoader, Dataset


class GeneratedImages(Dataset):
    """Images whose mean brightness is their class, so that there is something to learn."""

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        label = index % 10
        noise = torch.randn(3, 299, 299, generator=torch.Generator().manual_seed(index))
        return noise + (label - 4.5) / 4.5, label


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], required=True)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(1)
    model = torchvision.models.inception_v3(weights=None, aux_logits=False, init_weights=False, num_classes=10)
    model = model.to(args.device).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loader = DataLoader(GeneratedImages(), args.batch, num_workers=args.workers, pin_memory=args.device == "cuda")
    end = time.monotonic() + args.seconds
    for step, (images, labels) in enumerate(loader, 1):
        images, labels = images.to(args.device, non_blocking=True), labels.to(args.device, non_blocking=True)
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
        if time.monotonic() > end:
            break


if __name__ == "__main__":
    main()
