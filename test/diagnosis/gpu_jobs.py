"""Planted jobs of truth.toml for a GPU: `gpu_jobs.py CASE SECONDS`. Plain PyTorch loops that print their steps."""
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

DEVICE = torch.device("cuda")


def small_network(width=256, depth=4):
    layers = [nn.Flatten(), nn.LazyLinear(width)]
    for _ in range(depth):
        layers += [nn.ReLU(), nn.Linear(width, width)]
    return nn.Sequential(*layers, nn.Linear(width, 10)).to(DEVICE)


def residual_network():
    try:
        from torchvision.models import resnet18
        return resnet18(num_classes=10).to(DEVICE)
    except ImportError:
        return nn.Sequential(nn.Conv2d(3, 64, 7, 2), nn.ReLU(), *[m for _ in range(8) for m in (
            nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU())], nn.AdaptiveAvgPool2d(1),
            nn.Flatten(), nn.Linear(64, 10)).to(DEVICE)


def report(number, began, loss=None):
    print(f"step {number} loss {1 / number if loss is None else loss:.4f}", flush=True)


def train(seconds, model, batches, after=lambda: None):
    optimizer, loss_of = torch.optim.SGD(model.parameters(), lr=1e-3), nn.CrossEntropyLoss()
    end, number = time.monotonic() + seconds, 0
    for images, labels in batches:
        loss = loss_of(model(images.to(DEVICE, non_blocking=True)), labels.to(DEVICE, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        after()
        number += 1
        report(number, end)
        if time.monotonic() > end:
            break


class Images(Dataset):
    """`work` seconds of CPU time per sample, as decoding takes."""

    def __init__(self, shape, work=0.0):
        self.shape, self.work, self.sample = shape, work, torch.rand(shape)

    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        end = time.thread_time() + self.work
        while time.thread_time() < end:
            sum(range(2000))
        return self.sample, index % 10


def same_batch(size, shape):
    batch = torch.rand((size, *shape), device=DEVICE), torch.randint(10, (size,), device=DEVICE)
    while True:
        yield batch


def gpu_tensor_cores(seconds):
    a = torch.rand(8192, 8192, device=DEVICE, dtype=torch.bfloat16)
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        b = a
        for _ in range(10):
            b = a @ b
        torch.cuda.synchronize()
        number += 1
        report(number, end)


def gpu_memory_bandwidth(seconds):
    a = torch.rand(1 << 28, device=DEVICE)
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for _ in range(20):
            a.add_(1.0)
        torch.cuda.synchronize()
        number += 1
        report(number, end)


def gpu_launches(seconds):
    train(seconds, small_network(64, 200), same_batch(8, (3, 8, 8)))


def gpu_small_batch(seconds):
    train(seconds, residual_network(), same_batch(4, (3, 64, 64)))


def gpu_transfer(seconds):
    images, labels = torch.rand(256, 3, 512, 512), torch.randint(10, (256,))  # pageable

    def batches():
        while True:
            yield images, labels
    train(seconds, nn.Sequential(nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(48, 10)).to(DEVICE), batches())


def gpu_input(seconds):
    train(seconds, residual_network(), DataLoader(Images((3, 64, 64), 0.002), batch_size=64, num_workers=1))


def gpu_decode_main(seconds):
    train(seconds, residual_network(), DataLoader(Images((3, 64, 64), 0.001), batch_size=64))


def gpu_hidden_input(seconds):
    heavy = torch.rand(8192, 8192, device=DEVICE)

    def work():
        for _ in range(3):
            heavy @ heavy
    train(seconds, small_network(), DataLoader(Images((3, 16, 16), 0.0002), batch_size=64), work)


def gpu_memory_full(seconds):
    free, total = torch.cuda.mem_get_info()
    held = torch.empty(int(free - 0.03 * total), dtype=torch.uint8, device=DEVICE)
    gpu_tensor_cores(seconds)
    del held


if __name__ == "__main__":
    globals()[sys.argv[1]](float(sys.argv[2]))
