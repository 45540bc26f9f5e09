"""Planted jobs of truth.toml as plain Keras trainings on the CPU: `keras_jobs.py CASE SECONDS FOLDER`.

They report nothing: `run --instrument` does. TensorFlow computes in pools of threads and reads ahead in others; the main
thread only waits for them, whatever limits the training.
"""
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras  # noqa: E402
import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402

from jobs import MB, kept_file  # noqa: E402

FEATURES = 512


def cold_dataset(file, size, rows):
    """Batches of `rows`; for each of them tf.data reads `size` bytes of the file, ahead of the training."""
    batch = tf.constant(numpy.random.rand(rows, FEATURES).astype("float32"))

    def sample(read):
        # A sum of the length keeps the read from being optimised away.
        return batch + tf.cast(tf.strings.length(read), tf.float32) * 1e-9, tf.zeros((rows,), tf.int32)
    return tf.data.FixedLengthRecordDataset(file, size).repeat().map(sample).prefetch(4)


class ColdFile(keras.callbacks.Callback):
    """Nothing of the file stays in the page cache, as if it were larger than the memory."""

    def __init__(self, file):
        super().__init__()
        self.fd = os.open(file, os.O_RDONLY)

    def on_train_batch_end(self, batch, logs=None):
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)


class Deadline(keras.callbacks.Callback):
    """Ends `seconds` after the first step, in which TensorFlow compiles."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds, self.end = seconds, None

    def on_train_batch_end(self, batch, logs=None):
        self.end = self.end or time.monotonic() + self.seconds
        if time.monotonic() > self.end:
            self.model.stop_training = True


def train(seconds, folder, size, rows, width, layers):
    file = kept_file(folder, "cold", 512 * MB)
    hidden = [keras.layers.Dense(width, activation="relu") for _ in range(layers)]
    model = keras.Sequential([keras.layers.Input((FEATURES,)), *hidden, keras.layers.Dense(10)])
    model.compile(optimizer="sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(cold_dataset(file, size, rows), steps_per_epoch=10, epochs=1 << 20, verbose=2,
              callbacks=[ColdFile(file), Deadline(seconds)])


def keras_prefetch(seconds, folder):
    train(seconds, folder, 4 * MB, 1024, 1024, 4)


def keras_input_disk(seconds, folder):
    train(seconds, folder, 32 * MB, 32, 64, 1)


if __name__ == "__main__":
    globals()[sys.argv[1]](float(sys.argv[2]), sys.argv[3])
