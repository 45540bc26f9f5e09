"""What one process has to report, and how it gets into the pipe of the run.

Hooks note times in lists. Lines are made of them a few times per second, several in one write, each with its own
timestamp. Guarantees: those of the client for Python (_pipe.py), whose sender this uses; a forked process begins
with nothing to send. Limits: what was noted in the last quarter of a second is lost if the process is killed or
calls os._exit().
"""
import _thread
import atexit
import os
import signal
import sys

from . import _pipe
from ._pipe import now_ns

FLUSH_NS = 250000000
_HOLD_NS = 30000000000
_TEXT_BYTES = 300
_ORDER = ("steps", "epochs", "input", "prepare", "forward", "backward", "optimizer", "checkpoint")
_AS_TEXT = bytes(ord(" ") if c < 32 or c == 127 else c for c in range(256))


class Session:
    """Of one process; `session` is the only one."""

    def __init__(self):
        self.is_off = False
        self.steps_from = None  # "client", "keras" or "torch": only one of them reports steps
        self.client_phases = set()  # names of phases that the job reports with our client
        self._restore = []  # functions that put an original back
        self._attached = {}  # framework: names of what is observed
        self._missing = []
        self._unsent_marks = []
        self._told = ""  # the last mark about what is attached
        self._at_exit = []
        self._hold_until_ns = 0
        self._begin_process()
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_process)

    def _begin_process(self):
        """Also in a forked process: descriptor and unsent lines are its parent's."""
        self.logs = {}  # by thread
        self.main_log = None  # of the training thread: the first to end a step
        self._sender = None
        self._process = os.getpid()
        self._has_events = False
        self._told = ""
        self._is_ending = False
        for forget in getattr(self, "_after_fork", ()):
            forget()

    def after_fork(self, forget):
        self._after_fork = getattr(self, "_after_fork", ()) + (forget,)

    def log(self):
        """What this thread has noted."""
        thread = _thread.get_ident()
        log = self.logs.get(thread)
        if log is None:
            if not self.logs:
                self._register_end_of_child()
            log = self.logs[thread] = Log(self)
        return log

    def may_step(self, source):
        """Whether this source reports the steps; the first one does, but for the job's own reports."""
        if self.steps_from is None:
            self.steps_from = source
        return self.steps_from == source

    def expect_client(self):
        """The job has loaded our client: its own reports of steps may begin late."""
        self._hold_until_ns = now_ns() + _HOLD_NS

    def holds_steps(self, now):
        return now < self._hold_until_ns and self.steps_from != "client" and not self._is_ending

    def at_exit(self, function):
        self._at_exit.append(function)

    def note_attached(self, framework, *names, restore=None):
        have = self._attached.setdefault(framework, [])
        have.extend(name for name in names if name not in have)
        if restore is not None:
            self._restore.append(restore)

    def note_missing(self, what, error):
        self._missing.append("%s (%s: %s)" % (what, type(error).__name__, error))

    def mark(self, text):
        self._unsent_marks.append((now_ns(), text))

    def failed(self, where, error):
        """Our own exception: the originals work again, for good. One of the job's signal handlers is passed on."""
        if _is_from_signal_handler(error):
            raise error
        if self.is_off:
            return
        self.is_off = True
        for restore in self._restore:
            try:
                restore()
            except Exception:
                pass
        try:
            self.mark("instrumentation stopped in %s: %s: %s" % (where, type(error).__name__, error))
            self.log().flush()
        except Exception:
            pass

    def write(self, lines, log):
        """Sends lines of (timestamp, text) for a thread, at most 4,096 bytes at a time."""
        sender = self._open_sender()
        if sender is None:
            return
        self._has_events = True
        who = self._who(sender, log)
        ending = b" who=%s\n" % who if who else b"\n"
        made = [b"%s t=%d%s" % (text, time, ending) for time, text in self._take_marks() + lines]
        batch, size = [], 0
        for line in made:
            if batch and size + len(line) > _pipe.LINE_BYTES:
                _send(sender, batch, ending)
                batch, size = [], 0
            batch.append(line)
            size += len(line)
        if batch:
            _send(sender, batch, ending)

    def _open_sender(self):
        if self._sender is None:
            self._sender = _pipe.sender()
        return self._sender if self._sender.is_open() else None

    def _who(self, sender, log):
        if log is None or len(self.logs) < 2:
            return sender.who
        is_training = log.thread == sender.training_thread if self.main_log is None else log is self.main_log
        return sender.who if is_training else log.name

    def _take_marks(self):
        marks, self._unsent_marks = self._unsent_marks, []
        text = self._attached_text()
        if text != self._told:
            self._told = text
            marks.insert(0, (now_ns(), text))
        return [(time, b"mark " + _pipe.encoded(text)[:_TEXT_BYTES].translate(_AS_TEXT)
                 .decode("utf-8", "ignore").encode()) for time, text in marks]

    def _attached_text(self):
        parts = ["%s: %s" % (" ".join(filter(None, (name, _version(name)))), " ".join(sorted(what, key=_place)))
                 for name, what in sorted(self._attached.items())]
        text = "instrumented " + "; ".join(parts)
        return text + ("; not attached: " + ", ".join(self._missing) if self._missing else "")

    def _register_end_of_child(self):
        """A child of multiprocessing ends without atexit."""
        process = sys.modules.get("multiprocessing.process")
        parent = getattr(process, "parent_process", None)
        if parent is not None and parent() is not None:
            from multiprocessing.util import Finalize
            Finalize(None, self._end, exitpriority=0)

    def _end(self):
        if self._is_ending or self._process != os.getpid():
            return
        self._is_ending = True
        try:
            for function in self._at_exit:
                function()
            for log in list(self.logs.values()):
                log.flush()
            self._tell_end()
        except Exception:
            pass

    def _tell_end(self):
        """A process that trained nothing is only worth a mark if nobody started it to load data."""
        process = sys.modules.get("multiprocessing.process")
        parent = getattr(process, "parent_process", None)
        is_child = self._process != _pipe._MAIN_PROCESS or parent is not None and parent() is not None
        if not self._has_events and not is_child and self._attached:
            self.mark("no training was seen in process %d" % self._process)
            self.write([], None)


class Log:
    """Of one thread: (timestamp, function that makes its text, values), not sent yet."""
    __slots__ = ("session", "events", "flushed_ns", "thread", "name")

    def __init__(self, session):
        self.session = session
        self.events = []
        self.flushed_ns = now_ns()
        self.thread = _thread.get_ident()
        self.name = _pipe._name_of_other_thread(os.getpid())  # sent if this is not the training thread

    def phase(self, name, began_ns, ended_ns):
        self.events.append((ended_ns, phase_text, (name, ended_ns - began_ns)))

    def add(self, time_ns, text):
        self.events.append((time_ns, plain_text, (text,)))

    def flush_if_due(self, now):
        if now - self.flushed_ns > FLUSH_NS:
            self.flush(now)

    def flush(self, now=None):
        self.flushed_ns = now or now_ns()
        events, self.events = self.events, []
        if self.session.holds_steps(self.flushed_ns):
            self.events = [event for event in events if event[1].__name__ == "step_text"]
            events = [event for event in events if event[1].__name__ != "step_text"]
        lines = []
        for time_ns, make, values in events:
            text = make(self.session, *values)
            if text is not None:
                lines.append((time_ns, text))
        if lines or self.session._unsent_marks:
            self.session.write(lines, self)


def _place(name):
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def plain_text(session, text):
    return text


def phase_text(session, name, duration_ns):
    if name in session.client_phases:
        return None
    return b"phase %s %d.%09d" % (name, duration_ns // 1000000000, duration_ns % 1000000000)


def _send(sender, lines, ending):
    with sender.lock:
        if sender.dropped:
            if not sender._write(b"dropped %d t=%d%s" % (sender.dropped, now_ns(), ending)):
                sender.dropped += len(lines)
                return
            sender.dropped = 0
        if not sender._write(b"".join(lines)):
            sender.dropped += len(lines)


def _version(framework):
    """Of the package; frameworks that the job has not loaded under this name have none."""
    return getattr(sys.modules.get(framework), "__version__", "")


def _is_from_signal_handler(error):
    """A handler of the job may raise while our code runs: that exception is the job's."""
    frames, trace = set(), error.__traceback__
    while trace is not None:
        frames.add(trace.tb_frame.f_code)
        trace = trace.tb_next
    for number in range(1, signal.NSIG):
        try:
            handler = signal.getsignal(number)
        except (ValueError, OSError):
            continue
        code = getattr(getattr(handler, "__func__", handler), "__code__", None)
        if code in frames:
            return True
    return False


session = Session()
