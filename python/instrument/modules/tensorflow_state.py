"""What the hooks of TensorFlow and Keras share: functions of TensorFlow, which exist only when hooks are called, whether
Keras' fit() is running, and one count of steps."""
import sys

SOURCE = "keras"  # of the steps of fit() and of the job's own loops

_functions = []


def functions():
    """(executing_eagerly, get_default_graph, has_strategy) of TensorFlow; importing in each step would cost more."""
    if not _functions:
        from tensorflow.python.distribute import distribute_lib
        from tensorflow.python.eager import context
        from tensorflow.python.framework import ops
        _functions[:] = context.executing_eagerly, ops.get_default_graph, distribute_lib.has_strategy
    return _functions


def is_in_fit():
    """Whether Keras called this; an exception may have left a step open."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "fit" and str(frame.f_globals.get("__name__", "")).startswith("keras."):
            return True
        frame = frame.f_back
    return False


class _Count:
    """Over all calls of fit() and all loops of the training thread."""

    def __init__(self):
        self.steps = 0
        self.has_fit = False  # fit() has begun a step


count = _Count()


def step_text(session, number):
    return b"step %d" % number if session.steps_from == SOURCE else None
