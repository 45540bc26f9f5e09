"""`probe` with real Keras and TensorFlow: elements of tf.data are replaced inside of the graph, and epochs keep their length."""
# ctest-timeout: 900
import json
import unittest

from instrumented_job import tensorflow_python
from probed_job import BLOCK, DrainedFifo, ProbedBlock, ProbedCase
from trainscope_test import LONG, main

JOB = """
import json, os, sys, time, numpy, tensorflow as tf
tf.keras.utils.set_random_seed(1)
class Count(tf.keras.callbacks.Callback):
    counts = []
    def on_epoch_begin(self, epoch, logs=None): Count.counts.append(0)
    def on_train_batch_end(self, batch, logs=None): Count.counts[-1] += 1
def data(count, wait):
    def batches():
        for i in range(count):
            time.sleep(wait)
            made.append(i)
            yield numpy.full((8, 4), 0.1, "float32"), numpy.ones((8, 1), "float32")
    return tf.data.Dataset.from_generator(batches, output_signature=(tf.TensorSpec((None, 4)), tf.TensorSpec((None, 1))))
made = []
cpus = os.sched_getaffinity(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
"""


class Keras(ProbedCase):
    def probed_keras(self, source):
        with DrainedFifo(self.fifo) as drained:
            self.job = self.run_job(tensorflow_python(), JOB + source)
        self.lines = drained.bytes.decode().split("\n")
        return [ProbedBlock(match) for match in map(BLOCK.match, self.lines) if match]

    def test_elements_are_replaced_and_epochs_keep_their_length(self):
        blocks = self.probed_keras("""
dataset = data(150, 0.012).apply(tf.data.experimental.assert_cardinality(150)).prefetch(4)
model.fit(dataset, epochs=4, verbose=0, callbacks=[Count()])
print(json.dumps([Count.counts, os.sched_getaffinity(0) == cpus, len(made)]))""")
        counts, has_cpus, made = json.loads(self.job.stdout)
        self.assertEqual((counts, has_cpus), ([150] * 4, True))
        self.assertLess(made, 4 * 150 - 5)  # The others were replaced.
        self.assertIn("input", {block.what for block in blocks}, self.marks())
        self.assertTrue(all(" threads=0 " in mark for mark in self.marks() if "what=" in mark), self.marks())
        self.assertFalse([mark for mark in self.marks() if "stopped" in mark], self.marks())

    @unittest.skipUnless(LONG, "takes 15 s: TRAINSCOPE_LONG=1")
    def test_a_dataset_without_a_length_is_left_alone(self):
        blocks = self.probed_keras("""
model.fit(data(300, 0), verbose=0, callbacks=[Count()])
print(json.dumps(Count.counts))""")
        self.assertEqual(json.loads(self.job.stdout), [300])
        self.assertNotIn("input", {block.what for block in blocks})
        self.assertTrue(any("probe cannot input: the dataset has no length" in mark for mark in self.marks()), self.marks())


if __name__ == "__main__":
    main()
