"""Progress reports for Keras: `model.fit(…, callbacks=[trainscope.keras.ProgressCallback()])`.

For: Keras 3 (any backend) and tf.keras. Reports each step with Keras' numbers, each epoch with its own
and the validation's, and evaluation as a phase. measure_input() reports how long each step waits for a
tf.data dataset: fit() reads it inside TensorFlow, where callbacks cannot see it.

Guarantees: those of trainscope. Outside a run measure_input() returns the dataset itself.
Limits: Keras' numbers of a step are means since the epoch began. To provide them Keras fetches them after
every step, as it does for its TensorBoard and ModelCheckpoint callbacks. Steps are counted from 1, over all
calls of fit() with the same callback; with steps_per_execution a line represents that many of them.
Checkpoints are not visible. measure_input() is for a job with one worker: it calls Python, which
tf.data cannot send to another machine.
"""
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


class ProgressCallback(_callback_class()):
    """For fit() and evaluate(); `batch_size` is needed for items per second: Keras does not report it."""

    def __init__(self, batch_size=None):
        super().__init__()
        self._batch_size = batch_size
        self._steps = 0
        self._steps_before_epoch = 0

    def on_train_begin(self, logs=None):
        if self._batch_size:
            trainscope.batch(self._batch_size)

    def on_epoch_begin(self, epoch, logs=None):
        self._steps_before_epoch = self._steps

    def on_train_batch_end(self, batch, logs=None):
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
