"""Trainscope is killed at random moments of a probe: the job keeps running, and nothing of it stays changed.

Jobs in Python check that themselves: the CPUs of all threads and workers, PyTorch's threads, the number of batches in each
epoch, and which ones they are (with Keras, how many were made). The built-in job shows it by its step times. TRAINSCOPE_LONG=1:
at 50 moments each with a small job and with PyTorch, and at 10 each with Keras and with the built-in job, which takes about a quarter
of an hour; otherwise at 5.
"""
# ctest-timeout: 3600
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import time

from instrumented_job import FAKES, tensorflow_python, torch_python
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
# The same with fit(): an epoch of which no element was replaced makes all of them.
KERAS_JOB = """
import json, os, sys, time, numpy, tensorflow as tf
supervisor, began, answer = os.getppid(), sys.argv[1], sys.argv[2]
made, states, steps, orphan_steps = [], [], 0, 0

def state():
    "CPUs that any thread of the job may use."
    cpus = set()
    for thread in os.listdir("/proc/self/task"):
        try:
            cpus.add(tuple(sorted(os.sched_getaffinity(int(thread)))))
        except OSError:
            pass  # It has ended.
    return sorted(cpus)

def elements():
    own = len(made)  # An iterator of before may still make its next one.
    made.append(0)
    for _ in range(40):
        time.sleep(0.004)
        made[own] += 1
        yield numpy.full((8, 4), 0.1, "float32"), numpy.ones((8, 1), "float32")

class Observer(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        global steps, orphan_steps
        steps += 1
        orphan_steps += os.getppid() != supervisor
        if orphan_steps > 1:
            states.append(state())
        if steps == 20:
            open(began, "w").close()

signature = tf.TensorSpec((None, 4)), tf.TensorSpec((None, 1))
dataset = tf.data.Dataset.from_generator(elements, output_signature=signature)
dataset = dataset.apply(tf.data.experimental.assert_cardinality(40)).prefetch(2)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")

def train():
    "How many elements were made for an epoch, and how many steps it had."
    before = steps
    model.fit(dataset, verbose=0, callbacks=[Observer()])
    return made[-1], steps - before

before, counts = state(), set()
while os.getppid() == supervisor:
    counts.add(train()[1])
epochs = [list(range(train()[0])) for _ in range(EPOCHS)]
with open(answer + ".part", "w") as file:
    json.dump({"before": before, "after": states, "counts": sorted(counts), "epochs": epochs}, file)
os.rename(answer + ".part", answer)
"""
# The built-in job: 40 ms for each batch, of which four are loaded ahead.
WAIT_S, SETTLED_STEPS = 0.040, 8
START_S = 120  # TensorFlow on a busy machine


class Killed(ProbedRun):
    def setUp(self):
        super().setUp()
        self.moments = random.Random(15)

    def start(self, *job, python_path=""):
        process = subprocess.Popen(
            [BIN, "probe", "--quiet", "--for", "10m", "--", *job], env=self.job_environment(python_path=python_path),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def kill(self, supervisor):
        """Both, in any order; a recorder that was restarted meanwhile ends by itself."""
        victims = [supervisor.pid, *processes("trainscope-rec", self.home)]
        self.assertGreater(len(victims), 1)
        self.moments.shuffle(victims)
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
        supervisor.wait()

    def kill_at_random(self, supervisor):
        """Blocks of the three kinds take turns every 0.4 s."""
        try:
            supervisor.wait(self.moments.uniform(0, 2))
            self.fail("the probe has ended by itself")
        except subprocess.TimeoutExpired:
            self.kill(supervisor)

    def check(self, python, count, replacements, job=JOB, **environment):
        script = self.script(job, EPOCHS=8 if LONG else 3, **replacements)
        for number in range(count):
            with self.subTest(number=number):
                began, answer = self.path(f"began{number}"), self.path(f"answer{number}")
                supervisor = self.start(python, "-B", script, began, answer, **environment)
                wait_until(lambda path=began: os.path.exists(path), START_S)
                self.kill_at_random(supervisor)
                wait_until(lambda path=answer: os.path.exists(path), START_S)
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
        self.check(torch_python(), 50 if LONG else 1, {"LOADER": LOADER, "OPTIMIZER": optimizer}, python_path="")

    def test_with_keras(self):
        self.check(tensorflow_python(), 10 if LONG else 1, {}, KERAS_JOB)

    def test_with_the_built_in_job(self):
        """Its own step times show it: steps wait for their batches again, once those that were loaded meanwhile are used up."""
        for number in range(10 if LONG else 1):
            with self.subTest(number=number):
                log = self.path(f"steps{number}")
                supervisor = self.start(*self.workload("--input", f"slow:{1000 * WAIT_S:g}ms", "--seconds", "600", "--step-log", log))
                wait_until(lambda path=log: min(step_times(path), default=WAIT_S) < WAIT_S / 2, START_S)
                self.kill_at_random(supervisor)
                killed_s = time.monotonic()
                after = wait_until(lambda path=log, s=killed_s: step_times(path, s)[SETTLED_STEPS:][19:] and step_times(path, s),
                                   START_S)
                self.assertGreater(statistics.median(after[SETTLED_STEPS:]), WAIT_S, after)
                for job in processes("trainscope-work", self.home):
                    os.kill(job, signal.SIGKILL)


def step_times(path, from_s=0.0):
    """Of the steps that began after that, as far as they were written."""
    text = pathlib.Path(path).read_text(encoding="ascii") if os.path.exists(path) else ""
    steps = [tuple(map(float, line.split())) for line in text.split("\n")[:-1]]
    return [duration_s for _, begin_s, duration_s in steps if begin_s >= from_s]


if __name__ == "__main__":
    main()
