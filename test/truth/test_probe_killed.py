"""Trainscope is killed at random moments of a probe: the job keeps running, and nothing of it stays changed.

The job checks that itself: the CPUs of all threads and workers, PyTorch's threads, the number of batches in each epoch,
and which ones they are. TRAINSCOPE_LONG=1: at 50 moments, which takes about three minutes; otherwise at 3.
"""
# ctest-timeout: 900
import json
import os
import pathlib
import random
import signal
import subprocess
import sys

from instrumented_job import FAKES, torch_python
from probed_run import ProbedRun
from trainscope_test import BIN, LONG, main, processes, wait_until

# Steps of 4 ms in epochs of 40. Once its parent is another one, the job ends the epoch and does EPOCHS more.
JOB = """
import json, multiprocessing, os, sys, time, torch
LOADER
optimizer = OPTIMIZER
supervisor, began, answer = os.getppid(), sys.argv[1], sys.argv[2]

def state():
    "CPUs that any thread of the job may use, and threads of PyTorch."
    cpus = set()
    for process in [os.getpid()] + [child.pid for child in multiprocessing.active_children()]:
        for thread in os.listdir("/proc/%d/task" % process):
            try:
                cpus.add(tuple(sorted(os.sched_getaffinity(int(thread)))))
            except OSError:
                pass  # It has ended.
    return [sorted(cpus), torch.get_num_threads()]

def train():
    "The numbers of the batches of an epoch."
    global steps, orphan_steps
    numbers = []
    for batch in loader:
        numbers.append(number_of(batch))
        time.sleep(0.002)
        optimizer.step()
        steps += 1
        orphan_steps += os.getppid() != supervisor
        if orphan_steps > 1:
            states.append(state())
        if steps == 20:
            open(began, "w").close()
    return numbers

def main():
    before, counts = state(), set()
    while os.getppid() == supervisor:
        counts.add(len(train()))
    epochs = [train() for _ in range(EPOCHS)]
    with open(answer + ".part", "w") as file:
        json.dump({"before": before, "after": states, "counts": sorted(counts), "epochs": epochs}, file)
    os.rename(answer + ".part", answer)

steps, orphan_steps, states = 0, 0, []
if __name__ == "__main__":
    main()
"""
FAKE_LOADER = """
class Data:
    def __len__(self): return 40
    def __iter__(self):
        for i in range(40):
            time.sleep(0.002)
            yield [torch.Tensor(i)]
loader = torch.utils.data.DataLoader(Data())
def number_of(batch): return batch[0].value
"""
LOADER = """
torch.set_num_threads(2)
class Data(torch.utils.data.Dataset):
    def __len__(self): return 40
    def __getitem__(self, i):
        time.sleep(0.004)
        return i
loader = torch.utils.data.DataLoader(Data(), num_workers=2, persistent_workers=True)
def number_of(batch): return int(batch[0])
"""


class Killed(ProbedRun):
    def setUp(self):
        super().setUp()
        self.moments = random.Random(15)

    def start(self, python, script, began, answer, python_path):
        process = subprocess.Popen(
            [BIN, "probe", "--quiet", "--for", "10m", "--", python, "-B", script, began, answer],
            env=self.job_environment(python_path=python_path), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: os.path.exists(began))
        return process

    def kill(self, supervisor):
        """Both, in any order; a recorder that was restarted meanwhile ends by itself."""
        victims = [supervisor.pid, *processes("trainscope-rec", self.home)]
        self.assertGreater(len(victims), 1)
        self.moments.shuffle(victims)
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
        supervisor.wait()

    def check(self, python, count, replacements, **environment):
        """Blocks of the three kinds take turns every 0.4 s."""
        script = self.script(JOB, EPOCHS=8 if LONG else 3, **replacements)
        for number in range(count):
            with self.subTest(number=number):
                began, answer = self.path(f"began{number}"), self.path(f"answer{number}")
                supervisor = self.start(python, script, began, answer, **environment)
                try:
                    supervisor.wait(self.moments.uniform(0, 2))
                    self.fail("the probe has ended by itself")
                except subprocess.TimeoutExpired:
                    self.kill(supervisor)
                wait_until(lambda path=answer: os.path.exists(path))
                self.check_answer(json.loads(pathlib.Path(answer).read_text(encoding="utf-8")))

    def check_answer(self, job):
        self.assertTrue(job["after"])
        for state in job["after"]:
            self.assertEqual(state, job["before"])
        self.assertEqual(job["counts"], [40])
        for epoch in job["epochs"]:
            self.assertEqual(epoch, list(range(40)))

    def test_with_a_small_job(self):
        self.check(sys.executable, 50 if LONG else 2, {"LOADER": FAKE_LOADER, "OPTIMIZER": "torch.optim.SGD()"},
                   python_path=FAKES)

    def test_with_pytorch_and_workers(self):
        optimizer = "torch.optim.SGD([torch.nn.Parameter(torch.ones(1))])"
        self.check(torch_python(), 10 if LONG else 1, {"LOADER": LOADER, "OPTIMIZER": optimizer}, python_path="")


if __name__ == "__main__":
    main()
