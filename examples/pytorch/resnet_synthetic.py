#!/usr/bin/env python3
"""ResNet-18 on synthetic images: no data set, no download, so only the speed of the machine matters.

  trainscope run -- python resnet_synthetic.py --progress --batch 128 --size 224 --workers 4
"""
import common
import torch
from torch import nn


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, inside, outside, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(),
            nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside))
        self.around = nn.Identity()
        if stride != 1 or inside != outside:
            self.around = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False),
                                        nn.BatchNorm2d(outside))

    def forward(self, x):
        return torch.relu(self.body(x) + self.around(x))


def resnet18(classes):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inside = 64
    for outside, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(inside, outside, stride), Block(outside, outside, 1)]
        inside = outside
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))


class Synthetic(torch.utils.data.Dataset):
    """Noise around one of a few grey values, which is the label."""

    def __init__(self, count, size, classes):
        self.count, self.size, self.classes = count, size, classes

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        label = index % self.classes
        noise = torch.randn(3, self.size, self.size, generator=torch.Generator().manual_seed(index))
        return 0.5 * noise + 2 * label / self.classes - 1, label


def main():
    parser = common.options(__doc__, epochs=2, batch=16, steps=10)
    parser.add_argument("--size", type=int, default=64, help="side of an image, at least 32")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    common.train(resnet18(10), Synthetic(args.steps * args.batch, args.size, 10), args)


if __name__ == "__main__":
    main()
