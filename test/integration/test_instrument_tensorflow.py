"""The module of `run --instrument` with loops of the job's own on real TensorFlow: steps are those that the script counts."""
# ctest-timeout: 900
import unittest

from instrumented_job import InstrumentedCase, tensorflow_python
from progress_fifo import PYTHON_CLIENT
from trainscope_test import LONG, main

MODEL = """
import os, sys, time, numpy, tensorflow as tf
if "TWO_DEVICES" in os.environ:
    processors = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(processors[0], [tf.config.LogicalDeviceConfiguration()] * 2)
tf.keras.utils.set_random_seed(1)
weight = tf.Variable(1.0)
optimizer = tf.keras.optimizers.SGD(0.01)
done = 0
def data(count, wait=0.0):
    def items():
        for i in range(count):
            time.sleep(wait)
            yield float(i)
    return tf.data.Dataset.from_generator(items, output_signature=tf.TensorSpec(()))
def update(x, variable=weight, by=optimizer):
    with tf.GradientTape() as tape: loss = (variable - x) ** 2
    by.apply_gradients([(tape.gradient(loss, variable), variable)])
    return loss
"""


class Loops(InstrumentedCase):
    def sent(self, source, **keywords):
        return self.sent_by(tensorflow_python(), MODEL + source, **keywords)

    def assert_steps(self, source, count=None, **keywords):
        """The script prints how many steps it made."""
        lines = self.sent(source + "\nprint(done)", **keywords)
        made = int(self.job.stdout.split()[-1])
        if count is not None:
            self.assertEqual(made, count)
        self.assertEqual([step["number"] for step in lines.steps()], list(range(1, made + 1)), lines.all)
        self.assertFalse(any("stopped" in mark for mark in lines.marks()), lines.marks())
        return lines

    def test_functions_are_steps_and_evaluations_are_not(self):
        """A retrace, of a batch of another shape, is no other step. Nothing that the job prints differs."""
        source = """
train = tf.function(update)
@tf.function
def evaluate(x): return (weight - x) ** 2
for epoch in range(3):
    for batch in data(10): print(train(batch).numpy()); done += 1
    train(tf.constant([1.0, 2.0])); done += 1
    print(sum(float(evaluate(batch)) for batch in data(7)))
"""
        bare = self.run_job(tensorflow_python(), MODEL + source, is_bare=True)
        lines = self.assert_steps(source, 33)
        self.assertEqual(self.job.stdout, bare.stdout + b"33\n")
        self.assertTrue(any("tensorflow 2" in mark and ": steps input" in mark for mark in lines.marks()), lines.marks())
        self.assertTrue(any("33 steps of own loops" in mark for mark in lines.marks()), lines.marks())
        self.assertEqual(len(lines.phase_s("input")), 30, "data to evaluate with is read too")

    @unittest.skipUnless(LONG, "imports TensorFlow once more: TRAINSCOPE_LONG=1")
    def test_a_function_that_reads_the_data_itself(self):
        self.assert_steps("""
@tf.function
def train(iterator): return update(next(iterator))
for epoch in range(2):
    iterator = iter(data(10))
    try:
        while True: train(iterator); done += 1
    except tf.errors.OutOfRangeError: pass
""", 20)

    @unittest.skipUnless(LONG, "imports TensorFlow once more: TRAINSCOPE_LONG=1")
    def test_a_function_calls_another(self):
        """One that was traced before too, and one that was traced for the job."""
        self.assert_steps("""
inner = tf.function(update)
inner(tf.constant(1.0)); done += 1
@tf.function
def outer(x): return inner(x) + 1.0
for batch in data(10): outer(batch); done += 1
concrete = tf.function(lambda x: update(x)).get_concrete_function(tf.TensorSpec(()))
for batch in data(10): concrete(batch); done += 1
fresh = tf.function(lambda x: update(x))
around = tf.function(lambda x: fresh(x))
for batch in data(5): around(batch); done += 1
for batch in data(5): fresh(batch); done += 1
""", 31)

    @unittest.skipUnless(LONG, "imports TensorFlow once more: TRAINSCOPE_LONG=1")
    def test_only_the_graph_that_updates(self):
        """One function makes graphs for training and for evaluation."""
        self.assert_steps("""
@tf.function
def step(x, training): return update(x) if training else (weight - x) ** 2
for batch in data(10): step(batch, True); step(batch, False); done += 1
""", 10)

    def test_functions_of_objects(self):
        self.assert_steps("""
class Trainer:
    def __init__(self): self.weight, self.optimizer = tf.Variable(1.0), tf.keras.optimizers.Adam(0.01)
    @tf.function(jit_compile=True)
    def train(self, x): return update(x, self.weight, self.optimizer)
generator, critic = Trainer(), Trainer()
for batch in data(12): critic.train(batch); generator.train(batch); done += 1
""", 12)

    def test_outside_of_functions(self):
        lines = self.assert_steps("""
for batch in data(20): update(batch); done += 1
old = tf.compat.v1.train.GradientDescentOptimizer(0.01)
for batch in data(5): update(batch, by=old); done += 1
optimizer.apply([tf.constant(1.0)], [weight]); done += 1
""", 26)
        self.assertEqual(len(lines.phase_s("input")), 25)

    @unittest.skipUnless(LONG, "imports TensorFlow once more: TRAINSCOPE_LONG=1")
    def test_functions_that_are_run_eagerly(self):
        self.assert_steps("""
tf.config.run_functions_eagerly(True)
train = tf.function(update)
for batch in data(10): train(batch); done += 1
""", 10)

    def test_several_optimizers_make_one_step(self):
        """In one function, in several, and outside of functions."""
        self.assert_steps("""
others = [(tf.Variable(0.0), tf.keras.optimizers.SGD(0.01)) for _ in range(2)]
def both(x): return [update(x, *other) for other in others]
functions = [tf.function(lambda x, other=other: update(x, *other)) for other in others]
for batch in data(10): both(batch); done += 1
together = tf.function(both)
for batch in data(10): together(batch); done += 1
for batch in data(10):
    for function in functions: function(batch)
    done += 1
for batch in data(10):
    for _ in range(3): functions[0](batch); done += 1
    functions[1](batch)
""", 60)

    @unittest.skipUnless(LONG, "imports TensorFlow once more: TRAINSCOPE_LONG=1")
    def test_one_after_the_other_makes_two(self):
        """Two functions in phases of several steps each."""
        self.assert_steps("""
policy = tf.function(update)
value = tf.function(lambda x: update(x, critic, critic_optimizer))
critic, critic_optimizer = tf.Variable(0.0), tf.keras.optimizers.SGD(0.01)
for _ in range(4):
    for batch in data(3): policy(batch); done += 1
    for batch in data(6): value(batch); done += 1
for batch in data(5): policy(batch); done += 1
""", 41)

    @unittest.skipUnless(LONG, "imports TensorFlow once more: TRAINSCOPE_LONG=1")
    def test_accumulation_and_scaled_losses(self):
        """An update that is skipped because of its gradients is no step, where the script sees it."""
        self.assert_steps("""
total = tf.Variable(0.0)
@tf.function
def accumulate(x): total.assign_add(weight - x)
@tf.function
def train():
    optimizer.apply([total / 4.0], [weight])
    total.assign(0.0)
for number, batch in enumerate(data(20)):
    accumulate(batch)
    if number % 4 == 3: train(); done += 1
scaled = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.01))
for batch in data(5):
    scaled.apply([batch * 1000.0], [weight]); done += 1
""", 10)

    @unittest.skipUnless(LONG, "imports TensorFlow once more: TRAINSCOPE_LONG=1")
    def test_strategies(self):
        """With one thread for each device, and without threads."""
        self.assert_steps("""
for strategy in (tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]), tf.distribute.OneDeviceStrategy("/cpu:0")):
    with strategy.scope(): shared, by = tf.Variable(1.0), tf.keras.optimizers.SGD(0.01)
    def replica(x): return update(x, shared, by)
    @tf.function
    def train(x): return strategy.run(replica, args=(x,))
    batches = tf.data.Dataset.range(40).map(lambda x: tf.cast(x, tf.float32)).batch(4, drop_remainder=True)
    for batch in strategy.experimental_distribute_dataset(batches): train(batch); done += 1
    inside = tf.function(replica)
    for batch in strategy.experimental_distribute_dataset(batches): strategy.run(inside, args=(batch,)); done += 1
""", 40, TWO_DEVICES="1")
        lines = self.sent("""
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope(): shared, by = tf.Variable(1.0), tf.keras.optimizers.SGD(0.01)
for _ in range(3): strategy.run(update, args=(2.0, shared, by))
""", TWO_DEVICES="1")
        self.assertEqual(lines.steps(), [])
        self.assertTrue(any("steps of a strategy (it updates in threads" in mark for mark in lines.marks()), lines.marks())

    def test_a_loop_in_a_graph_is_not_counted(self):
        """Nobody knows how many steps it makes: that is said, and other functions are counted."""
        lines = self.sent("""
@tf.function
def epoch(dataset):
    for x in dataset: update(x)
@tf.function
def repeat():
    for _ in tf.range(5): update(1.0)
for _ in range(3): epoch(data(5)); repeat()
""")
        self.assertEqual(lines.steps(), [], lines.all)
        for name in ("epoch", "repeat"):
            self.assertTrue(any(f"steps of {name} (it trains in a loop" in mark for mark in lines.marks()), lines.marks())
        self.assert_steps("""
@tf.function
def train(x):
    for _ in tf.range(3): update(x)
    update(x, other, other_optimizer)
other, other_optimizer = tf.Variable(1.0), tf.keras.optimizers.SGD(0.01)
for batch in data(10): train(batch); done += 1
""", 10)

    def test_fit_and_own_loops(self):
        """One after the other is one training, and nothing of fit() is counted twice."""
        lines = self.assert_steps("""
class Count(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        global done
        done += 1
for eagerly in (False, True):
    made = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    made.compile("sgd", "mse", run_eagerly=eagerly)
    x, y = numpy.ones((24, 4), "float32"), numpy.ones((24, 1), "float32")
    train = tf.function(update)
    for batch in data(5): train(batch); done += 1
    made.fit(x, y, batch_size=4, epochs=2, verbose=0, validation_data=(x, y), callbacks=[Count()])
    made.evaluate(x, y, verbose=0)
    for batch in data(5): train(batch); done += 1
    for _ in range(3): made.train_on_batch(x, y); done += 1
    made.test_on_batch(x, y)
""", 50)
        self.assertFalse(any("not attached" in mark for mark in lines.marks()), lines.marks())

    def test_input_wait(self):
        """Data that takes 50 ms is waited for in the steps; what is read to evaluate with is not part of them."""
        lines = self.assert_steps("""
train = tf.function(update)
validation = iter(data(1000, 0.02))
for epoch in range(2):
    for number, batch in enumerate(data(10, 0.05)):
        train(batch); done += 1
        if number == 4:
            for _ in range(5): next(validation)
    for batch in data(5, 0.02): pass
""", 20)
        waits = lines.phase_s("input")
        self.assertEqual(len(waits), 20)
        self.assertGreater(sum(waits), 20 * 0.05 * 0.5)

    @unittest.skipUnless(LONG, "imports TensorFlow once more: TRAINSCOPE_LONG=1")
    def test_the_jobs_own_reports_count(self):
        lines = self.sent("""
import trainscope
train = tf.function(update)
for number, batch in enumerate(data(10)): train(batch); trainscope.step(number + 1, loss=0.5)
""", python_path=str(PYTHON_CLIENT))
        self.assertEqual(len(lines.steps()), 10)
        self.assertTrue(all("loss" in step for step in lines.steps()), lines.all)

    @unittest.skipUnless(LONG, "imports TensorFlow once more: TRAINSCOPE_LONG=1")
    def test_other_threads(self):
        """Each thread has its own count; the first to end a step is the training's."""
        lines = self.sent("""
import threading
def work(count):
    variable, by = tf.Variable(1.0), tf.keras.optimizers.SGD(0.01)
    train = tf.function(lambda x: update(x, variable, by))
    for batch in data(count): train(batch)
work(5)
thread = threading.Thread(target=work, args=(7,), name="other")
thread.start(); thread.join()
""")
        self.assertEqual([step["number"] for step in lines.steps()], list(range(1, 6)))
        other, = lines.senders() - {None}
        self.assertTrue(other.endswith(".other"), other)
        self.assertEqual([step["number"] for step in lines.steps(other)], list(range(1, 8)))

    def test_a_failure_of_ours_ends_it_and_not_the_job(self):
        lines = self.sent("""
train = tf.function(update)
for batch in data(5): train(batch)
loops = sys.modules["_trainscope_instrument.tensorflow_loops"]
def fail(*arguments): raise RuntimeError("planted")
loops._begin_call = fail
for batch in data(5): train(batch); update(batch)
print(int(optimizer.iterations.numpy()))
""")
        self.assertEqual(self.job.stdout, b"15\n")
        self.assertTrue(any("stopped in the call of a graph: RuntimeError: planted" in mark for mark in lines.marks()),
                        lines.marks())
        self.assertLessEqual(len(lines.steps()), 5)

    @unittest.skipUnless(LONG, "imports TensorFlow once more: TRAINSCOPE_LONG=1")
    def test_what_is_raised_reaches_the_job(self):
        """A call that fails is no step, and later ones are."""
        self.assert_steps("""
class Planted(Exception): pass
@tf.function
def train(x):
    update(x)
    tf.debugging.assert_less(x, 3.0)
for batch in data(6):
    try: train(batch); done += 1
    except tf.errors.InvalidArgumentError: pass
train(tf.constant(1.0)); done += 1
""", 4)

    @unittest.skipUnless(LONG, "imports TensorFlow once more: TRAINSCOPE_LONG=1")
    def test_exports_and_graphs_of_version_1(self):
        source = """
class Trainer(tf.Module):
    def __init__(self): self.weight, self.optimizer = tf.Variable(1.0), tf.keras.optimizers.SGD(0.01)
    @tf.function(input_signature=[tf.TensorSpec(())])
    def train(self, x): return update(x, self.weight, self.optimizer)
made = Trainer()
tf.saved_model.save(made, "saved")
loaded = tf.saved_model.load("saved")
print(tf.train.list_variables("saved/variables/variables"), float(loaded.train(tf.constant(2.0))))
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    variable = tf.compat.v1.Variable(1.0)
    step = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(variable ** 2, var_list=[variable])
    session.run(tf.compat.v1.global_variables_initializer())
    for _ in range(3): session.run(step)
    print(session.run(variable), len(tf.compat.v1.get_default_graph().get_operations()))
"""
        bare = self.run_job(tensorflow_python(), MODEL + source, is_bare=True)
        lines = self.sent(source)
        self.assertEqual(self.job.stdout, bare.stdout)
        self.assertEqual(lines.steps(), [])


if __name__ == "__main__":
    main()
