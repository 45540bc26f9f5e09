#!/usr/bin/env python3
"""A small convolutional network on Fashion-MNIST (28×28, ten classes).

  trainscope run -- python mnist.py --progress --epochs 2
"""
import common
import torch
from torch import nn


def main():
    args = common.options(__doc__, epochs=2, batch=64).parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.5), nn.Linear(64 * 5 * 5, 10))
    common.train(model, common.fashion_mnist("train"), args)


if __name__ == "__main__":
    main()
