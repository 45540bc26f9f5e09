"""Keras on TensorFlow, as probes.py plants it: keras_job.py KIND WORKERS [SECONDS]

Like torch_job.py; the input is made by one thread, two batches ahead (WORKERS is ignored).
"""
import json
import os
import sys
import time

import numpy
import tensorflow as tf

COMPUTE_S = 0.012
INPUT = {"input": (0.036, 0), "cpu": (0, 0), "hidden": (0.006, 0), "clean": (0, 0.0004)}
WARM_UP = 30
MATRIX = numpy.random.default_rng(1).random((100, 100))


def spend_cpu(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        MATRIX @ MATRIX  # Other threads run meanwhile.


class Done(Exception):
    pass


class Computing(tf.keras.callbacks.Callback):
    """Computes in each step, and ends training after so many seconds (0: never)."""

    def __init__(self, compute_s, seconds):
        super().__init__()
        self.compute_s, self.seconds = compute_s, seconds
        self.steps, self.began, self.passed = 0, 0, 0

    def on_train_batch_end(self, batch, logs=None):
        spend_cpu(self.compute_s)
        self.steps += 1
        if self.steps == WARM_UP:
            self.began = time.monotonic()
        self.passed = time.monotonic() - self.began
        if self.seconds and self.steps > WARM_UP and self.passed > self.seconds:
            raise Done


ONE = numpy.full((64, 16), 0.1, "float32"), numpy.ones((64, 1), "float32")


def own_input(kind):
    sleep_s, compute_s = INPUT[kind]

    def batches():
        while True:
            if sleep_s:
                time.sleep(sleep_s)
            spend_cpu(compute_s)
            yield ONE

    signature = (tf.TensorSpec(ONE[0].shape), tf.TensorSpec(ONE[1].shape))
    return tf.data.Dataset.from_generator(batches, output_signature=signature).prefetch(2)


def main():
    kind = sys.argv[1]
    is_clean = kind == "clean"
    model = tf.keras.Sequential([tf.keras.layers.Dense(1024) for _ in range(4 if is_clean else 1)] + [tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(1e-9), "mse")
    compute_s = 0 if is_clean else COMPUTE_S

    def fit(dataset, seconds):
        computing = Computing(compute_s, seconds)
        try:
            model.fit(dataset, steps_per_epoch=50, epochs=1_000_000, verbose=0, callbacks=[computing])
        except Done:
            pass
        return computing.passed, computing.steps - WARM_UP

    if len(sys.argv) < 4:
        fit(own_input(kind), 0)
        return
    seconds = float(sys.argv[3])
    usual = fit(own_input(kind), seconds)
    free = fit(tf.data.Dataset.from_tensors(ONE).repeat(), seconds)
    print(json.dumps({"usual": usual, "free": free}), flush=True)
    os._exit(0)  # A generator without an end keeps TensorFlow from ending.


if __name__ == "__main__":
    main()
