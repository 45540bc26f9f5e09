"""The effect that `probe` finds for the input is that of input that really is free.

Each job computes for about 10 ms per step and waits until a step takes 40 ms: waits and most of the computing are sleeps,
which a busy machine changes little. The same job times itself with and without its input, outside a run; that ratio
must be within the probe's interval, give or take TOLERANCE.
"""
# ctest-timeout: 900
import csv
import io
import subprocess

from instrumented_job import tensorflow_python, torch_python
from probed_run import ProbedRun
from trainscope_test import main

TOLERANCE = 0.05  # of the ratio, which is about 0.3: the runs differ by that much on a busy machine
# "free" or "usual" as an argument: prints the mean time of 100 steps.
TORCH_JOB = """
import itertools, sys, time, torch
torch.set_num_threads(1)
class Data(torch.utils.data.Dataset):
    def __len__(self): return 1000000
    def __getitem__(self, i):
        time.sleep(LOAD)
        return torch.full((4,), float(i))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-9)
def main(mode):
    loader = torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=WORKERS)
    batches = itertools.repeat(torch.ones(4, 4)) if mode == "free" else loader
    for step, batch in enumerate(batches):
        time.sleep(0.01)
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
        if step == 20:
            began = time.monotonic()
        if step == 120 and mode:
            print((time.monotonic() - began) / 100)
            break
if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
"""
KERAS_JOB = """
import os, sys, time, numpy, tensorflow as tf
mode = sys.argv[1] if len(sys.argv) > 1 else ""
class Computing(tf.keras.callbacks.Callback):
    steps = 0
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.01)
        Computing.steps += 1
        if Computing.steps == 20:
            Computing.began = time.monotonic()
        if Computing.steps == 120 and mode:
            print((time.monotonic() - Computing.began) / 100, flush=True)
            os._exit(0)  # A generator without an end keeps TensorFlow from ending.
one = numpy.full((8, 4), 0.1, "float32"), numpy.ones((8, 1), "float32")
def batches():
    while True:
        time.sleep(0.04)
        yield one
signature = (tf.TensorSpec((8, 4)), tf.TensorSpec((8, 1)))
slow = tf.data.Dataset.from_generator(batches, output_signature=signature).prefetch(2)
model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(tf.data.Dataset.from_tensors(one).repeat() if mode == "free" else slow, steps_per_epoch=30, epochs=100000,
          verbose=0, callbacks=[Computing()])
"""


class FreeInput(ProbedRun):
    def step_s(self, python, script, mode):
        """As the job measures it, outside a run."""
        done = subprocess.run([python, "-B", script, mode], env=self.job_environment(python_path=""), check=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        return float(done.stdout.split()[-1])

    def assert_agrees(self, effect, truth):
        self.assertEqual(effect["verdict"], "limiting", effect)
        self.assertGreaterEqual(effect["blocks"], 16, effect)
        self.assert_between(effect["low"] - TOLERANCE, truth, effect["high"] + TOLERANCE, effect["sentence"])

    def check(self, python, script, time):
        truth = self.step_s(python, script, "free") / self.step_s(python, script, "usual")
        document, effects = self.probe([python, "-B", script], "--for", time, python_path="")
        self.assert_agrees(effects["input"], truth)
        self.assertEqual(document["conclusion"], "input-bound, proven")

    def test_pytorch_with_0_1_and_4_workers(self):
        """LOAD is per item; four of them are a batch."""
        for workers, load in ((0, 0.0075), (1, 0.01), (4, 0.04)):
            with self.subTest(workers=workers):
                self.check(torch_python(), self.script(TORCH_JOB, WORKERS=workers, LOAD=load), "60s")

    def test_keras(self):
        self.check(tensorflow_python(), self.script(KERAS_JOB), "90s")

    def test_the_workload(self):
        """Its steps are computed, not slept: the input takes 60 ms longer."""
        slow = ("--input", "slow:60ms")
        free_s, usual_s = (self.workload_step_s(*options) for options in (("--resident",), slow))
        _, effects = self.probe(self.workload("--seconds", "90", *slow), "--for", "40s")
        self.assert_agrees(effects["input"], free_s / usual_s)

    def workload_step_s(self, *options):
        self.record(self.workload("--steps", "200", *options))
        rows = self.trainscope("sql", "latest", "select avg(duration_s) from steps where step > 20").stdout.decode()
        return float(list(csv.reader(io.StringIO(rows)))[1][0])


if __name__ == "__main__":
    main()
