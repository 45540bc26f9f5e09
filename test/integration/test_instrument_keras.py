"""The module of `run --instrument` with real Keras and TensorFlow: steps are Keras' own, and so is the output."""
# ctest-timeout: 900
import re

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

    def test_an_evaluation_that_fails_hides_no_later_one(self):
        """Whether or not the job has trained since."""
        lines = self.sent("""
class Fails(tf.keras.callbacks.Callback):
    def on_test_batch_end(self, batch, logs=None): raise ValueError("planted")
made = model()
def fail():
    try: made.evaluate(data(3), verbose=0, callbacks=[Fails()])
    except ValueError: print("failed")
for _ in range(2):
    made.fit(data(4), verbose=0)
    fail()
fail()
made.evaluate(data(3), verbose=0)
""")
        self.assertEqual(self.job.stdout, b"failed\n" * 3)
        self.assertEqual(len(lines.starting("begin evaluation", "phase evaluation")), 4, lines.all)
        self.assertEqual(len(lines.starting("end evaluation", "phase evaluation")), 3)

    def test_input_wait(self):
        """Batches that take 100 ms are waited for; those that are in memory are not, or hardly on a busy machine."""
        waits = {}
        for wait in (0.1, 0.0):
            dataset = "data(40, 0.1)" if wait else "data(4).cache().repeat(10)"
            lines = self.sent(f"""
began = time.monotonic()
model().fit({dataset}, verbose=0)
print(time.monotonic() - began)
""")
            waits[wait] = sum(lines.phase_s("input"))
            self.assertEqual(len(lines.steps()), 40)
        self.assertGreater(waits[0.1], 40 * 0.1 * 0.5)
        self.assertLess(waits[0.0], waits[0.1] / 2)

    def test_several_steps_per_execution(self):
        lines = self.sent("model(steps_per_execution=5).fit(data(40).repeat(), steps_per_epoch=20, epochs=2, verbose=0)")
        self.assertEqual([step["number"] for step in lines.steps()], list(range(5, 41, 5)))

    def test_the_last_execution_of_an_epoch_may_have_fewer_steps(self):
        lines = self.sent("""
batches = tf.data.Dataset.from_tensors((numpy.ones((8, 4), "float32"), numpy.ones((8, 1), "float32"))).repeat(13)
made = model(steps_per_execution=5)
made.fit(batches, epochs=2, verbose=0)
print(int(made.optimizer.iterations.numpy()))
""")
        self.assertEqual(self.job.stdout, b"26\n")
        self.assertEqual([step["number"] for step in lines.steps()], [5, 10, 13, 18, 23, 26])

    def test_numbers_of_an_epoch_that_are_none(self):
        """Metrics may be arrays, and there may be more than fit into a line."""
        source = """
class PerClass(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(epoch)
model_ = model()
original = type(model_).get_metrics_result
def results(self): return {**original(self), "per_class": numpy.ones(3), "none": None, **{f"a_rather_long_name_of_a_metric_{i}": float(i) for i in range(150)}}
type(model_).get_metrics_result = results
model_.fit(data(4).repeat(), steps_per_epoch=4, epochs=3, verbose=0, callbacks=[PerClass()])
"""
        lines = self.sent(source)
        self.assertEqual(self.job.stdout, b"0\n1\n2\n")
        self.assertEqual([step["number"] for step in lines.steps()], list(range(1, 13)))
        self.assertEqual(len(lines.starting("epoch")), 3)
        found = {name for line in lines.starting("epoch 1 ", "scalar ") for name in re.findall(r"a_rather_long_name_of_a_metric_\d+", line)}
        self.assertEqual(len(found), 150)
        self.assertFalse(any("stopped" in mark for mark in lines.marks()), lines.marks())


class TensorFlow(InstrumentedCase):
    def assert_as_bare(self, source):
        bare = self.run_job(tensorflow_python(), MODEL + source, is_bare=True)
        lines = self.sent_by(tensorflow_python(), MODEL + source)
        self.assertEqual(self.job.stdout, bare.stdout)
        return lines

    def test_graphs_of_version_1_are_the_jobs_own(self):
        """Their variables are what a checkpoint consists of."""
        self.assert_as_bare("""
tf.compat.v1.disable_eager_execution()
x, y = tf.compat.v1.data.make_one_shot_iterator(data(5)).get_next()
weight = tf.compat.v1.Variable(1.0)
update = weight.assign_add(tf.reduce_mean(x))
print([v.name for v in tf.compat.v1.global_variables()], len(tf.compat.v1.get_default_graph().get_operations()))
with tf.compat.v1.Session() as session:
    session.run(tf.compat.v1.global_variables_initializer())
    for _ in range(5): session.run(update)
    tf.compat.v1.train.Saver().save(session, "./model")
print(tf.train.list_variables("./model"))
""")

    def test_a_function_that_reads_data_can_be_exported(self):
        self.assert_as_bare("""
class Sum(tf.Module):
    def __init__(self):
        super().__init__()
        self.data = tf.data.Dataset.range(3, 5)
    @tf.function(input_signature=[])
    def __call__(self):
        elements = iter(self.data)
        return next(elements) + next(elements)
class Broken(tf.keras.layers.Layer):
    def call(self, x): raise ValueError("broken")
broken = tf.keras.Sequential([Broken()])
broken.compile("sgd", "mse")
try: broken.fit(data(4), verbose=0)
except ValueError: print("broken")
made = Sum()
print(made().numpy())
tf.saved_model.save(made, "saved")
print(tf.saved_model.load("saved")().numpy())
""")

    def test_a_trained_model_can_be_exported(self):
        self.assert_as_bare("""
made = model()
made.fit(data(4), verbose=0)
tf.saved_model.save(made, "saved")
print(tf.train.list_variables("saved/variables/variables"))
""")


if __name__ == "__main__":
    main()
