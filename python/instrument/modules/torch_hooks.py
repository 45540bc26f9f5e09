"""Where PyTorch is observed: the data loader's __next__ (torch_loader.py), the backward pass and optimizers.

What is entered in every step costs most, because its code is not in the caches any more. Between bursts
(budget.py) only __next__ is, and a hook of the optimizers that notes in one variable that there was an update: the
original backward is put back, and in place of the other hook stands a method of a built-in type that does nothing.
Once the job compiles anything, hooks stay as they are: Dynamo guards on them.
"""
import functools
import sys
from _thread import _local

from ._pipe import now_ns
from .session import pass_on_if_of_job, session
from .torch_state import is_compiling
from .trace import NOTED, Trace

_LOSS_NS = 100000000
_torch = sys.modules["torch"]
_ignored = memoryview(b"")
_ignored.release()
_nothing = _ignored.__exit__  # accepts any arguments, does nothing, returns None


class _Hooks:
    """Which hooks are in place, in the whole process."""

    def __init__(self):
        self.traces = []  # of the threads that read batches or train
        self.of_thread = _local()  # idents are used again by later threads
        self.autograd = self.backward = self.original_backward = None
        self.pre_hooks = self.post_hooks = self.pre_key = self.post_key = None
        self.has_flag = False  # whether all that is noted of an update is that there was one
        # Between bursts __next__ of the iterator with this mark only appends to `records` (Trace.take_records).
        self._fast = None
        self.fast_trace = None  # whose updates the flag notices, and whose batches are in `records`
        self.records = []  # always the same list: __next__ has it
        self.due_ns = 0  # when the records must become lines
        # Of torch_loader.py: tell __next__ these values, and that it is not running; the hook that only notes an update, and
        # whether it has since the last time.
        self.set_next = self.end_next = self.note_update = self.take_update = lambda *values: None
        self.compiles = False
        self.replays = 0
        self.event = None
        self.is_event_recorded = False
        self.communication = None  # of DDP, once there is one

    @property
    def fast(self):
        return self._fast

    @fast.setter
    def fast(self, mark):
        self._fast = mark
        self.set_next(mark, self.due_ns)

    def trace(self):
        """Of this thread. Optimizers may update in a thread of the backward pass: that is the training's."""
        trace = getattr(self.of_thread, "trace", None)
        if trace is None:
            for other in list(self.traces):
                if other.is_in_backward:
                    return other
            trace = self.of_thread.trace = Trace(session.log(), self)
            self.traces.append(trace)
            if len(self.traces) > 1:
                self.arrange()
        return trace

    def training(self):
        """The traces that decide which hooks are needed: not those of threads that have ended or only read."""
        if len(self.traces) < 2:
            return list(self.traces)
        for ended in [trace for trace in self.traces if trace.log.has_ended()]:
            self.traces.remove(ended)
            if ended is self.fast_trace:
                self.drain()
            ended.finish()
            ended.log.flush()
        now = now_ns()
        return [trace for trace in self.traces if trace.may_train(now)] or list(self.traces)

    def arrange(self):
        """Puts hooks where they are needed now. Values are replaced, never removed: an optimizer may iterate."""
        if session.is_off:
            return
        traces = self.training()
        is_detailed = self.compiles or not traces or any(trace.budget.is_timed for trace in traces)
        if self.backward is not None:
            self.place_backward(self.backward if is_detailed else self.original_backward)
        if self.post_hooks is None:
            return
        self.pre_hooks[self.pre_key] = _begin_update if is_detailed else _nothing
        self.fast = None
        trace = traces[0] if len(traces) == 1 else None
        iterator = trace.iterator() if trace is not None and trace.iterator is not None else None
        # What happens with the first batch of an iterator may go on without another one.
        if is_detailed or iterator is None or trace.iterator_batches < 2:
            self._count_flag()
            self.post_hooks[self.post_key] = _end_update
            return
        if not self.has_flag or self.fast_trace is not trace:
            self._count_flag()
            self.fast_trace = trace
            self.raise_flag()
        if not trace.is_evaluating():
            self.due_ns = trace.due_ns()
            self.fast = _marked(iterator)

    def place_backward(self, wanted):
        """Unless the job has put its own there, which may call ours."""
        placed = self.autograd.backward
        if placed is self.backward or placed is self.original_backward:
            self.autograd.backward = wanted

    def drain(self):
        """What __next__ noted since the last time becomes steps and phases."""
        whole = len(self.records) // NOTED * NOTED  # A batch may be half noted, in another thread or before a signal.
        records = self.records[:whole]
        del self.records[:whole]
        if records:
            self.fast_trace.take_records(records)
            self.due_ns = self.fast_trace.due_ns()
            self.fast = self.fast  # or none, if a burst has begun

    def fail_to_note(self, error):
        """Something was raised where __next__ notes a batch: all of it is noted, or nothing."""
        half = self.records[len(self.records) // NOTED * NOTED:]
        if half:
            del self.records[-len(half):]
            if half[0]:
                self.note_update(None, (), {})
        if not isinstance(error, Exception):
            raise error
        session.failed("the data loader", error)

    def has_updated_unseen(self, trace):
        """Whether an optimizer has updated since the last time, while no hook of ours was called for it."""
        return self.has_flag and trace is self.fast_trace and self.take_update()

    def may_update_unseen(self):
        has_seen = any(trace.has_updated for trace in list(self.traces))
        return not has_seen and (self.compiles or self.replays > 0)

    def expect_unseen_updates(self):
        for trace in list(self.traces):
            trace.expect_unseen_updates()

    def is_device_dry(self):
        """Whether the device had finished the last step when this batch arrived; None if that is unknown."""
        if not self.is_event_recorded:
            return None
        self.is_event_recorded = False
        try:
            if _torch.cuda.is_current_stream_capturing():
                return None
            return self.event.query()
        except Exception as error:
            self._lose_event(error)
            return None

    def record_event(self):
        """After the update of an optimizer, by its own thread, never during a capture."""
        cuda = _torch.cuda
        if self.event is False or not cuda.is_initialized():
            return
        try:
            if cuda.is_current_stream_capturing():
                return
            if self.event is None:
                self.event = cuda.Event()
                session.note_attached("torch", "device")
            self.event.record()
            self.is_event_recorded = True
        except Exception as error:
            self._lose_event(error)

    def _lose_event(self, error):
        pass_on_if_of_job(error)
        self.forget_event("%s: %s" % (type(error).__name__, error))

    def forget_event(self, reason):
        """No event is recorded or queried any more."""
        if self.event is not False:
            self.event, self.is_event_recorded = False, False
            session.note_unattached("device events", reason)

    def raise_flag(self):
        self.take_update()
        self.has_flag = True
        self.post_hooks[self.post_key] = self.note_update

    def _count_flag(self):
        """An update before this hook took over belongs to the step that is being made."""
        had_flag, self.has_flag = self.has_flag, False
        if had_flag and self.take_update():
            self.fast_trace.updates += 1
            self.fast_trace.updated_ns = now_ns()

    def restore(self):
        self.fast = None
        self.post_hooks[self.post_key] = self.pre_hooks[self.pre_key] = _nothing

    def finish(self):
        self.drain()
        for trace in list(self.traces):
            trace.finish()

    def forget(self):
        """In a forked process."""
        self.traces, self.fast_trace = [], None
        del self.records[:]
        self.of_thread, self.communication = _local(), None
        self.event, self.is_event_recorded, self.has_flag = False, False, False  # CUDA does not survive a fork.
        self.fast = None
        self.end_next()
        self.arrange()


hooks = _Hooks()
session.at_exit(hooks.finish)
session.after_fork(hooks.forget)


def current_trace():
    """Of this thread; None if ours fails."""
    try:
        return hooks.trace()
    except Exception as error:
        session.failed("a new thread", error)
        return None


def _marked(iterator):
    """A new mark for it, which no other iterator has; None if it cannot be marked."""
    mark = object()
    try:
        # Not by vars(): Python would move all attributes of the iterator into a dictionary, which is slower.
        object.__setattr__(iterator, "_trainscope_mark", mark)
    except (AttributeError, TypeError):
        return None
    return mark


def attach_backward(module):
    original = module.backward

    @functools.wraps(original)
    def backward(*arguments, **keywords):
        if is_compiling():
            return original(*arguments, **keywords)
        if session.is_off:
            return original(*arguments, **keywords)
        trace = current_trace()
        if trace is None or trace.is_in_backward or not trace.budget.is_timed:
            return original(*arguments, **keywords)
        began = now_ns()
        try:
            trace.is_in_backward = True
            result = original(*arguments, **keywords)
        finally:
            trace.is_in_backward = False
        ended = now_ns()
        try:
            trace.take_backward(began, ended, _loss(trace, arguments, keywords, ended))
        except Exception as error:
            session.failed("the backward pass", error)
        return result

    hooks.autograd, hooks.backward, hooks.original_backward = module, backward, original
    module.backward = backward
    session.note_attached("torch", "forward", "backward", restore=lambda: hooks.place_backward(original))


def _loss(trace, arguments, keywords, now):
    """The number that is differentiated, where it is in memory: reading it from a device would wait for it."""
    if now - trace.loss_ns < _LOSS_NS:
        return None
    tensor = arguments[0] if arguments else keywords.get("tensors")
    if type(tensor) is not _torch.Tensor or tensor.device.type != "cpu" or tensor.numel() != 1:
        return None
    return None if tensor.is_complex() else tensor.item()


def attach_optimizer(module):
    """The registration also exists without these functions being called, so it can be replaced in place."""
    pre = module.register_optimizer_step_pre_hook(_begin_update)
    try:
        post = module.register_optimizer_step_post_hook(_end_update)
        hooks.pre_hooks, hooks.post_hooks = module._global_optimizer_pre_hooks, module._global_optimizer_post_hooks
        hooks.pre_key, hooks.post_key = pre.id, post.id
    except Exception:
        pre.remove()
        raise
    session.note_attached("torch", "optimizer", restore=hooks.restore)


def _begin_update(optimizer, arguments, keywords):
    if is_compiling() or session.is_off:
        return
    try:
        trace = hooks.trace()
        if trace.budget.is_timed:
            trace.begin_update(optimizer)
    except Exception as error:
        session.failed("the beginning of an update", error)


def _end_update(optimizer, arguments, keywords):
    if is_compiling() or session.is_off:
        return
    try:
        hooks.trace().end_update(optimizer)
    except Exception as error:
        session.failed("the end of an update", error)
