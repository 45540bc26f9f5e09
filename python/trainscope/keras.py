"""Progress reports for Keras: `model.fit(…, callbacks=[trainscope.keras.ProgressCallback()])`.

For: Keras 3 (any backend) and tf.keras. Reports each step, each epoch with its numbers and the validation's,
and evaluation as a phase. measure_input() reports how long each step waits for a
tf.data dataset: fit() reads it inside TensorFlow, where callbacks cannot see it.

Guarantees: those of trainscope. Outside a run measure_input() returns the dataset itself.
Limits: the numbers of single steps are reported only with step_numbers=True. They are Keras' means since the epoch
began; to provide them Keras fetches them after every step, instead of calling callbacks on another thread.
On TensorFlow, and in version 2, Keras always does so. Steps are counted from 1, over all calls of fit() with the same callback; with steps_per_execution a line represents that many of them.
Checkpoints are not visible. measure_input() is for a job with one worker: it calls Python, which
tf.data cannot send to another machine.
"""
import functools
import sys

import trainscope

__all__ = ["ProgressCallback", "measure_input"]
_READING_AHEAD = ("PrefetchDataset", "ParallelMapDataset", "ParallelInterleaveDataset")


def _callback_class():
    """Callback of the Keras that the job uses, as far as it is known."""
    if "keras" not in sys.modules and "tensorflow" in sys.modules:
        return sys.modules["tensorflow"].keras.callbacks.Callback
    try:
        import keras
    except ImportError:
        import tensorflow
        return tensorflow.keras.callbacks.Callback
    return keras.callbacks.Callback


_Callback = _callback_class()


def _observe_steps():
    """Lets Keras' list of callbacks call on_step_end of ours, in the training thread and without numbers.

    A callback that has on_train_batch_end makes Keras fetch the numbers of every step. False if this Keras has
    no such list.
    """
    if not _Callback.__module__.startswith("keras.src."):
        return False
    try:
        from keras.src.callbacks.callback_list import CallbackList
        original = CallbackList.on_train_batch_end
    except Exception:  # A Keras whose insides are different.
        return False
    if not getattr(original, "calls_trainscope", False):
        CallbackList.on_train_batch_end = _calling_on_step_end(original)
    return True


def _calling_on_step_end(original):
    @functools.wraps(original)
    def on_train_batch_end(self, batch, logs=None):
        for callback in self.callbacks:
            if isinstance(callback, ProgressCallback):
                callback.on_step_end(batch)
        return original(self, batch, logs)

    on_train_batch_end.calls_trainscope = True
    return on_train_batch_end


class ProgressCallback(_Callback):
    """For fit() and evaluate(); `batch_size` is needed for items per second: Keras does not report it.
    `step_numbers`: report loss and metrics of every step, which waits for each of them."""

    def __init__(self, batch_size=None, step_numbers=False):
        super().__init__()
        self._batch_size = batch_size
        self._steps = 0
        self._steps_before_epoch = 0
        self._has_numbers = trainscope.active() and (step_numbers or not _observe_steps())
        if self._has_numbers:  # Keras looks for this name.
            self.on_train_batch_end = self._report_step

    def on_train_begin(self, logs=None):
        if self._batch_size:
            trainscope.batch(self._batch_size)

    def on_epoch_begin(self, epoch, logs=None):
        self._steps_before_epoch = self._steps

    def on_step_end(self, batch):
        """Called by the list of callbacks."""
        if not self._has_numbers:
            self._report_step(batch)

    def _report_step(self, batch, logs=None):
        steps = (self.params or {}).get("steps")
        if type(steps) is int and steps > 0:  # The last execution of an epoch may have fewer batches than it says.
            batch = min(batch, steps - 1)
        self._steps = self._steps_before_epoch + batch + 1
        trainscope.send_report("step", self._steps, logs or {})

    def on_epoch_end(self, epoch, logs=None):
        trainscope.send_report("epoch", epoch + 1, logs or {})

    def on_test_begin(self, logs=None):
        trainscope.begin("evaluation")

    def on_test_end(self, logs=None):
        trainscope.end("evaluation")


def measure_input(dataset):
    """The same dataset; the wait for each element is reported as the phase `input`.

    For the training data of fit(): model.fit(trainscope.keras.measure_input(dataset)), after all other
    transformations of the dataset. TensorFlow itself reads a clock before and after it; only the difference
    is passed to Python.
    """
    if not trainscope.active():
        return dataset
    try:
        return _between_clocks(dataset)
    except Exception:  # Not a tf.data dataset: returned unchanged.
        return dataset


def _between_clocks(dataset):
    import tensorflow
    datasets = tensorflow.data.Dataset
    clock = datasets.from_tensors(0).repeat().map(lambda _: tensorflow.timestamp())

    def pass_on(began, element, ended):
        tensorflow.numpy_function(_report_wait, [ended - began], tensorflow.float64)
        return element

    if not _reads_ahead(dataset):
        dataset = dataset.prefetch(tensorflow.data.experimental.AUTOTUNE)
    measured = datasets.zip((clock, dataset, clock)).map(pass_on)
    return measured.with_options(_without_more_reading_ahead(tensorflow.data.Options()))


def _report_wait(seconds):
    trainscope.report_input_wait(float(seconds))
    return seconds


def _without_more_reading_ahead(options):
    """TensorFlow reads ahead at the end of a dataset by itself. That would be after the clocks, and they
    would show the reading instead of the wait; so it is done before them, unless it is done already."""
    try:
        options.experimental_optimization.inject_prefetch = False
    except AttributeError:  # TensorFlow before 2.9 does not read ahead by itself.
        pass
    return options


def _reads_ahead(dataset):
    """Whether the dataset's last step works while nothing waits. A wrong result costs at most one more buffer."""
    while type(dataset).__name__.endswith("OptionsDataset"):
        dataset = dataset._input_dataset
    return type(dataset).__name__.endswith(_READING_AHEAD)
