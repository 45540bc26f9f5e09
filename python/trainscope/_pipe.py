"""The sending end of the FIFO of a run: one per process, created at the first line.

Follows the rules for senders of docs/guide/progress.md: O_NONBLOCK, one write per line of at most 4,096
bytes, lost lines are counted and reported, no SIGPIPE, nothing more is sent once there is no reader. Also
chooses the sender name of a thread; see trainscope for the rule.
"""
import _signal
import _thread
import os
import stat
import sys
import time

LINE_BYTES = 4096
NAME_BYTES = 128
_NAME_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-"
_AS_NAME = bytes(c if c in _NAME_LETTERS else ord("_") for c in range(256))
# Of the innermost launcher first: in a batch script of Slurm, SLURM_PROCID is 0 in all processes that mpirun starts.
_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_MAIN_PROCESS = os.getpid()
_SILENT = -1


def _monotonic_ns():
    return int(time.monotonic() * 1e9)


now_ns = getattr(time, "monotonic_ns", _monotonic_ns)  # Python 3.6 has no monotonic_ns


def is_from_signal_handler(error):
    """Whether a signal handler of the job raised this: one may run anywhere in our code, and its exceptions are the
    job's. Python passes to a handler the frame that it interrupts, which is the one that it returns to."""
    trace = error.__traceback__
    while trace is not None:
        interrupted = trace.tb_frame.f_back
        for value in list(trace.tb_frame.f_locals.values()) if interrupted is not None else ():
            parts = value if type(value) is tuple else (value,)
            if any(part is interrupted for part in parts):
                return True
        trace = trace.tb_next
    return False


def encoded(text):
    try:
        return str(text).encode("utf-8", "replace")
    except Exception as error:  # Raised by a __str__ of the job.
        if is_from_signal_handler(error):
            raise
        return b""


def as_name(name):
    """Characters that a name may contain; other bytes become _."""
    return encoded(name)[:NAME_BYTES].translate(_AS_NAME) or b"_"


class Sender:
    """The sending end of one process; created again in a forked one: its parent's lock may be taken."""
    __slots__ = ("process", "who", "training_thread", "has_stepped", "descriptor", "pipe", "dropped", "lock")

    def __init__(self, process):
        self.process = process
        self.who = None  # set with the descriptor
        self.training_thread = _thread.get_ident()
        self.has_stepped = False
        self.descriptor = self.pipe = None  # pipe: what tells it from other files
        self.dropped = 0
        self.lock = _thread.RLock()  # A signal handler may send while its own thread is sending.

    def is_open(self):
        if self.descriptor is None:
            with self.lock:
                if self.descriptor is None:
                    if self.who is None:
                        self.who = _identity(self.process)
                    descriptor = _open_pipe()
                    self.pipe, self.descriptor = _file_of(descriptor), descriptor
        return self.descriptor != _SILENT

    def send(self, body, thread=None):
        """Sends a line for this thread or the given one."""
        ending = b" t=%d" % now_ns()
        thread = thread or _thread.get_ident()
        if not self.has_stepped and body[:4] == b"step":
            self.has_stepped = True
            self.training_thread = thread
        who = self.who if thread == self.training_thread else _name_of_other_thread(self.process)
        ending += b" who=%s\n" % who if who else b"\n"
        with self.lock:
            if self.dropped:
                if not self._write(b"dropped %d" % self.dropped + ending):
                    self.dropped += 1
                    return
                self.dropped = 0
            if not self._write(_cut(body, LINE_BYTES - len(ending)) + ending):
                self.dropped += 1

    def _write(self, line):
        """False if the pipe is full. If there is no reader, nothing more is sent. A job may close all of its files, as daemons
        do; then the number may be that of a file of its own, and the pipe is opened again."""
        if self.descriptor is not None and self.descriptor != _SILENT and _file_of(self.descriptor) != self.pipe:
            self.descriptor = None
        if not self.is_open():
            return True
        try:
            _write_without_signal(self.descriptor, line)
        except OSError as error:
            if error.errno is None or is_from_signal_handler(error):
                raise
            if isinstance(error, BlockingIOError):
                return False
            descriptor, self.descriptor = self.descriptor, _SILENT
            _close(descriptor)
        return True


def _write_without_signal(descriptor, line):
    """os.write() that no SIGPIPE follows. Python ignores that signal, unless the job handles it."""
    if _signal.getsignal(_signal.SIGPIPE) == _signal.SIG_IGN:
        os.write(descriptor, line)
        return
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGPIPE])
    was_pending = _signal.SIGPIPE in before and _signal.SIGPIPE in _signal.sigpending()
    try:
        os.write(descriptor, line)
    except BrokenPipeError:
        if not was_pending:
            _signal.sigtimedwait([_signal.SIGPIPE], 0)
        raise
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)


def _open_pipe():
    """_SILENT if there is no run, no reader, or a file that is not a FIFO and would be overwritten."""
    path = os.environ.get("TRAINSCOPE_PIPE")
    if not path:
        return _SILENT
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            return descriptor
        _close(descriptor)
    except (OSError, ValueError):
        pass
    return _SILENT


def _file_of(descriptor):
    try:
        status = os.fstat(descriptor)
        return status.st_dev, status.st_ino
    except OSError as error:
        if error.errno is None or is_from_signal_handler(error):
            raise
        return None


def _close(descriptor):
    try:
        os.close(descriptor)
    except OSError:
        pass


_senders = {}  # by process, because a fork copies the sender of its parent


def sender():
    """The sender of this process."""
    process = os.getpid()
    return _senders.get(process) or _senders.setdefault(process, Sender(process))


sender()  # The thread that imports this is the training thread until one has ended a step.


def _identity(process):
    """Sender name of this process's training thread; b"" for the main one."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    parent = getattr(multiprocessing, "parent_process", None)
    if process != _MAIN_PROCESS or (parent and parent() is not None):
        return b"%d" % process
    for variable in _RANKS:
        rank = os.environ.get(variable, "")
        if rank and not rank.strip("0123456789"):
            return b"rank%d" % int(rank) if int(rank) else b""
    return b""


def _name_of_other_thread(process):
    import threading  # Only called if there are threads, so it is loaded already.
    return as_name("%d.%s" % (process, threading.current_thread().name))


def _cut(body, room):
    """The part that fits. Half a number would be another number: only a mark is cut inside a word."""
    if len(body) <= room:
        return body
    if body.startswith(b"mark "):
        return body[:room].decode("utf-8", "ignore").encode()
    return body[:room + 1].rpartition(b" ")[0]


def items_in(item, depth=3):
    """How many items a batch has, by the first tensor in it; None if that is not cheap to find."""
    try:
        shape = getattr(item, "shape", None)
        if shape is not None:
            return int(shape[0])
        if depth and hasattr(item, "values"):
            return items_in(next(iter(item.values())), depth - 1)
        if depth and isinstance(item, (list, tuple)):
            return items_in(item[0], depth - 1)
    except Exception as error:  # A batch may be anything; a step must not fail because of it.
        if is_from_signal_handler(error):
            raise
    return None
