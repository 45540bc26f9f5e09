"""`probe` inside the real PyTorch: epochs keep their length with any number of workers, batches are whole, nothing stays."""
# ctest-timeout: 900
import json
import unittest

from instrumented_job import torch_python
from probed_job import BLOCK, DrainedFifo, ProbedBlock, ProbedCase
from trainscope_test import LONG, main

JOB = """
import json, os, sys, time, torch
cpus, threads = os.sched_getaffinity(0), torch.get_num_threads()
class Data(torch.utils.data.Dataset):
    def __init__(self, count, wait): self.count, self.wait = count, wait
    def __len__(self): return self.count
    def __getitem__(self, i):
        time.sleep(self.wait)
        return {"x": torch.full((4,), float(i)), "y": float(i)}
def train(data, epochs, each=lambda step, batch: None, compute=0.002, **options):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-9)
    counts, step, seen = [], 0, []
    loader = torch.utils.data.DataLoader(data, batch_size=2, **options)
    for _ in range(epochs):
        counts.append(0)
        for batch in loader:
            counts[-1] += 1
            x, y = batch.pop("x"), batch.pop("y")
            assert x[0, 0] == y[0] and not batch, (x, y)
            seen.append(int(y[0]))
            each(x, y)
            time.sleep(compute)
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
    repeated = sum(b != a + 2 and b != 0 for a, b in zip(seen, seen[1:]))
    print(json.dumps([counts, repeated > 10, os.sched_getaffinity(0) == cpus, torch.get_num_threads() == threads]))
"""


class Torch(ProbedCase):
    def check(self, call, epochs, batches, **environment):
        with DrainedFifo(self.fifo) as drained:
            self.job = self.run_job(torch_python(), JOB + f"if __name__ == '__main__':\n    {call}", **environment)
        self.lines = drained.bytes.decode().split("\n")
        self.assertEqual(json.loads(self.job.stdout), [[batches] * epochs, True, True, True])
        self.assertFalse([mark for mark in self.marks() if "stopped" in mark], self.marks())
        return [ProbedBlock(match) for match in map(BLOCK.match, self.lines) if match]

    def test_epochs_of_0_1_and_4_workers(self):
        """Without workers: test_batches_that_are_modified_in_place too."""
        for workers in (0, 1, 4) if LONG else (4,):
            self.check(f"train(Data(400, 0.001), 3, num_workers={workers})", 3, 200)

    def test_workers_that_persist(self):
        self.check("train(Data(200, 0.001), 6, num_workers=2, persistent_workers=True)", 6, 100)

    @unittest.skipUnless(LONG, "takes 10 s: TRAINSCOPE_LONG=1")
    def test_workers_that_are_spawned(self):
        self.check("train(Data(800, 0.001), 1, num_workers=1, multiprocessing_context='spawn')", 1, 400)

    def test_batches_that_are_modified_in_place(self):
        self.check("train(Data(1200, 0.001), 1, lambda x, y: (x.add_(0.5), y.add_(0.5)))", 1, 600)

    @unittest.skipUnless(LONG, "takes 10 s: TRAINSCOPE_LONG=1")
    def test_inputs_with_gradients(self):
        self.check("train(Data(1600, 0.001), 1, lambda x, y: x.requires_grad_())", 1, 800)


if __name__ == "__main__":
    main()
