"""Where a probe takes part in PyTorch: inside the data loader's __next__, after a backward pass, and after an optimizer's
update.

A step is what it is for the instrumentation (trace.py): it ends when the next batch is requested after an update, or,
without a data loader, with each update of the same optimizer. The hooks of the instrumentation are around these.
"""
import _thread
import functools
import sys
import weakref

from . import spans
from ._pipe import now_ns
from .probe import probe
from .probe_changes import KeptBatches
from .probe_plan import FIRST_STEP, INPUT
from .spans import EVALUATION
from .torch_state import is_compiling

_LEFT_UPDATES = 32  # So many updates with one batch: the job has left its loader, or never had one.
_MOST_LOADERS = 64
_REPLACED = "_trainscope_replaced"  # of an iterator: its epoch's sampler, and how many batches were replaced
_torch = sys.modules["torch"]


class _Steps:
    """Of the training thread."""

    def __init__(self):
        self.readers = set()  # threads that have read a batch to train with
        self.updates = 0  # since the last batch
        self.optimizer = None  # the first that updated
        self.is_reading = False  # inside of __next__: a loader may read from another one
        self.is_in_backward = False
        self.has_backward = False  # since the last update
        self.slept_in = None  # the number of the step
        self.batches = {}  # id of a dataset: what holds it, its kept batches
        self.has_copies = False  # of batches of a dataset: the job would do the same to those of the next one
        self.iterator = None  # a weak reference to the one that was read last
        self.read_fixed_at = None  # the number of the step in which batches were read that cannot be replaced

    def forget(self):
        self.batches.clear()


_steps = _Steps()
probe.drop_batches = _steps.forget
probe.processors._torch = _torch


def attach_loader(module):
    iterators = module._BaseDataLoaderIter
    iterators.__next__ = _probed_next(iterators.__next__)


def attach_backward(module):
    original = module.backward

    @functools.wraps(original)
    def backward(*arguments, **keywords):
        if is_compiling() or probe.is_off or _steps.is_in_backward or probe.thread != _thread.get_ident():
            return original(*arguments, **keywords)
        try:
            _steps.is_in_backward = True
            result = original(*arguments, **keywords)
        finally:
            _steps.is_in_backward = False
        try:
            _end_backward()
        except Exception as error:
            probe.fail("the end of a backward pass", error)
        return result

    module.backward = backward


def _end_backward():
    """Forward and backward pass are queued, and nothing has waited for them yet: if the device limits the job, it has
    enough to do now for a sleep to be hidden."""
    _steps.has_backward = True
    if _steps.slept_in != probe.number and probe.source is None:
        _steps.slept_in = probe.number
        probe.sleep()


def attach_optimizer(module):
    module.register_optimizer_step_post_hook(_end_update)


def _probed_next(original):
    @functools.wraps(original)
    def __next__(self):
        if is_compiling() or _steps.is_reading:
            return original(self)
        batch, is_training, has_ended = None, False, False
        try:
            is_training = not probe.is_off and probe.source is None and _is_training()
            if is_training:
                _begin_batch(self)
            elif not probe.is_off and probe.is_training_thread():
                probe.pause()
            has_ended = _has_ended(self)
            if is_training and not has_ended:
                batch = _batch_of_before(self)
        except Exception as error:
            probe.fail("the data loader", error)
        if has_ended:
            _end_epoch(self)
            raise StopIteration
        if batch is not None:
            return batch
        return _read(self, original) if is_training else original(self)

    return __next__


def _read(iterator, original):
    """A batch of the loader's own."""
    began = now_ns()
    try:
        _steps.is_reading = True
        item = original(iterator)
    except StopIteration:
        _pause()
        raise
    finally:
        _steps.is_reading = False
    wait_ns = now_ns() - began
    try:
        probe.note_wait(wait_ns)
        _keep(iterator, item)
    except Exception as error:
        probe.fail("a batch", error)
    return item


def _is_training():
    return probe.is_training_thread() and _torch.is_grad_enabled() and not spans.is_open(EVALUATION)


def _begin_batch(iterator):
    """The end of a step, if an optimizer has updated."""
    if _steps.iterator is None or _steps.iterator() is not iterator:
        _steps.iterator = weakref.ref(iterator, _iterator_is_gone)
    _steps.readers.add(_thread.get_ident())
    if _steps.updates:
        _steps.updates = 0
        probe.end_step(now_ns())
    probe.resume()


def _batch_of_before(iterator):
    """One that is handed out again; None if this step has to read."""
    if not probe.wants_batch():
        return None
    _, batches = _steps.batches.get(id(iterator._dataset), (None, None))
    if batches is None or not _is_ready(batches):
        return None
    sampler, replaced = iterator.__dict__.get(_REPLACED, (None, 0))
    if sampler is not iterator._sampler_iter:  # another epoch of the same workers
        replaced = 0
    if iterator._num_yielded + replaced >= len(iterator):  # The loader is about to end.
        return None
    began = now_ns()
    batch = batches.next()
    if batch is None:
        probe.block.is_spoiled = True  # The job modifies its batches: from now on it gets copies.
        return None
    iterator.__dict__[_REPLACED] = (iterator._sampler_iter, replaced + 1)
    probe.note_replaced(now_ns() - began)
    return batch


def _iterator_is_gone(reference):
    """The loop over the loader has been left, and there may be no step for long."""
    if _steps.iterator is reference:
        _steps.iterator = None
        _pause()


def _is_ready(batches):
    """Copies are only made in steps that are discarded, until there are enough."""
    return bool(batches) and (not batches.copies or probe.block.replaced > 0 or batches.is_full())


def _keep(iterator, item):
    """Remembers the batch, so that it can be handed out again."""
    _note_reason(_reason_against(iterator))
    if probe.is_off or probe.plan is not None and INPUT not in probe.plan.experiments:
        return
    if probe.input_reason or iterator._num_yielded == len(iterator):  # The last batch may be smaller.
        return
    probe.workers = max(probe.workers or 0, iterator._num_workers)
    probe.capacity = max(probe.capacity, iterator._num_workers * (getattr(iterator, "_prefetch_factor", 0) or 0))
    dataset = iterator._dataset
    if id(dataset) not in _steps.batches:
        if len(_steps.batches) >= _MOST_LOADERS:  # the oldest: a job may make a dataset for each epoch
            for oldest in list(_steps.batches)[:1]:  # none if they were collected meanwhile
                _steps.batches.pop(oldest, None)
        _steps.batches[id(dataset)] = (_held(dataset), KeptBatches(_torch))
        _steps.batches[id(dataset)][1].copies = _steps.has_copies
    batches = _steps.batches[id(dataset)][1]
    _steps.has_copies |= batches.copies
    if batches.copies and not probe.wants_batch():
        batches.clear()
    else:
        batches.keep(item, len(_steps.batches))


def _note_reason(reason):
    """Each step waits for all of its loaders, so one of them is enough."""
    if reason:
        _steps.read_fixed_at, probe.input_reason = probe.number, reason
    elif _steps.read_fixed_at is None or probe.number - _steps.read_fixed_at > FIRST_STEP // 2:
        probe.input_reason = ""


def _held(dataset):
    """So that its id is its own, and without keeping it alive where that is possible."""
    try:
        return weakref.ref(dataset, functools.partial(_drop, _steps.batches, id(dataset)))
    except TypeError:  # a list, for example
        return dataset


def _drop(batches, key, _, pop=dict.pop):
    """A dataset is gone. At the end of the process globals may be gone too."""
    pop(batches, key, None)


def _reason_against(iterator):
    """Why batches of this loader cannot be replaced; "" if they can."""
    try:
        len(iterator)
        return "" if hasattr(iterator, "_sampler_iter") else "this version of PyTorch is not known"
    except (TypeError, NotImplementedError):
        return "the data loader has no length, so its epochs would become longer"


def _has_ended(iterator):
    """Whether all batches of the epoch were given, replaced ones included."""
    sampler, replaced = iterator.__dict__.get(_REPLACED, (None, 0))
    if not replaced or sampler is not iterator._sampler_iter:
        return False
    return iterator._num_yielded + replaced >= len(iterator)


def _pause():
    try:
        probe.pause()
    except Exception as error:
        probe.fail("the end of a data loader", error)


def _end_epoch(iterator):
    """As the loader does when it has no more."""
    if not probe.is_off:
        _pause()
    if not getattr(iterator, "_persistent_workers", True) and hasattr(iterator, "_shutdown_workers"):
        iterator._shutdown_workers()


def _end_update(optimizer, arguments, keywords):
    if probe.is_off or is_compiling() or probe.source is not None:
        return
    try:
        thread = _thread.get_ident()
        if probe.thread is None:
            probe.thread, _steps.optimizer = thread, id(optimizer)
        if probe.thread != thread:
            return
        _wait_for_device()
        has_backward, _steps.has_backward = _steps.has_backward, False
        _steps.updates += 1
        has_loader = thread in _steps.readers
        if has_loader and _steps.updates > _LEFT_UPDATES:
            _steps.readers.discard(thread)
        if not has_loader:
            probe.input_reason = "the thread that trains reads from no data loader"
            if _steps.optimizer != id(optimizer):
                return
            _steps.updates = 0
            probe.end_step(now_ns())
        if not has_backward and _steps.updates < 2:  # replayed, or compiled as a whole
            probe.sleep()
    except Exception as error:
        probe.fail("the end of an update", error)


def _wait_for_device():
    """A host that runs ahead of the device would end a block before its steps are computed."""
    cuda = _torch.cuda
    if not cuda.is_initialized():
        return
    probe.has_device = True
    if probe.wants_device_idle() and not cuda.is_current_stream_capturing():
        cuda.synchronize()
