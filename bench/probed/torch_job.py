"""PyTorch, as probes.py plants it: torch_job.py KIND WORKERS [SECONDS]

Trains for ever, or times its steps for so many seconds with its own input, and for as many with one batch that is there
already: prints the seconds and the steps of both as JSON.
"""
import itertools
import json
import sys
import time

import torch

COMPUTE_S = 0.012  # of a step, on one thread
# Seconds per batch that the input sleeps, and computes: a sleep is as long on a busy machine.
INPUT = {"input": (0.036, 0), "cpu": (0, 0), "hidden": (0.006, 0), "clean": (0, 0.0004)}
WARM_UP = 12
BATCH = 4


def spend_cpu(seconds, matrix):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        matrix @ matrix


class Data(torch.utils.data.Dataset):
    def __init__(self, sleep_s, compute_s):
        self.sleep_s, self.compute_s = sleep_s / BATCH, compute_s / BATCH
        self.matrix = torch.rand(32, 32)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        if self.sleep_s:
            time.sleep(self.sleep_s)
        spend_cpu(self.compute_s, self.matrix)
        return torch.full((16,), float(index % 10))


class Training:
    def __init__(self, kind):
        self.has_layers = kind == "clean"  # real layers on all threads instead of products on one
        width = 1024 if self.has_layers else 16
        layers = [torch.nn.Linear(16, width)]
        layers += [torch.nn.Linear(width, width) for _ in range(3 if self.has_layers else 0)]
        self.model = torch.nn.Sequential(*layers, torch.nn.Linear(width, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), 1e-9)
        self.matrix = torch.rand(100, 100)

    def step(self, batch):
        if not self.has_layers:
            spend_cpu(COMPUTE_S, self.matrix)
        self.optimizer.zero_grad()
        self.model(batch).sum().backward()
        self.optimizer.step()

    def time_steps(self, batches, seconds):
        for batch in itertools.islice(batches, WARM_UP):
            self.step(batch)
        began, steps = time.monotonic(), 0
        while time.monotonic() < began + seconds:
            self.step(next(batches))
            steps += 1
        return time.monotonic() - began, steps


def main():
    kind, workers = sys.argv[1], int(sys.argv[2])
    if kind != "clean":
        torch.set_num_threads(1)
    sleep_s, compute_s = (seconds * max(1, workers) for seconds in INPUT[kind])
    loader = torch.utils.data.DataLoader(Data(sleep_s, compute_s), batch_size=BATCH, num_workers=workers)
    training = Training(kind)
    if len(sys.argv) < 4:
        for batch in loader:
            training.step(batch)
        return
    seconds = float(sys.argv[3])
    batches = iter(loader)
    usual = training.time_steps(batches, seconds)
    del batches
    free = training.time_steps(itertools.repeat(torch.ones(BATCH, 16)), seconds)
    print(json.dumps({"usual": usual, "free": free}))


if __name__ == "__main__":
    main()
