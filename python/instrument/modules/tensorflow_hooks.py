"""Where TensorFlow is observed: the operations that take an element from a dataset.

In a function that Keras traces to train they get a clock before and after, and a variable that sums up the
difference; the element is passed on only after the second clock, or else the executor may compute first. No Python
runs in the graph, and the dataset stays as it is. Functions of the job have no clock: they may be exported, and then
a variable that nothing in the job tracks is an error. Nor have graphs of TensorFlow 1, whose variables are stored.
Steps of the job's own loops: tensorflow_loops.py.
"""
import functools

from ._pipe import now_ns
from .input_clocks import clocks
from .session import session
from .spans import replace
from .tensorflow_loops import DATASET_FUNCTIONS, take_wait
from .tensorflow_state import functions, is_in_fit


def attach_datasets(module):
    for name in ("iterator_get_next", "iterator_get_next_as_optional"):
        replace(module, name, _between_clocks, "tensorflow", "input")


def _between_clocks(original):
    @functools.wraps(original)
    def get_next(*arguments, **keywords):
        if session.is_off:
            return original(*arguments, **keywords)
        clock = before = None
        try:
            clock = _clock()
            if clock is not None:
                before = clock.read()
        except Exception as error:
            session.failed("a tf.data clock", error)
            clock = None
        if clock is None:
            return original(*arguments, **keywords)
        return clock.measure(before, original, arguments, keywords)

    return get_next


class _EagerClock:
    """Of next() in a loop of the job's own."""

    def read(self):
        return now_ns()

    def measure(self, before, original, arguments, keywords):
        tensors = original(*arguments, **keywords)
        try:
            take_wait(arguments[0] if arguments else keywords["iterator"], before, now_ns())
        except Exception as error:
            session.failed("a tf.data clock", error)
        return tensors


class _GraphClock:
    """Operations of TensorFlow that are put into the function that is being traced."""

    def __init__(self):
        from tensorflow.python.framework import dtypes, ops
        from tensorflow.python.ops import array_ops, gen_logging_ops, variables
        self._ops, self._identity, self._timestamp = ops, array_ops.identity, gen_logging_ops.timestamp
        with ops.init_scope(), ops.device("/device:CPU:0"):
            self._sum = variables.Variable(0.0, dtype=dtypes.float64, trainable=False)

    def total(self):
        return float(self._sum.numpy())

    def read(self):
        with self._outside():
            return self._timestamp()

    def measure(self, before, original, arguments, keywords):
        with self._ops.control_dependencies([before]):
            tensors = original(*arguments, **keywords)
        try:
            return self._add_wait(before, tensors)
        except Exception as error:
            session.failed("a tf.data clock", error)
            return tensors

    def _add_wait(self, before, tensors):
        ops = self._ops
        is_list = isinstance(tensors, (list, tuple))
        with ops.control_dependencies(list(tensors) if is_list else [tensors]), self._outside():
            after = self._timestamp()
            self._sum.assign_add(after - before, read_value=False)
        with ops.control_dependencies([after]):
            return [self._identity(tensor) for tensor in tensors] if is_list else self._identity(tensors)

    def _outside(self):
        """Clock and sum are in memory, wherever the element is."""
        return self._ops.device("/device:CPU:0")


_eager, _graphs = _EagerClock(), []


def _clock():
    """For the operation that is about to be created or run; None if it is not training's."""
    executing_eagerly, get_default_graph, has_strategy = functions()
    if has_strategy():
        return None
    if executing_eagerly():
        return _eager
    if not clocks.is_in_step or not is_in_fit() or not _is_version_2():
        return None
    graph = get_default_graph()
    while graph is not None:
        if str(getattr(graph, "name", "")).startswith(DATASET_FUNCTIONS):
            return None
        graph = getattr(graph, "outer_graph", None)
    if not _graphs:
        _graphs.append(_GraphClock())
        clocks.total = _graphs[0].total
    return _graphs[0]


def _is_version_2():
    from tensorflow.python.framework import ops
    return ops.executing_eagerly_outside_functions()
