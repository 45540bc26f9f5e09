#!/usr/bin/env python3
"""What the hooks of `run --instrument` cost a step of PyTorch: blocks with and without them, in turn, in one process.

Run by a Python that has torch. A step is as long as --step-ms says, by computing on one thread (or, with --device
cuda, on the GPU); the hooks are taken out of place for every other block. Printed: the ratio of the times of
neighbouring blocks, with and without hooks, its 95 % interval over all pairs, and the difference per step.

  bench/instrument.py [--step-ms 5] [--steps 40] [--pairs 60] [--device cuda] [--detailed]
"""
import argparse
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def install(folder):
    for part in ("startup", "modules"):
        shutil.copytree(ROOT / "python/instrument" / part, pathlib.Path(folder) / part)
    shutil.copy(ROOT / "python/trainscope/_pipe.py", pathlib.Path(folder) / "modules")


class Hooks:
    """Puts the hooks in and out of place."""

    def __init__(self, torch):
        self.hooks = sys.modules["_trainscope_instrument.torch_hooks"].hooks
        self.iterators = torch.utils.data.dataloader._BaseDataLoaderIter
        self.next = self.iterators.__next__

    def put(self):
        self.iterators.__next__ = self.next
        self.hooks.pre_hooks[self.hooks.pre_key] = self.hooks.post_hooks[self.hooks.post_key] = None
        self.hooks.flag = None
        self.hooks.arrange()

    def take(self):
        self.iterators.__next__ = self.next.__wrapped__
        self.hooks.autograd.backward = self.hooks.original_backward
        self.hooks.pre_hooks.pop(self.hooks.pre_key, None)
        self.hooks.post_hooks.pop(self.hooks.post_key, None)


class Endless:
    def __init__(self, item):
        self.item = item

    def __iter__(self):
        while True:
            yield self.item


class Training:
    def __init__(self, torch, device, width, depth):
        layers = [layer for _ in range(depth) for layer in (torch.nn.Linear(width, width), torch.nn.ReLU())]
        self.torch, self.device = torch, device
        self.model = torch.nn.Sequential(*layers).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 1e-4)

        class Data(torch.utils.data.IterableDataset):
            def __iter__(self):
                return iter(Endless(torch.ones(32, width)))

        self.batches = iter(torch.utils.data.DataLoader(Data(), batch_size=None))

    def step(self):
        batch = next(self.batches).to(self.device, non_blocking=True)
        self.optimizer.zero_grad()
        self.model(batch).mean().backward()
        self.optimizer.step()

    def block(self, steps):
        """Seconds per step: (wall, CPU time of this thread)."""
        if self.device != "cpu":
            self.torch.cuda.synchronize()
        began, began_cpu = time.perf_counter(), time.thread_time()
        for _ in range(steps):
            self.step()
        if self.device != "cpu":
            self.torch.cuda.synchronize()
        return (time.perf_counter() - began) / steps, (time.thread_time() - began_cpu) / steps


def sized_training(torch, device, step_s):
    """The width is fixed; layers are added until a step takes as long as it should."""
    depth = 1
    while True:
        training = Training(torch, device, 256, depth)
        training.block(5)
        took = statistics.median(training.block(5)[1 if device == "cpu" else 0] for _ in range(3))
        if took >= step_s or depth > 4000:
            return training
        depth = max(depth + 1, min(int(depth * step_s / took), depth * 3))


def interval(values):
    mean = statistics.fmean(values)
    half = 1.96 * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def measure(options):
    import torch
    torch.set_num_threads(1)
    training = sized_training(torch, options.device, options.step_ms * 1e-3)
    hooks = Hooks(torch)
    if options.detailed:
        sys.modules["_trainscope_instrument.budget"].SHARE = 1.0
    training.block(100)  # The first bursts are over.
    pairs = []
    for _ in range(options.pairs):
        order = random.sample((True, False), 2)
        pair = {}
        for is_on in order:
            (hooks.put if is_on else hooks.take)()
            training.step()
            pair[is_on] = training.block(options.steps)
        pairs.append(pair)
    hooks.put()
    for name, place in (("wall", 0), ("thread CPU", 1)):
        logs = [math.log(pair[True][place] / pair[False][place]) for pair in pairs]
        ratio, low, high = (math.exp(value) for value in interval(logs))
        bare = statistics.median(pair[False][place] for pair in pairs)
        median = statistics.median(pair[True][place] - pair[False][place] for pair in pairs)
        print(f"{name}: step {bare * 1e3:.3f} ms, ratio {ratio:.5f} ({low:.5f} to {high:.5f}), "
              f"median difference {median * 1e6:.1f} us per step")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step-ms", type=float, default=5)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--detailed", action="store_true", help="time every phase of every step, without a budget")
    options = parser.parse_args()
    if "_TRAINSCOPE_BENCH" in os.environ:
        return measure(options)
    with tempfile.TemporaryDirectory() as folder:
        install(folder)
        pipe = os.path.join(folder, "progress")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDWR)
        received = []

        def drain():
            while True:
                received.append(os.read(reader, 65536))

        threading.Thread(target=drain, daemon=True).start()
        environment = {**os.environ, "PYTHONPATH": os.path.join(folder, "startup"), "TRAINSCOPE_PIPE": pipe,
                       "_TRAINSCOPE_BENCH": "1", "OMP_NUM_THREADS": "1"}
        code = subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode
        time.sleep(0.1)
        for line in b"".join(received).decode().splitlines():
            if line.startswith("mark "):
                print(line.rpartition(" t=")[0])
        return code


if __name__ == "__main__":
    sys.exit(main())
