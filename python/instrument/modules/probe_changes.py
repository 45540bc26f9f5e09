"""What a probe changes and puts back: batches that are handed out again, and the processors of the job."""
import copy
import os
import sys
from collections import deque

_KEPT = 4
_KEPT_BYTES, _ALL_KEPT_BYTES = 256 << 20, 2 << 30  # of a loader, of all
_ATOMS = (str, bytes, int, float, complex, bool, type(None), frozenset)


def _is_mapping(value):
    """Whose shallow copy has items of its own. An unknown class may share them with its copy."""
    return isinstance(value, dict) or (hasattr(type(value), "__copy__") and hasattr(value, "keys")
                                       and hasattr(value, "items") and hasattr(value, "__setitem__"))


def _is_sequence(value):
    """That consists of its parts alone. Subclasses may have attributes."""
    return type(value) in (list, tuple) or isinstance(value, tuple) and hasattr(value, "_fields")


class KeptBatches:
    """The last batches of the loader. Containers are rebuilt each time: a job may take things out of them. Tensors are
    handed out as they are until one was modified in place, which its version shows; then, and for everything
    that has no version and containers of unknown classes, copies are."""

    def __init__(self, torch):
        self._torch = torch
        self.copies = False
        self._room = _KEPT  # batches
        self._kept = deque(maxlen=_KEPT)  # (batch, [(tensor, its version, whether it had a gradient)])

    def __len__(self):
        return len(self._kept)

    def is_full(self):
        return len(self._kept) >= self._room

    def clear(self):
        self._kept.clear()

    def keep(self, batch, loaders=1):
        """Of a batch that the job is about to get, one of as many loaders."""
        tensors = []
        if not self.copies and not self._find_tensors(batch, tensors):
            self.copies = True
            self._kept.clear()
        if self.copies:
            tensors = []
            batch = self._rebuilt(batch)
        else:
            batch = self._rebuilt(batch)
            tensors = [(tensor, tensor._version, tensor.requires_grad) for tensor in tensors]
        self._kept.append((batch, tensors))
        size = self._bytes(batch)
        room_bytes = min(_KEPT_BYTES, _ALL_KEPT_BYTES // loaders)
        self._room = min(_KEPT, max(1, room_bytes // max(1, size)))
        while len(self._kept) > self._room:
            self._kept.popleft()

    def next(self):
        """None if there is none that the job has left as it was."""
        while self._kept:
            batch, tensors = self._kept.popleft()
            if any(tensor._version != version or tensor.requires_grad != had_gradient
                   for tensor, version, had_gradient in tensors):
                self.copies = True
                self._kept.clear()
                return None
            self._kept.append((batch, tensors))
            return self._rebuilt(batch)
        return None

    def _find_tensors(self, value, found):
        """False if something is in it that has no version."""
        if isinstance(value, self._torch.Tensor):
            found.append(value)
            return True
        if isinstance(value, _ATOMS):
            return True
        if _is_mapping(value):
            return all(self._find_tensors(value[key], found) for key in value.keys())
        return _is_sequence(value) and all(self._find_tensors(one, found) for one in value)

    def _bytes(self, value):
        """Of what is in a batch: tensors, and arrays of other libraries."""
        if isinstance(value, self._torch.Tensor):
            return value.numel() * value.element_size()
        if hasattr(value, "items") and hasattr(value, "keys"):
            return sum(self._bytes(value[key]) for key in value.keys())
        if isinstance(value, (list, tuple)):
            return sum(map(self._bytes, value))
        size = getattr(value, "nbytes", 0)
        return size if isinstance(size, int) else 0

    def _rebuilt(self, value):
        if isinstance(value, self._torch.Tensor):
            return self._copied(value) if self.copies else value
        if isinstance(value, _ATOMS):
            return value
        if _is_mapping(value):
            rebuilt = copy.copy(value)
            for key in list(value.keys()):
                rebuilt[key] = self._rebuilt(value[key])
            return rebuilt
        if _is_sequence(value):
            parts = [self._rebuilt(one) for one in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        return copy.deepcopy(value)

    def _copied(self, tensor):
        torch = self._torch
        if torch.cuda.is_initialized() and tensor.is_pinned():  # A copy to the device is slower from other memory.
            return torch.empty_like(tensor, pin_memory=True).copy_(tensor)
        return tensor.clone()


class Processors:
    """Halves the CPUs of all threads of this process and of its multiprocessing children, and PyTorch's threads."""

    def __init__(self, torch=None):
        self._torch = torch
        self.has_own_threads = False  # The job computes with something else than PyTorch.
        self._all = self._half = None  # CPUs; None: nothing is changed
        self._saved = {}  # thread: its CPUs
        self._threads = None  # of PyTorch: before, and as set here

    @staticmethod
    def can_halve():
        return hasattr(os, "sched_setaffinity") and len(os.sched_getaffinity(0)) > 1

    def lowers_threads(self):
        """Whether what the job computes with uses fewer threads too."""
        return self._torch is not None and not self.has_own_threads

    def halve(self):
        """Nothing happens if that was done already."""
        cpus = sorted(os.sched_getaffinity(os.getpid()))
        if self._half is not None or len(cpus) < 2:
            return
        self._all, self._half = set(cpus), set(cpus[:len(cpus) // 2])
        for thread in _threads():
            try:
                self._saved[thread] = os.sched_getaffinity(thread)
                os.sched_setaffinity(thread, self._saved[thread] & self._half or self._half)
            except OSError:  # It has ended, or belongs to another user.
                self._saved.pop(thread, None)
        if self._torch is not None:
            before = self._torch.get_num_threads()
            self._threads = (before, max(1, before // 2))
            self._torch.set_num_threads(self._threads[1])

    def restore(self):
        """Leaves alone what the job has changed itself since. Threads that began meanwhile have inherited the half."""
        if self._half is None:
            return
        whole, half, saved = self._all, self._half, self._saved
        for thread in _threads():
            try:
                if os.sched_getaffinity(thread) == (saved.get(thread, whole) & half or half):
                    os.sched_setaffinity(thread, saved.get(thread, whole))
            except OSError:
                continue
        self._all = self._half = None
        self._saved = {}
        threads, self._threads = self._threads, None
        if threads is not None:
            before, lowered = threads
            if self._torch.get_num_threads() == lowered:
                self._torch.set_num_threads(before)

    def restore_forked(self):
        """In a child of os.fork(), which has only this thread."""
        if self._half is None:
            return
        if os.sched_getaffinity(0) == self._half:
            os.sched_setaffinity(0, self._all)
        self._all = self._half = self._threads = None
        self._saved = {}


def _threads():
    """Ids of all threads of this process and of the children that multiprocessing has started."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    children = [child.pid for child in list(getattr(multiprocessing, "_children", ()))]
    found = []
    for process in [os.getpid()] + [pid for pid in children if pid]:
        try:
            found += [int(thread) for thread in os.listdir("/proc/%d/task" % process)]
        except OSError:  # It has ended.
            continue
    return found
