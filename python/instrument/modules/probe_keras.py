"""Where a probe takes part in Keras 3: after each step of fit(), and in the operation that takes an element from tf.data.

The operation is put into a condition when fit() traces it: a variable decides whether it reads an element, reads and
keeps one, or gives the kept one again. What a graph computes with is never modified in place. Limits: the epoch must
have a known number of steps; one execution is one step here, and with several steps per execution, several
devices' strategies and other backends than TensorFlow the input is not replaced.
"""
import _thread
import functools
import sys

from ._pipe import now_ns
from .input_clocks import clocks
from .probe import probe

_READ, _REPEAT, _KEEP = 0, 1, 2


class _Element:
    """What the graphs of this process do with the next element."""

    def __init__(self):
        self.graphs = []  # the variables of each: keeps them alive
        self.state = None  # a variable, once something was traced
        self.value = _READ

    def set(self, value):
        if self.state is not None and value != self.value:
            self.state.assign(value)
            self.value = value

    def forget(self):
        self.set(_READ)

    def conditional(self, tf, original, arguments, keywords):
        """The operation, in the function that is being traced."""
        # tf.Variable would be the function's own, which may create some in its first trace only.
        from tensorflow.python.ops.resource_variable_ops import ResourceVariable
        types, shapes = keywords["output_types"], keywords["output_shapes"]
        with tf.init_scope(), tf.device("/device:CPU:0"):
            if self.state is None:
                self.state = ResourceVariable(_READ, dtype=tf.int32, trainable=False)
            kept = [ResourceVariable(tf.zeros((), dtype), shape=tf.TensorShape(None), trainable=False) for dtype in types]
            is_kept = ResourceVariable(False, trainable=False)
        self.graphs.append((kept, is_kept))

        def keep(tensors):
            for variable, tensor in zip(kept, tensors):
                variable.assign(tensor, read_value=False)
            is_kept.assign(True, read_value=False)
            return tf.constant(0)

        def read():
            tensors = list(original(*arguments, **keywords))
            tf.cond(tf.equal(self.state, _KEEP), lambda: keep(tensors), lambda: tf.constant(0))
            return [tf.identity(tensor) for tensor in tensors]

        repeats = tf.logical_and(tf.equal(self.state, _REPEAT), is_kept)
        tensors = list(tf.cond(repeats, lambda: [variable.read_value() for variable in kept], read))
        for tensor, shape in zip(tensors, shapes):
            tensor.set_shape(shape)
        return tensors


_element = _Element()


class _Fit:
    def __init__(self):
        self.waited_s = 0.0
        self.has_kept = False  # in this block
        self.block = None


_fit = _Fit()


def attach_datasets(module):
    original = module.iterator_get_next

    @functools.wraps(original)
    def iterator_get_next(*arguments, **keywords):
        try:
            tf = _traced_by_fit(keywords)
            if tf is not None:
                return _element.conditional(tf, original, arguments, keywords)
        except Exception as error:
            probe.fail("an element of tf.data", error)
        return original(*arguments, **keywords)

    module.iterator_get_next = iterator_get_next


def _traced_by_fit(keywords):
    """TensorFlow if the operation is one of training and can be replaced, or None."""
    from . import tensorflow_hooks
    tf = sys.modules.get("tensorflow")
    if probe.is_off or tf is None or tensorflow_hooks._clock() in (None, tensorflow_hooks._eager):
        return None
    if any(dtype in (tf.variant, tf.resource) for dtype in keywords.get("output_types", (tf.variant,))):
        return None
    return tf


def attach_callbacks(module):
    lists = module.CallbackList
    for name, note in (("on_train_batch_begin", _begin_batch), ("on_train_batch_end", _end_batch),
                       ("on_test_begin", _pause), ("on_train_end", _pause)):
        setattr(lists, name, _before(getattr(lists, name), note))


def _before(original, note):
    @functools.wraps(original)
    def method(self, *arguments, **keywords):
        if not probe.is_off:
            try:
                note(self, *arguments, **keywords)
            except Exception as error:
                probe.fail("Keras' callbacks", error)
        return original(self, *arguments, **keywords)

    return method


def _pause(callbacks, logs=None):
    probe.pause()


def _begin_batch(callbacks, batch, logs=None):
    probe.resume()


def _end_batch(callbacks, batch, logs=None):
    if probe.thread is None or probe.source != "keras":
        probe.thread, probe.source, probe.drop_batches = _thread.get_ident(), "keras", _element.forget
        probe.processors.has_own_threads = _backend() != "torch"  # TensorFlow and JAX cannot lower theirs.
    if not probe.is_training_thread():
        return
    steps = (getattr(callbacks, "params", None) or {}).get("steps")
    probe.input_reason = _reason_against(steps)
    _note_wait()
    _wait_for_devices()
    probe.end_step(now_ns())
    _choose_element(int(batch), steps)
    probe.sleep()


def _backend():
    try:
        return sys.modules["keras"].config.backend()
    except (KeyError, AttributeError):
        return ""


def _reason_against(steps):
    if _element.state is None:
        return "fit() reads from no dataset of TensorFlow in a graph"
    return "" if steps else "the dataset has no length, so its epochs would become longer"


def _note_wait():
    """For the element of the step that has ended, if it was read."""
    if clocks.total is None:
        return
    before, _fit.waited_s = _fit.waited_s, clocks.total()
    if _element.value != _REPEAT:
        probe.note_wait(max(0, int((_fit.waited_s - before) * 1e9)))


def _choose_element(batch, steps):
    """Of the next step. The last element of an epoch may be smaller, so it is not kept."""
    if probe.block is not _fit.block:
        _fit.block, _fit.has_kept = probe.block, False
    if not probe.wants_batch():
        _element.set(_READ)
    elif _fit.has_kept:
        _element.set(_REPEAT)
        probe.note_replaced()
    elif batch + 2 < steps:
        _element.set(_KEEP)
        _fit.has_kept = True


def _wait_for_devices():
    tf = sys.modules.get("tensorflow")
    if tf is None or not tf.config.list_logical_devices("GPU"):
        return
    probe.has_device = True
    if probe.wants_device_idle():
        tf.test.experimental.sync_devices()
