#!/usr/bin/env python3
"""What `trainscope probe` says of planted PyTorch jobs on a GPU, beside what limits them.

Run by a Python that has torch, on a machine with an NVIDIA GPU. Each job first times itself outside a run, with its own
input and with one batch that is there already: the truth that the effect of the input is compared with. Then it is probed.

  bench/gpu/probes.py TRAINSCOPE [--jobs NAME,NAME…] [--seconds 60]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MEASURED_STEPS = {"input": 40}  # of the others 200
EXPECTED = {
    "input": "input-bound, proven",
    "hidden": "GPU-bound, proven",
    "pageable": "GPU-bound, proven",
    "pinned": "GPU-bound, proven",
    "item": "GPU-bound, proven",
    "launch": "launch-bound, proven",
}


class Job:
    """A training loop: `load_s` of the CPU time of a worker per sample, `heavy` large products per step after the
    network, and `wait` for the loss in each step."""

    def __init__(self, torch, shape, batch, load_s=0.0, workers=0, heavy=0, depth=4, pinned=False, wait=False):
        self.torch, self.heavy, self.wait = torch, heavy, wait
        sample = torch.rand(shape)

        class Data(torch.utils.data.Dataset):
            def __len__(self):
                return 1 << 20

            def __getitem__(self, index):
                end = time.thread_time() + load_s
                while time.thread_time() < end:
                    sum(range(2000))
                return sample, index % 10

        self.loader = torch.utils.data.DataLoader(Data(), batch_size=batch, num_workers=workers, pin_memory=pinned)
        layers = [torch.nn.Flatten(), torch.nn.LazyLinear(64)]
        for _ in range(depth):
            layers += [torch.nn.ReLU(), torch.nn.Linear(64, 64)]
        self.model = torch.nn.Sequential(*layers, torch.nn.Linear(64, 10)).cuda()
        self.matrix = torch.rand(4096, 4096, device="cuda") / 4096
        self.model(torch.zeros(2, *shape, device="cuda"))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4)

    def step(self, images, labels):
        images, labels = images.cuda(non_blocking=True), labels.cuda(non_blocking=True)
        product = self.matrix
        for _ in range(self.heavy):
            product = product @ self.matrix
        loss = self.torch.nn.functional.cross_entropy(self.model(images) + product[0, 0], labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if self.wait:
            loss.item()

    def mean_s(self, batches, steps):
        for number, batch in enumerate(batches):
            if number in (12, 12 + steps):
                self.torch.cuda.synchronize()
            if number == 12:
                began = time.monotonic()
            if number == 12 + steps:
                return (time.monotonic() - began) / steps
            self.step(*batch)


def job(torch, name):
    small = (3, 16, 16)
    return {
        "input": lambda: Job(torch, (3, 64, 64), 64, load_s=0.002, workers=4, heavy=3),
        "hidden": lambda: Job(torch, small, 64, load_s=0.0002, workers=2, heavy=8),
        "pageable": lambda: Job(torch, small, 64, heavy=8),
        "pinned": lambda: Job(torch, small, 64, heavy=16, pinned=True),
        "item": lambda: Job(torch, small, 64, heavy=8, wait=True),
        "launch": lambda: Job(torch, small, 16, depth=300),
    }[name]()


def endless(batch):
    while True:
        yield batch


def train(name, measures):
    """The job itself: for ever, or its time per step with its own input and with free input."""
    import torch
    torch.set_num_threads(1)
    training = job(torch, name)
    if not measures:
        for batch in training.loader:
            training.step(*batch)
        return
    steps = MEASURED_STEPS.get(name, 200)
    usual = training.mean_s(training.loader, steps)
    batch = next(iter(training.loader))
    free = training.mean_s(endless(batch), steps)
    print(json.dumps({"usual_ms": 1000 * usual, "free_over_usual": free / usual}))


def probed(trainscope, name, seconds, home):
    command = [sys.executable, "-B", os.path.abspath(__file__), "--train", name]
    environment = {**os.environ, "TRAINSCOPE_HOME": home}
    truth = json.loads(subprocess.run([*command, "--measure"], check=True, capture_output=True).stdout.splitlines()[-1])
    done = subprocess.run([trainscope, "probe", "--quiet", "--json", "--for", f"{seconds:g}s", "--", *command],
                          env=environment, check=False, stdout=subprocess.PIPE, text=True)
    document = json.loads(done.stdout)
    free = truth["free_over_usual"]
    print(f"{name}: step {truth['usual_ms']:.1f} ms, with free input {free:.3f} of it")
    for effect in document["effects"]:
        print(f"  {effect['what']}: {effect['sentence']} ({effect['blocks']} blocks)")
        if effect["what"] == "input" and effect["ratio"] is not None:
            place = "inside" if effect["low"] <= free <= effect["high"] else "outside"
            print(f"    {effect['ratio']:.3f} [{effect['low']:.3f}, {effect['high']:.3f}]: the free input is {place}")
    print(f"  together: {document['conclusion']} (planted: {EXPECTED[name]}); {document['problem'] or 'no problem'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trainscope", nargs="?")
    parser.add_argument("--jobs", default=",".join(EXPECTED), help="which ones (default: all)")
    parser.add_argument("--seconds", type=float, default=60, help="of each probe (default: 60)")
    parser.add_argument("--train", help=argparse.SUPPRESS)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        return train(options.train, options.measure)
    if not options.trainscope:
        parser.error("name the program, such as build/trainscope")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.jobs.split(","):
            probed(str(pathlib.Path(options.trainscope).resolve()), name, options.seconds, os.path.join(folder, name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
