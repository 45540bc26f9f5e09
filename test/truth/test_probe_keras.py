"""`probe` with real Keras: input that is hidden behind computing, and input that is there already, do not limit a job. Jobs that wait for
data are in test_probe_free_input.py."""
# ctest-timeout: 1500
import unittest

from instrumented_job import tensorflow_python
from probed_run import ProbedRun
from trainscope_test import LONG, main

# LOAD seconds for each element, two of which are made ahead; a step computes for WORK seconds of one processor.
JOB = """
import time, numpy, tensorflow as tf
matrix = numpy.ones((100, 100))
class Computing(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        end = time.thread_time() + WORK
        while time.thread_time() < end:
            matrix @ matrix  # NumPy lets the thread of the dataset run meanwhile.
one = numpy.full((8, 4), 0.1, "float32"), numpy.ones((8, 1), "float32")
def batches():
    while True:
        time.sleep(LOAD)
        yield one
signature = (tf.TensorSpec((8, 4)), tf.TensorSpec((8, 1)))
dataset = tf.data.Dataset.from_generator(batches, output_signature=signature).prefetch(2)
model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(dataset, steps_per_epoch=30, epochs=100000, verbose=0, callbacks=[Computing()])
"""
NOT_LIMITING = {"input": "not_limiting"}


@unittest.skipUnless(LONG, "takes 2 min: TRAINSCOPE_LONG=1")
class Keras(ProbedRun):
    def probe_keras(self, **replacements):
        script = self.script(JOB, **replacements)
        document, _ = self.probe_until_clear([tensorflow_python(), "-B", script], NOT_LIMITING, 60, python_path="")
        self.assertNotIn("input-bound", document["conclusion"] or "")

    def test_a_wait_that_is_hidden(self):
        self.probe_keras(LOAD=0.008, WORK=0.02)

    def test_input_that_is_there_does_not_limit(self):
        self.probe_keras(LOAD=0, WORK=0.012)


if __name__ == "__main__":
    main()
