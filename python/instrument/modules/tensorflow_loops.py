"""Where loops of the job's own are observed that train with TensorFlow: updates of optimizers, and calls of graphs.

An optimizer that is called while a tf.function is traced marks the graphs that are being built; each call of one, outside of
the others, is an update, and what is applied outside of graphs is one too. As without a data loader of PyTorch, a step ends with an
update by a function or an optimizer that has updated since the last step, so that several of them in turn make one step;
if it was not the first of them, those before it were a step, too: the job has gone on to train something else.
A step lasts until the end of its last update. Not counted: calls of a graph that updates only in a loop of its own
(nobody knows how often), what fit() calls, and updates in threads of a strategy outside of a graph.
"""
import collections
import functools
import sys
import threading
import weakref
from _thread import _local

from ._pipe import now_ns
from .budget import UNSEEN_NS_PER_CALL
from .input_clocks import clocks
from .session import session
from .spans import replace
from .tensorflow_state import SOURCE, count, functions, is_in_fit, step_text

_MARK = "_trainscope_updates"  # attribute of a graph that updates
_FUNCTIONS = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
DATASET_FUNCTIONS = ("Dataset_", "tf_data_structured_function")
_MOST_WAITS = 4096  # before one step: what was read earlier is no batch of training
_MOST_TOLD = 3
_MOST_UPDATES = 256  # of different functions and optimizers: none of them comes back, so nothing shows where a step ends


class _Updates:
    """Of a graph: whether a call of it is a step, and by which function."""
    __slots__ = ("is_counted", "key", "is_told")

    def __init__(self):
        self.is_counted = False  # it updates outside of loops
        self.key = None
        self.is_told = False


class _Training:
    """Of one thread."""
    __slots__ = ("log", "number", "is_updating", "is_uncounted", "updated", "updated_ns", "turn", "waits", "read", "own_ns",
                 "steps", "began_ns")

    def __init__(self, log):
        self.log = log
        self.number = self.steps = self.updated_ns = self.own_ns = 0
        self.is_updating = self.is_uncounted = False
        self.updated = {}  # functions and optimizers, since the last step: when they ended
        self.turn = []  # those of the last step that had several
        self.waits = collections.deque(maxlen=_MOST_WAITS)  # (iterator, began, ended) since the last update
        self.read = []  # iterators that were read before that one
        self.began_ns = None  # end of the first step

    def begin(self, key):
        now = now_ns()
        if key in self.updated:
            self._end_turn(list(self.updated).index(key))
        self.log.flush_if_due(now)
        self.own_ns += now_ns() - now + UNSEEN_NS_PER_CALL

    def end(self, key):
        now = now_ns()
        if self.is_uncounted:
            return
        self.updated[key] = self.updated_ns = now
        if len(self.updated) > _MOST_UPDATES:
            self._give_up()
        if self.waits:
            self._take_waits()
        self.own_ns += now_ns() - now

    def _give_up(self):
        self.is_uncounted = True
        self.updated = {}
        session.note_unattached("steps of own loops", "each update is by another function or optimizer")

    def end_step(self):
        """Nothing follows, or fit() does."""
        keys = list(self.updated)
        is_turn = not self.steps or keys == self.turn[:len(keys)]
        self._end_turn(0 if is_turn else len(keys) - 1)

    def _end_turn(self, before):
        """So many of what has updated since the last step were a step of their own, and the others are one."""
        keys, ends = list(self.updated), list(self.updated.values())
        self.updated = {}
        if before:
            self._count(ends[before - 1])
        if keys:
            self._count(ends[-1])
        if len(keys) - before > 1:
            self.turn = keys[before:]

    def _count(self, ended_ns):
        self.steps += 1
        if self.began_ns is None:
            self.began_ns, self.own_ns = ended_ns, 0
        if session.may_step(SOURCE):
            if session.main_log is None:
                session.main_log = self.log
            self.log.events.append((ended_ns, step_text, (self._next_number(),)))

    def _next_number(self):
        if self.log is session.main_log:
            count.steps += 1
            return count.steps
        self.number += 1
        return self.number

    def _take_waits(self):
        """Those for a dataset that is also read to evaluate are no step's: of the iterators that were read since the last
        update, those that were before it too train, or else the last one."""
        waits, before = list(self.waits), self.read
        self.waits.clear()
        self.read = _each_once(iterator for iterator, _, _ in waits)
        training = [iterator for iterator in self.read if _has(before, iterator)] or [waits[-1][0]]
        for iterator, began, ended in waits:
            if _has(training, iterator):
                self.log.phase(b"input", began, ended)

    def finish(self):
        """The thread or the process ends."""
        self.end_step()
        measured_ns = self.updated_ns - (self.began_ns or self.updated_ns)
        if self.steps:
            cost = ", %.2g %% of step time in hooks" % (100.0 * self.own_ns / measured_ns) if measured_ns else ""
            session.mark("instrumentation: %d steps of own loops%s" % (self.steps, cost))
        self.log.flush()


def _has(references, reference):
    """Compared by what they are: a tensor compares its elements, and may be at the place of one that is gone."""
    return any(other is reference for other in references)


def _each_once(references):
    found = []
    for reference in references:
        if not _has(found, reference):
            found.append(reference)
    return found


class _Loops:
    """Of the process."""

    def __init__(self):
        self.forget()
        self.told = 0
        self.has_told_threads = False

    def forget(self):
        """Also in a forked process."""
        self.trainings = []
        self.of_thread = _local()

    def training(self):
        training = getattr(self.of_thread, "training", None)
        if training is None:
            for ended in [training for training in self.trainings if training.log.has_ended()]:
                try:
                    self.trainings.remove(ended)
                except ValueError:
                    continue  # Another thread was faster.
                ended.finish()
            training = self.of_thread.training = _Training(session.log())
            self.trainings.append(training)
        return training

    def finish(self):
        for training in list(self.trainings):
            training.finish()

    def tell_uncounted(self, graph, updates):
        if updates.is_told or self.told >= _MOST_TOLD:
            return
        updates.is_told = True
        self.told += 1
        session.note_unattached("steps of %s" % graph.name, "it trains in a loop of its graph")

    def tell_threads(self):
        if not self.has_told_threads:
            self.has_told_threads = True
            session.note_unattached("steps of a strategy", "it updates in threads, outside of a tf.function")


_loops = _Loops()
session.at_exit(_loops.finish)
session.after_fork(_loops.forget)


def attach_functions(module):
    replace(module.ConcreteFunction, "_call_flat", _counted, "tensorflow")


def attach_optimizer(module):
    """Of Keras; other backends compute their updates elsewhere."""
    if module.backend.backend() == "tensorflow":
        replace(module.BaseOptimizer, "apply", _noted, "tensorflow", "steps")


def attach_old_optimizer(module):
    """tf.compat.v1.train, which works in functions of TensorFlow 2 too."""
    replace(module.Optimizer, "apply_gradients", _noted, "tensorflow")


def end_step():
    """fit() begins: its steps are counted after those of this thread's own loop."""
    training = getattr(_loops.of_thread, "training", None)
    if training is not None:
        training.end_step()


def take_wait(iterator, began, ended):
    """next() of a dataset outside of graphs has given an element. Before the first update all of them are training's."""
    training = getattr(_loops.of_thread, "training", None)
    if training is None or clocks.is_in_step or session.steps_from != SOURCE:
        log = session.log()
        log.phase(b"input", began, ended)
        log.flush_if_due(ended)
        return
    training.waits.append((weakref.ref(iterator), began, ended))
    training.own_ns += now_ns() - ended + UNSEEN_NS_PER_CALL


def _counted(original):
    """The call of a graph; there may be many that do not train."""

    @functools.wraps(original)
    def _call_flat(self, *arguments, **keywords):
        graph = getattr(self, "_func_graph", None)
        updates = getattr(graph, _MARK, None)
        if updates is None or session.is_off:
            return original(self, *arguments, **keywords)
        training = None
        try:
            training = _begin_call(graph, updates)
        except Exception as error:
            session.failed("the call of a graph", error)
        if training is None:
            return original(self, *arguments, **keywords)
        try:
            training.is_updating = True
            result = original(self, *arguments, **keywords)
        finally:
            training.is_updating = False
        try:
            training.end(updates.key)
        except Exception as error:
            session.failed("the call of a graph", error)
        return result

    return _call_flat


def _begin_call(graph, updates):
    """The training of this thread if the call is an update of its own, or None."""
    executing_eagerly, get_default_graph, _ = functions()
    if not executing_eagerly():
        _mark(get_default_graph(), updates.is_counted)  # Another function calls this one.
        return None
    if count.has_fit and is_in_fit():
        return None
    if not updates.is_counted:
        _loops.tell_uncounted(graph, updates)
        return None
    training = _loops.training()
    if training.is_updating:
        return None
    if updates.key is None:
        updates.key = _key_of_caller(graph)
    training.begin(updates.key)
    return training


def _key_of_caller(graph):
    """Of the tf.function that calls this graph: it has another one for batches of another shape, and steps are the same."""
    frame = sys._getframe(3)
    for _ in range(2):
        if frame is not None and frame.f_code.co_name == "_call" and frame.f_globals.get("__name__") == _FUNCTIONS:
            return id(frame.f_locals.get("self"))
        frame = frame and frame.f_back
    return id(graph)


def _mark(graph, is_counted):
    """All graphs that are being built around an update: each may be called alone later. In TensorFlow 1 there is none."""
    while graph is not None:
        if getattr(graph, "building_function", False):
            is_counted = is_counted and not _is_loop(graph)
            updates = getattr(graph, _MARK, None)
            if updates is None:
                updates = _Updates()
                setattr(graph, _MARK, updates)
            updates.is_counted = updates.is_counted or is_counted
        graph = getattr(graph, "outer_graph", None)


def _is_loop(graph):
    """The body of tf.while_loop, or of `for` over a dataset."""
    return type(graph).__name__.startswith("While") or str(graph.name).startswith(DATASET_FUNCTIONS)


def _noted(original):
    """An update by an optimizer."""

    @functools.wraps(original)
    def apply(self, *arguments, **keywords):
        if session.is_off:
            return original(self, *arguments, **keywords)
        training = None
        try:
            training = _begin_update(self)
        except Exception as error:
            session.failed("an update", error)
        if training is None:
            return original(self, *arguments, **keywords)
        try:
            training.is_updating = True
            result = original(self, *arguments, **keywords)
        finally:
            training.is_updating = False
        try:
            training.end(id(self))
        except Exception as error:
            session.failed("an update", error)
        return result

    return apply


def _begin_update(optimizer):
    """The training of this thread if the update is made now, or None."""
    executing_eagerly, get_default_graph, has_strategy = functions()
    if not executing_eagerly():
        _mark(get_default_graph(), True)
        return None
    if count.has_fit and is_in_fit():
        return None
    if has_strategy() and type(threading.current_thread()).__name__ == "_MirroredReplicaThread":
        _loops.tell_threads()
        return None
    training = _loops.training()
    if training.is_updating:
        return None
    training.begin(id(optimizer))
    return training
