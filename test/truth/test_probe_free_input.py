"""The effect that `probe` finds for the input is that of input that really is free.

Each job computes for about 10 ms per step and waits until a step takes 40 ms: waits and most of the computing are sleeps,
which a busy machine changes little. The same job times itself with and without its input, outside a run, before the probe
and after it; one of these ratios or one between them must be within the probe's interval, give or take TOLERANCE.
TRAINSCOPE_LONG=1: PyTorch with 0, 1 and 4 workers, and Keras, in four minutes; otherwise PyTorch with one worker.
"""
# ctest-timeout: 1500
import subprocess
import unittest

from instrumented_job import tensorflow_python, torch_python
from probed_run import SLOW_DATA, ProbedRun
from trainscope_test import LONG, main

TOLERANCE = 0.05  # of the ratio, which is about 0.3: the runs differ by that much on a busy machine
STEPS = 100 if LONG else 40  # that a job times
# "measure" as an argument: prints the mean time of a step with free input over that with its own.
TORCH_JOB = SLOW_DATA + """
import itertools, sys
torch.set_num_threads(1)
def train(batches):
    for batch in batches:
        time.sleep(0.01)
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
def time_s(batches):
    train(itertools.islice(batches, 12))
    began = time.monotonic()
    train(itertools.islice(batches, STEPS))
    return time.monotonic() - began
if __name__ == "__main__":
    loader = torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=WORKERS)
    if sys.argv[1:] == ["measure"]:
        print(time_s(itertools.repeat(torch.ones(4, 4))) / time_s(iter(loader)))
    else:
        train(loader)
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
        if Computing.steps == 20 + STEPS and mode:
            print((time.monotonic() - Computing.began) / STEPS, flush=True)
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
    def printed(self, python, script, mode):
        """The number that the job prints, outside a run."""
        done = subprocess.run([python, "-B", script, mode], env=self.job_environment(python_path=""), check=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        return float(done.stdout.split()[-1])

    def check(self, python, script, measure):
        before = measure()
        document, effects = self.probe_until_clear([python, "-B", script], {"input": "limiting"}, 60 if LONG else 15,
                                                   python_path="")
        self.assert_agrees(effects["input"], (before, measure()), TOLERANCE)
        self.assertEqual(document["conclusion"], "input-bound, proven")

    def test_pytorch(self):
        """LOAD is per item; four of them are a batch."""
        for workers, load in ((0, 0.0075), (1, 0.01), (4, 0.04)) if LONG else ((1, 0.01),):
            with self.subTest(workers=workers):
                script = self.script(TORCH_JOB, WORKERS=workers, LOAD=load, STEPS=STEPS)
                self.check(torch_python(), script, lambda: self.printed(torch_python(), script, "measure"))

    @unittest.skipUnless(LONG, "takes 90 s: TRAINSCOPE_LONG=1")
    def test_keras(self):
        script = self.script(KERAS_JOB, STEPS=STEPS)
        self.check(tensorflow_python(), script, lambda: self.printed(tensorflow_python(), script, "free")
                   / self.printed(tensorflow_python(), script, "usual"))


if __name__ == "__main__":
    main()
