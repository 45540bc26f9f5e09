"""Where the data loader of PyTorch is observed: its __next__, the only place that is entered in every step."""
import functools
import sys

from ._pipe import now_ns
from .session import session
from .spans import replace
from .torch_hooks import current_trace, hooks
from .torch_state import is_compiling

_torch = sys.modules["torch"]


def attach_loader(module):
    replace(module._BaseDataLoaderIter, "__next__", _timed_next, "torch", "input")


def _timed_next(original):
    """What is needed between bursts is in variables of this function and in a mark of the iterator: globals, attributes
    of others and id() are in other places of the memory, which are in no cache when the next batch is asked for."""
    fast, due_ns = None, 0
    has_updated = False  # an optimizer, since the last batch, while only that is noted
    is_waiting = False  # inside of __next__ of that iterator
    note, clock = hooks.records.append, now_ns

    def set_next(mark, new_due_ns):
        nonlocal fast, due_ns
        fast, due_ns = mark, new_due_ns if mark else 0  # A batch that is on its way is the last one for now.

    def end_next():
        nonlocal is_waiting
        is_waiting = False

    def note_update(optimizer, arguments, keywords):
        nonlocal has_updated
        has_updated = True

    def take_update():
        nonlocal has_updated
        had_updated, has_updated = has_updated, False
        return had_updated

    hooks.set_next, hooks.end_next = set_next, end_next
    hooks.note_update, hooks.take_update = note_update, take_update

    @functools.wraps(original)
    def __next__(self):
        nonlocal has_updated, is_waiting
        # None if anything was compiled: the compiler sees nothing of what follows.
        mark = fast
        if mark is not None:
            try:
                is_noted = mark is self._trainscope_mark  # If its class had one, Python would look there first.
            except AttributeError:
                is_noted = False
            if is_noted:
                # Between bursts: notes times and whether an optimizer has updated, and nothing else. What it keeps are
                # numbers in one list, which Python's garbage collector does not count. They are appended one by one: a
                # tuple of them is made, read and deleted in other places of the memory.
                began = clock()
                try:
                    is_waiting = True
                    item = original(self)
                except StopIteration:
                    _end_iterator(hooks.fast_trace, self, began)
                    raise
                finally:
                    is_waiting = False
                ended = clock()
                try:
                    had_updated, has_updated = has_updated, False
                    note(had_updated)
                    note(began)
                    note(ended)
                    # An update that another hook counts from now on must not be taken for that of this batch.
                    if ended > due_ns or fast is not mark:
                        hooks.drain()
                except BaseException as error:
                    hooks.fail_to_note(error)
                return item
        if is_compiling():
            return original(self)
        if session.is_off:
            return original(self)
        trace = getattr(hooks.of_thread, "trace", None) or current_trace()
        # waiting: a loader that reads from another one
        if trace is None or trace.is_waiting or is_waiting and trace is hooks.fast_trace:
            return original(self)
        began = now_ns()
        try:
            trace.is_waiting = True
            item = original(self)
        except StopIteration:
            _end_iterator(trace, self, began)
            raise
        finally:
            trace.is_waiting = False
        ended = now_ns()
        try:
            trace.take_batch(self, item, began, ended, _torch.is_grad_enabled())
        except Exception as error:
            session.failed("the data loader", error)
        return item

    return __next__


def _end_iterator(trace, iterator, now):
    try:
        hooks.drain()
        trace.end_iterator(iterator, now, _torch.is_grad_enabled())
    except Exception as error:
        session.failed("the data loader", error)
