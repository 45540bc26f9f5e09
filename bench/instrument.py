#!/usr/bin/env python3
"""What the hooks of `run --instrument` cost a step of PyTorch: blocks with and without them, in one process.

Run by a Python that has torch. A step is as long as --step-ms says, by computing on one thread or, with --device
cuda, on the GPU: many small kernels that the host launches (--bound host), or few large ones (--bound device). Pairs of
short neighbouring blocks, one of them without hooks, in random order, are measured for --seconds. A step of the CPU, or
a block of the GPU, in which the thread did not run for much longer than usual was interrupted and does not count, on
either side. Printed: the ratio of the mean step times of the blocks of a pair, with and without hooks, its 95 %
interval over all pairs, and the mean difference per step.

With --calls only the calls that have hooks are measured, minus what PyTorch does in them: less noise, but what the
hooks displace from the caches is not seen.

  bench/instrument.py [--step-ms 5] [--seconds 60] [--device cuda [--bound host|device]] [--detailed] [--calls]
"""
import argparse
import fcntl
import functools
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
BLOCK_S = 0.04
F_SETPIPE_SZ, PIPE_BYTES = 1031, 1 << 20  # as a run sets it
SIZES = {"host": (256, 32), "device": (2048, 4096)}  # width of a layer, and of a batch
# Of the median: so much longer than usual a thread may not run in a step of the CPU, or in a block of the GPU.
MOST_INTERRUPTED = {"cpu": 0.25, "cuda": 0.05}


def install(folder):
    for part in ("startup", "modules"):
        shutil.copytree(ROOT / "python/instrument" / part, pathlib.Path(folder) / part)
    shutil.copy(ROOT / "python/trainscope/_pipe.py", pathlib.Path(folder) / "modules")


class Hooks:
    """Puts the hooks in and out of place. Without them batches come from another iterator, whose class has the original
    __next__: an attribute of a class that changes thousands of times would make Python slower on both sides."""

    def __init__(self, training):
        self.hooks = sys.modules["_trainscope_instrument.torch_hooks"].hooks
        self.training, self.hooked = training, training.batches
        iterators = type(self.hooked)
        bare = type("Bare", (iterators,), {"__next__": iterators.__next__.__wrapped__})
        self.bare = bare(training.loader)
        self.taken_ns = time.monotonic_ns()

    def put(self):
        """The time without hooks did not happen: bursts and flushes are as frequent as in a job."""
        gap = time.monotonic_ns() - self.taken_ns
        for trace in self.hooks.traces:
            trace.budget.resume_ns += gap
            trace.budget._last_ns += gap
            trace.log.flushed_ns += gap
            trace.items_ns += gap
        records = self.hooks.records
        for times in (slice(1, None, 3), slice(2, None, 3)):
            records[times] = [noted + gap for noted in records[times]]
        self.training.batches = self.hooked
        self.hooks.pre_hooks[self.hooks.pre_key] = self.hooks.post_hooks[self.hooks.post_key] = None
        self.hooks.has_flag = False
        self.hooks.arrange()
        if self.hooks.has_flag:
            self.hooks.note_update(None, (), {})  # The step before has updated, without the hooks.

    def take(self):
        if self.training.batches is self.bare:
            return  # They are out of place since the last time.
        self.taken_ns = time.monotonic_ns()
        self.training.batches = self.bare
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
    def __init__(self, torch, device, bound, depth):
        width, items = SIZES[bound]
        layers = [layer for _ in range(depth) for layer in (torch.nn.Linear(width, width), torch.nn.ReLU())]
        self.torch, self.device = torch, device
        self.model = torch.nn.Sequential(*layers).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 1e-4)
        batch = torch.ones(items, width, device=device)

        class Data(torch.utils.data.IterableDataset):
            def __iter__(self):
                return iter(Endless(batch))

        self.loader = torch.utils.data.DataLoader(Data(), batch_size=None)
        self.batches = iter(self.loader)

    def step(self):
        batch = next(self.batches)
        self.optimizer.zero_grad()
        self.model(batch).mean().backward()
        self.optimizer.step()

    def calls(self, inner):
        """Seconds that next(), backward() and step() take in one step, without what PyTorch does in them: the
        probes `inner` measure that. The work in between makes the caches cold, as in a job."""
        inner.seconds = 0.0
        began = time.perf_counter()
        batch = next(self.batches)
        outer = time.perf_counter() - began
        self.optimizer.zero_grad()
        loss = self.model(batch).mean()
        began = time.perf_counter()
        loss.backward()
        outer += time.perf_counter() - began
        began = time.perf_counter()
        self.optimizer.step()
        outer += time.perf_counter() - began
        return outer - inner.seconds

    def block(self, steps):
        """(wall, CPU time of this thread) in seconds: of each step, or on a GPU the mean of the block."""
        if self.device == "cpu":
            return [self._timed_step() for _ in range(steps)]
        self.torch.cuda.synchronize()
        began, began_cpu = time.perf_counter(), time.thread_time()
        for _ in range(steps):
            self.step()
        self.launched_s = time.perf_counter() - began
        self.torch.cuda.synchronize()
        return [((time.perf_counter() - began) / steps, (time.thread_time() - began_cpu) / steps)]

    def launching_share(self, steps=50):
        """Of the time of a block on a GPU in which the host had not launched everything yet."""
        (step_s, _), = self.block(steps)
        return self.launched_s / (step_s * steps)

    def _timed_step(self):
        began, began_cpu = time.perf_counter(), time.thread_time()
        self.step()
        return time.perf_counter() - began, time.thread_time() - began_cpu


class Probes:
    """Measures what PyTorch itself does inside of the calls that have hooks."""

    def __init__(self, torch, training):
        self.seconds = 0.0
        iterator = type(training.batches)  # that of the bare ones is derived from it
        iterator._next_data = self._around(iterator._next_data)
        torch.autograd._engine_run_backward = self._around(torch.autograd._engine_run_backward)
        update = type(training.optimizer)
        update.step = training.optimizer.profile_hook_step(self._around(update.step.__wrapped__))  # below the hooks
        update.step.hooked = True

    def _around(self, original):
        @functools.wraps(original)
        def call(*arguments, **keywords):
            began = time.perf_counter()
            try:
                return original(*arguments, **keywords)
            finally:
                self.seconds += time.perf_counter() - began
        return call


def measure_calls(torch, training, hooks, options):
    inner = Probes(torch, training)
    sides = {True: [], False: []}
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        for is_on in random.sample((True, False), 2):
            hooks.take()
            if is_on:
                hooks.put()
            training.step()
            steps = [training.calls(inner) for _ in range(40)]
            sides[is_on].append(statistics.fmean(step for step in steps if step < 1e-3))  # else it was interrupted
    hooks.put()
    mean, low, high = interval([on - off for on, off in zip(sides[True], sides[False])])
    bare = statistics.fmean(sides[False])
    print(f"in the calls: {mean * 1e6:.1f} us per step ({low * 1e6:.1f} to {high * 1e6:.1f}); bare {bare * 1e6:.1f} us")


def sized_training(torch, options):
    """The width is fixed; layers are added until a step takes as long as it should. Returns how long that is."""
    depth, step_s = 1, options.step_ms * 1e-3
    while True:
        training = Training(torch, options.device, options.bound, depth)
        training.block(5)
        took = statistics.median(step[1 if options.device == "cpu" else 0] for step in training.block(15))
        if took >= step_s or depth > 4000:
            return training, took
        depth = max(depth + 1, min(int(depth * step_s / took), depth * 3))


def interval(values):
    mean = statistics.fmean(values)
    half = 1.96 * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def measure(options):
    import torch
    torch.set_num_threads(1)
    training, step_s = sized_training(torch, options)
    hooks = Hooks(training)
    if options.detailed:
        sys.modules["_trainscope_instrument.budget"].SHARE = 1.0
    training.block(100)  # The first bursts are over.
    if options.calls:
        return measure_calls(torch, training, hooks, options)
    if options.device != "cpu":
        print(f"{100 * training.launching_share():.0f} % of the time passes before everything is launched")
    steps, pairs = max(4, round(BLOCK_S / step_s)), []
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        pair = {}
        for is_on in random.sample((True, False), 2):
            hooks.take()
            if is_on:
                hooks.put()
            training.step()
            training.step()  # What the interpreter has learnt of the calls is learnt again.
            pair[is_on] = training.block(steps)
        pairs.append((pair[True], pair[False]))
    hooks.put()
    show(pairs, steps, MOST_INTERRUPTED[options.device])


def show(pairs, steps, most_interrupted):
    """`pairs`: what was measured with hooks, and without."""
    everything = [one for pair in pairs for side in pair for one in side]
    idle_s = statistics.median(wall - cpu for wall, cpu in everything)
    most_idle_s = idle_s + most_interrupted * statistics.median(wall for wall, _ in everything)
    kept = [[[one for one in side if one[0] - one[1] <= most_idle_s] for side in pair] for pair in pairs]
    kept = [pair for pair in kept if all(pair)]
    left_out = 1 - sum(len(side) for pair in kept for side in pair) / len(everything)
    print(f"{len(kept)} pairs of blocks of {steps} steps, {100 * left_out:.1f} % of what was measured left out")
    for name, place in (("wall", 0), ("thread CPU", 1)):
        means = [[statistics.fmean(one[place] for one in side) for side in pair] for pair in kept]
        ratio, low, high = (math.exp(value) for value in interval([math.log(on / off) for on, off in means]))
        median, difference = statistics.median(off for _, off in means), statistics.fmean(on - off for on, off in means)
        print(f"{name}: step {median * 1e3:.3f} ms, ratio {ratio:.5f} ({low:.5f} to {high:.5f}), difference "
              f"{difference * 1e6:.1f} us per step")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step-ms", type=float, default=5)
    parser.add_argument("--seconds", type=float, default=60, help="measure for so long (default: 60)")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--bound", default="host", choices=tuple(SIZES), help="what limits a step on a GPU (default: host)")
    parser.add_argument("--detailed", action="store_true", help="time every phase of every step, without a budget")
    parser.add_argument("--calls", action="store_true", help="measure only the calls that have hooks, on a CPU")
    options = parser.parse_args()
    if "_TRAINSCOPE_BENCH" in os.environ:
        return measure(options)
    with tempfile.TemporaryDirectory() as folder:
        install(os.path.join(folder, "instrument"))  # The pipe is beside it, as in the folder of a run.
        pipe = os.path.join(folder, "progress")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDWR)
        fcntl.fcntl(reader, F_SETPIPE_SZ, PIPE_BYTES)
        received = []

        def drain():
            while True:
                received.append(os.read(reader, 65536))

        threading.Thread(target=drain, daemon=True).start()
        environment = {**os.environ, "PYTHONPATH": os.path.join(folder, "instrument/startup"), "TRAINSCOPE_PIPE": pipe,
                       "_TRAINSCOPE_BENCH": "1", "OMP_NUM_THREADS": "1"}
        code = subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode
        time.sleep(0.1)
        lines = b"".join(received).decode().splitlines()
        for line in lines:
            if line.startswith(("mark ", "dropped ")):
                print(line.rpartition(" t=")[0])
        print(f"{sum(line.startswith('step ') for line in lines)} steps were reported")
        return code


if __name__ == "__main__":
    sys.exit(main())
