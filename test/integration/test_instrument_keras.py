"""The module of `run --instrument` with real Keras and TensorFlow: steps are Keras' own, and so is the output."""
# ctest-timeout: 900
from instrumented_job import InstrumentedCase, tensorflow_python
from trainscope_test import main

MODEL = """
import sys, time, numpy, tensorflow as tf
tf.keras.utils.set_random_seed(1)
class Count(tf.keras.callbacks.Callback):
    steps = 0
    def on_train_batch_end(self, batch, logs=None): Count.steps += 1
def data(count, wait=0.0):
    def batches():
        for i in range(count):
            time.sleep(wait)
            yield numpy.full((8, 4), i / 10, "float32"), numpy.ones((8, 1), "float32")
    return tf.data.Dataset.from_generator(batches, output_signature=(tf.TensorSpec((8, 4)), tf.TensorSpec((8, 1))))
def model(**options):
    made = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(1)])
    made.compile("sgd", "mse", **options)
    return made
"""


class Keras(InstrumentedCase):
    def sent(self, source, **keywords):
        return self.sent_by(tensorflow_python(), MODEL + source, **keywords)

    def test_fit_evaluate_and_checkpoints(self):
        source = """
made = model()
history = made.fit(data(12).repeat(), steps_per_epoch=12, epochs=3, validation_data=data(3), verbose=0,
                   callbacks=[tf.keras.callbacks.ModelCheckpoint("model.keras")])
print(history.history, made.evaluate(data(3), verbose=0))
"""
        bare = self.run_job(tensorflow_python(), MODEL + source, is_bare=True)
        lines = self.sent(source)
        self.assertEqual(self.job.stdout, bare.stdout)
        self.assertEqual([step["number"] for step in lines.steps()], list(range(1, 37)))
        self.assertEqual(len(lines.phase_s("input")), 36)
        self.assertEqual(len(lines.starting("epoch")), 3)
        self.assertEqual(len(lines.starting("begin evaluation", "phase evaluation")), 4)
        self.assertEqual(len(lines.starting("begin checkpoint", "phase checkpoint")), 3)
        self.assertTrue(any("keras 3" in mark and "tensorflow" in mark for mark in lines.marks()), lines.marks())

    def test_input_wait(self):
        """Batches that take 30 ms are waited for; those that are in memory are not."""
        waits = {}
        for wait in (0.03, 0.0):
            dataset = "data(40, 0.03)" if wait else "data(4).cache().repeat(10)"
            lines = self.sent(f"""
began = time.monotonic()
model().fit({dataset}, verbose=0)
print(time.monotonic() - began)
""")
            waits[wait] = sum(lines.phase_s("input"))
            self.assertEqual(len(lines.steps()), 40)
        self.assertGreater(waits[0.03], 40 * 0.03 * 0.5)
        self.assertLess(waits[0.0], waits[0.03] / 4)

    def test_several_steps_per_execution(self):
        lines = self.sent("model(steps_per_execution=5).fit(data(40).repeat(), steps_per_epoch=20, epochs=2, verbose=0)")
        self.assertEqual([step["number"] for step in lines.steps()], list(range(5, 41, 5)))


if __name__ == "__main__":
    main()
