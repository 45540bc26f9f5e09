"""Where Keras 3 is observed: methods of its CallbackList, which fit() and evaluate() call in the training thread.

No callback is added: one that needs every step makes Keras fetch the numbers of each of them. With
steps_per_execution a line represents that many steps; those that the last execution of an epoch lacks are counted
too if Keras does not know how many batches the dataset has.
"""
import functools
from numbers import Real

from . import _pipe, tensorflow_loops
from ._pipe import now_ns
from .input_clocks import clocks
from .session import session
from .spans import CHECKPOINT, EVALUATION, around, begin, end, is_open, lose, replace
from .tensorflow_state import SOURCE, count, step_text

_LINE_BYTES = _pipe.LINE_BYTES - 256  # without the timestamp and the sender


class _Fit:
    """The execution that fit() is in."""

    def __init__(self):
        self.began_ns = None
        self.first = 0  # number of the batch at which the execution began, in its epoch


fit = _Fit()


def attach_callbacks(module):
    lists = module.CallbackList
    replace(lists, "on_train_batch_begin", _before(_begin_batch), "keras")
    replace(lists, "on_train_batch_end", _before(_end_batch), "keras", "steps")
    replace(lists, "on_epoch_end", _before(_end_epoch), "keras", "epochs")
    replace(lists, "on_test_begin", _before(_begin_evaluation), "keras")
    replace(lists, "on_test_end", _before(_end_evaluation), "keras", "evaluation")


def attach_model(module):
    for name in ("save", "save_weights"):
        replace(module.Model, name, lambda original: around(original, CHECKPOINT), "keras", "checkpoint")


def _before(note):
    """A method of the list that is noted before it calls the callbacks."""

    def make(original):
        @functools.wraps(original)
        def method(self, *arguments, **keywords):
            if not session.is_off:
                try:
                    note(self, *arguments, **keywords)
                except Exception as error:
                    session.failed("Keras' callbacks", error)
            return original(self, *arguments, **keywords)
        return method

    return make


def _begin_batch(callbacks, batch, logs=None):
    if is_open(EVALUATION):  # An exception has ended it, and the job goes on.
        lose(EVALUATION)
        clocks.forget()
    count.has_fit = True
    tensorflow_loops.end_step()
    fit.began_ns, fit.first = now_ns(), int(batch)
    clocks.is_in_step = True


def _last_of(callbacks, batch):
    """The last execution of an epoch is announced with as many batches as the others, but may have fewer."""
    steps = (getattr(callbacks, "params", None) or {}).get("steps")
    return min(batch, steps - 1) if type(steps) is int and steps > fit.first else batch


def _end_batch(callbacks, batch, logs=None):
    clocks.is_in_step = False
    if fit.began_ns is None:
        return
    now = now_ns()
    log = session.log()
    count.steps += _last_of(callbacks, int(batch)) - fit.first + 1
    if session.steps_from in (None, "torch"):
        session.steps_from = SOURCE
    if session.main_log is None:
        session.main_log = log
    log.events.append((now, step_text, (count.steps,)))
    clocks.note_step(log, fit.began_ns, now)
    fit.began_ns = None
    log.flush_if_due(now)


def _end_epoch(callbacks, epoch, logs=None):
    """Keras fetches the numbers of an epoch in any case."""
    log, now = session.log(), now_ns()
    clocks.report(log, now)
    if session.steps_from == "client":
        return
    text = b"epoch %d" % (int(epoch) + 1)
    for name, value in (logs or {}).items():
        if not isinstance(value, Real):  # Metrics may be arrays, or what a callback of the job puts there.
            continue
        name, value = _pipe.as_name(name), float(value)
        pair = b" %s=%.15g" % (name, value)
        if len(text) + len(pair) <= _LINE_BYTES:
            text += pair
        else:
            log.add(now, b"scalar %s %.15g" % (name, value))
    log.add(now, text)


def _begin_evaluation(callbacks, logs=None):
    clocks.report(session.log(), now_ns())
    if is_open(EVALUATION):  # An exception has ended the one before.
        end(EVALUATION)
    begin(EVALUATION)


def _end_evaluation(callbacks, logs=None):
    clocks.forget()  # Waits for data to evaluate with are part of the evaluation.
    end(EVALUATION)
