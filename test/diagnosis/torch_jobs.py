"""Planted jobs of truth.toml as plain PyTorch loops on the CPU: `torch_jobs.py CASE SECONDS FOLDER`.

They report nothing: `run --instrument` does. What is planted is the same as in jobs.py, by the same functions.
"""
import os
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info

from jobs import CORES, MB, Encoded, burn, cold_reader, direct_reader, kept_file, small_files, threads_that_hash


class Samples(Dataset):
    """What `load` does is the cost of a sample."""

    def __init__(self, load, count=1 << 30):
        self.load, self.count, self.sample = load, count, torch.rand(64)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        self.load(index)
        return self.sample, index % 10


class InOrder:
    """Indices without a list of them."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __iter__(self):
        return iter(range(self.count))


def loader(load, workers=0, ahead=2, count=1 << 30):
    more = {"prefetch_factor": ahead} if workers else {}
    data = Samples(load, count)
    return DataLoader(data, batch_size=1, sampler=InOrder(count), num_workers=workers, **more)


def epoch(model, batches, compute, after=None, seconds=float("inf")):
    """Ends `seconds` after the first step, in which PyTorch loads much of itself."""
    optimizer, loss_of = torch.optim.SGD(model.parameters(), lr=1e-3), nn.CrossEntropyLoss()
    for number, (images, labels) in enumerate(batches, 1):
        compute(number)
        optimizer.zero_grad()
        loss_of(model(images), labels).backward()
        optimizer.step()
        if after:
            after(number)
        if number == 1:
            end = time.monotonic() + seconds
        if time.monotonic() > end:
            break


def train(seconds, batches, compute, after=None):
    torch.set_num_threads(1)
    epoch(nn.Linear(64, 10), batches, compute, after, seconds)


def input_disk(seconds, folder):
    read = direct_reader(kept_file(folder, "cold", 512 * MB), 20 * MB)
    train(seconds, loader(read), lambda _: burn(0.005))


def input_slow_mount(seconds, folder):
    file = open(os.path.join(folder, "slow", "data"), "rb", buffering=0)
    train(seconds, loader(lambda _: file.read(2 * MB)), lambda _: burn(0.005))


def input_decode_main(seconds, folder):
    sample = Encoded(folder, 0.03)
    train(seconds, loader(lambda _: sample.decode()), lambda _: burn(0.004))


def input_decode_workers(seconds, folder):
    sample = Encoded(folder, 0.04)
    train(seconds, loader(lambda _: sample.decode(), workers=CORES), lambda _: burn(0.003))


def input_slow_worker(seconds, folder):
    samples = Encoded(folder, 0.005), Encoded(folder, 0.05)
    load = lambda _: samples[get_worker_info().id].decode()
    train(seconds, loader(load, workers=2, ahead=1), lambda _: burn(0.003))


def input_few_workers(seconds, folder):
    sample = Encoded(folder, 0.04)
    train(seconds, loader(lambda _: sample.decode(), workers=1), lambda _: burn(0.01))


def input_small_files(seconds, folder):
    load = small_files(folder)
    train(seconds, loader(lambda k: load(k, 400)), lambda _: burn(0.003))


def input_cold_cache(seconds, folder):
    train(seconds, loader(cold_reader(folder, 4 * MB)), lambda _: burn(0.01))


def cpu_one_core(seconds, folder):
    train(seconds, loader(lambda _: None), lambda _: burn(0.03))


def cpu_all_cores(seconds, folder):
    train(seconds, loader(lambda _: None), threads_that_hash(CORES - 1))


def cpu_oversubscribed(seconds, folder):
    train(seconds, loader(lambda _: None), threads_that_hash(4 * CORES - 1))


def checkpoint_stalls(seconds, folder):
    state = torch.rand(24 * MB)

    def save(number):
        if number % 10 == 0:
            fd = os.open(os.path.join(folder, "checkpoint"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_SYNC)
            with open(fd, "wb") as file:
                torch.save(state, file)
    train(seconds, loader(lambda _: None), lambda _: burn(0.02), save)


def periodic_stalls(seconds, folder):
    train(seconds, loader(lambda k: time.sleep(0.5 if k % 10 == 9 else 0)), lambda _: burn(0.02))


def clean_small_input(seconds, folder):
    train(seconds, loader(lambda _: time.sleep(0.001)), lambda _: burn(0.02))


def clean_prefetch(seconds, folder):
    sample = Encoded(folder, 0.005)
    train(seconds, loader(lambda _: sample.decode(), workers=1), lambda _: burn(0.03))


def gloo_straggler(seconds, folder):
    """One of two processes that torchrun starts; rank 0 decides when it is over."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(nn.Linear(64, 10))
    slowness = 3 if torch.distributed.get_rank() == 1 else 1
    end, is_over = time.monotonic() + seconds, torch.zeros(1)
    while not is_over.item():
        epoch(model, loader(lambda _: None, count=30), lambda _: burn(0.02 * slowness))
        is_over[0] = float(time.monotonic() > end)
        torch.distributed.broadcast(is_over, 0)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    globals()[sys.argv[1]](float(sys.argv[2]), sys.argv[3])
