"""Reports training progress to Trainscope, from Python: `trainscope.step(n, loss=loss)`.

For: a job under `trainscope run`. Each function sends one line of docs/guide/progress.md to the FIFO in
TRAINSCOPE_PIPE, with the timestamp of the call. Outside a run every function returns at once. Importing
this needs only modules that Python has loaded already; frameworks are imported only by their own modules
(trainscope.keras, .torch, .lightning, .huggingface).

Guarantees: never raises, never blocks. What is not a number is left out; the first such value of step() or
epoch() is printed on stderr. Lines that cannot be written at once are counted, and `dropped N` is
sent before the next line that succeeds. A forked process opens the FIFO again.

Sender: the process that imported this first and its training thread (the first to end a step; before
that, the one that imported this) have no who. Another thread has who=PID.NAME, a forked or
multiprocessing process who=PID, and if the first of RANK, OMPI_COMM_WORLD_RANK, MV2_COMM_WORLD_RANK, PMI_RANK and SLURM_PROCID
that is set is N > 0, who=rankN.
set_who() overrides that.

Limits: a number on an accelerator is fetched, which waits for it: send values that are on the host already, or
not at every step. A line has at most 4,096 bytes: a longer text is cut between characters, other lines between words.
Names have at most 128 letters, digits and _ . / : - ; other bytes become _. A job that closes descriptors
which it did not open must do so before the first line. Before Python 3.8 a process that multiprocessing
spawns counts as a first one.
"""
import sys

from ._pipe import as_name, encoded, now_ns, sender

__all__ = ["active", "batch", "begin", "end", "epoch", "iterate", "mark", "phase", "scalar", "set_who",
           "step"]
# Of the whole project: CMakeLists.txt and the packages read it here.
__version__ = "0.1.0"

_AS_TEXT = bytes(ord(" ") if c < 32 or c == 127 else c for c in range(256))
_KEYS = (b"t", b"who", b"set")  # a number of that name gets a _ appended
_FRAMEWORKS = ("huggingface", "keras", "lightning", "torch")


def active():
    """Whether lines are sent: in a run, with the pipe open."""
    return sender().is_open()


def step(number=None, set=None, **numbers):
    """A step has ended: step(), step(7), step(7, loss=0.3). Without a number the recorder counts.
    With set="validation" or "test" it reports values only and is not counted."""
    send_report("step", number, numbers, set, reports_ignored=True)


def epoch(number=None, set=None, **numbers):
    """An epoch has ended: epoch(2, loss=0.3, val_accuracy=0.9)."""
    send_report("epoch", number, numbers, set, reports_ignored=True)


def phase(name, seconds=None):
    """`with phase("checkpoint"): …`; phase("input", 0.2) reports one that ends now and took this long."""
    if seconds is None:
        return _Phase(name)
    _send_phase(name, seconds)
    return None


def begin(name):
    """A phase begins; phases may be nested."""
    pipe = sender()
    if pipe.is_open():
        pipe.send(b"begin " + as_name(name))


def end(name):
    """The phase of this name ends."""
    pipe = sender()
    if pipe.is_open():
        pipe.send(b"end " + as_name(name))


def batch(items):
    """Items per step from now on."""
    pipe = sender()
    if pipe.is_open():
        count = _count(items)
        if count not in (b"", b" 0"):
            pipe.send(b"batch" + count)


def scalar(name, value, set=None):
    """Any other number over time: scalar("learning_rate", 1e-3)."""
    pipe = sender()
    if pipe.is_open():
        number = _real(value)
        if number:
            pipe.send(b"scalar " + as_name(name) + b" " + number + _set(set))


def mark(text):
    """A labelled event: mark("learning rate halved")."""
    pipe = sender()
    if pipe.is_open():
        words = encoded(text).translate(_AS_TEXT)
        if words.strip():
            pipe.send(b"mark " + words)


def iterate(iterable, name="input"):
    """The same items; the wait for each is reported as a phase.

    Outside a run it is `iterable` itself. For a data loader, a tf.data dataset, a generator, any iterable;
    the result has its other attributes too (len(), …). For Keras' fit() use
    trainscope.keras.measure_input().
    """
    if not active():
        return iterable
    if hasattr(iterable, "gi_frame"):
        return _measured_generator(iterable, name)
    return (MeasuredIterator if hasattr(iterable, "__next__") else MeasuredIterable)(iterable, name)


def set_who(name):
    """Sets the sender name of this process's training thread; step time is computed from the sender ""."""
    sender().who = as_name(name) if name else b""


class MeasuredIterable:
    """The result of iterate() for something that can be iterated over many times."""

    def __init__(self, iterable, name="input"):
        self._iterable = iterable
        self._phase_name = name

    def __iter__(self):
        return MeasuredIterator(self._iterable, self._phase_name)

    def __len__(self):
        return len(self._iterable)

    def __bool__(self):
        return bool(self._iterable)

    def __getattr__(self, name):
        if name.startswith("_"):  # Called by copy and pickle before _iterable exists.
            raise AttributeError(name)
        return getattr(self._iterable, name)


class MeasuredIterator(MeasuredIterable):
    """One pass over an iterable. It keeps no item, so that a batch lives no longer than without it."""

    def __init__(self, iterable, name="input"):
        began = now_ns()
        super().__init__(iter(iterable), name)
        self._waited_ns = now_ns() - began  # A data loader starts its workers here: part of the first wait.

    def __iter__(self):
        return self

    def __next__(self):
        began = now_ns()
        item = next(self._iterable)
        phase(self._phase_name, (now_ns() - began + self._waited_ns) * 1e-9)
        self._waited_ns = 0
        return item


def _measured_generator(generator, name):
    """Keras accepts nothing else as a generator."""
    yield from MeasuredIterator(generator, name)


class _Phase:
    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        begin(self.name)
        return self

    def __exit__(self, *exception):
        end(self.name)


def _count(number):
    """Blank and number; nothing if it is not a number, or below 0."""
    if number is None:
        return b""
    try:
        number = int(number)
        return b" %d" % number if number >= 0 else b""
    except Exception:  # Anything that a framework's number may raise; the job must not see it.
        return b""


def _real(value):
    """15 digits, so that a decimal number stays one. Nothing if it is not a number."""
    try:
        return b"%.15g" % (value,)
    except Exception:
        return b""


def _numbers(numbers):
    words = b""
    for name, value in numbers.items():
        key, number = as_name(name), _real(value)
        if number:
            words += b" %s%s=%s" % (key, b"_" if key in _KEYS else b"", number)
    return words


def _set(name):
    return b" set=" + as_name(name) if name else b""


def _send_phase(name, seconds, thread=None):
    pipe = sender()
    if not pipe.is_open():
        return
    try:
        took = b"%.9f" % seconds if 0 <= seconds < 1e12 else b""
    except Exception:
        took = b""
    if took:
        pipe.send(b"phase %s %s" % (as_name(name), took), thread)


def send_report(word, number, numbers, set=None, reports_ignored=False):
    """step() and epoch() for the callbacks of this package: numbers with any names."""
    pipe = sender()
    if pipe.is_open():
        if reports_ignored and not _ignored:
            _report_ignored(word, number, numbers)
        pipe.send(encoded(word) + _count(number) + _numbers(numbers) + _set(set))


_ignored = []  # the first thing that was not a number


def _report_ignored(word, number, numbers):
    """Prints the first value that is left out because it is not a number; None is left out on purpose."""
    found = [] if number is None or _count(number) else [(word + " number", number)]
    found += [item for item in numbers.items() if item[1] is not None and not _real(item[1])]
    for name, value in found[:1]:
        _ignored.append(name)
        try:
            sys.stderr.write("trainscope: ignored %s %.80r: it is not a number; later ones are not reported\n" % (name, value))
        except Exception:  # Raised by a __repr__ of the job, or without a stderr.
            pass


def report_input_wait(seconds):
    """For the wrappers of this package: a wait of the training thread, reported by another one."""
    _send_phase("input", seconds, sender().training_thread)


def __getattr__(name):
    """trainscope.torch and the other frameworks without a separate import."""
    if name in _FRAMEWORKS:
        import importlib
        return importlib.import_module("trainscope." + name)
    raise AttributeError("module 'trainscope' has no attribute %r" % name)
