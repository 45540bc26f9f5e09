"""What one process has to report, and how it gets into the pipe of the run.

Hooks note times in lists. Lines are made of them a few times per second, several in one write, each with its own
timestamp. Guarantees: those of the client for Python (_pipe.py), whose sender this uses; a forked process begins
with nothing to send. Limits: what was noted in the last quarter of a second, of steps that are not timed in the last half, is
lost if the process is killed or calls os._exit().
"""
import _thread
import atexit
import os
import sys
import weakref
from operator import sub

from . import _pipe
from ._pipe import now_ns

FLUSH_NS = 250000000
_SECOND_NS = 1000000000
_HOLD_NS = 30000000000
_RELEASED = 300  # held steps per flush: neither the training thread nor the pipe gets all of them at once
_TEXT_BYTES = 300
_ORDER = ("steps", "epochs", "input", "transfer", "forward", "backward", "optimizer", "checkpoint")
# Where exceptions are defined that our code and what it calls may raise.
_FRAMEWORKS = ("builtins", "torch", "lightning", "pytorch_lightning", "transformers", "accelerate", "keras",
               "tensorflow", "jax", "jaxlib", "numpy")
_UNSURE = b"instrument"  # sender of steps that the job's own client may still report itself
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
        self.is_unsure = False  # lines are being made for the unsure sender
        self._begin_process()
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_process)

    def _begin_process(self):
        """Also in a forked process: descriptor and unsent lines are its parent's."""
        self.logs = []  # of the threads that have one
        self._logs_made = 0
        self._of_thread = _thread._local()  # idents are used again by later threads
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
        log = getattr(self._of_thread, "log", None)
        if log is None:
            if not self._logs_made:
                self._register_end_of_child()
            self._logs_made += 1
            self._drop_ended_logs()
            log = self._of_thread.log = Log(self)
            self._of_thread.token = token = _Token()
            log.token = weakref.ref(token)
            self.logs.append(log)
        return log

    def _drop_ended_logs(self):
        for log in [log for log in self.logs if log.has_ended()]:
            try:
                self.logs.remove(log)
            except ValueError:  # Another thread was faster.
                continue
            log.flush()

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
        self.note_unattached(what, "%s: %s" % (type(error).__name__, error))

    def note_unattached(self, what, reason):
        self._missing.append("%s (%s)" % (what, reason))

    def mark(self, text, time_ns=None):
        self._unsent_marks.append((time_ns or now_ns(), text))

    def failed(self, where, error):
        """Our own exception: the originals work again, for good. One of the job's is passed on."""
        pass_on_if_of_job(error)
        if self.is_off:
            return
        self.is_off = True
        raised = []
        for restore in self._restore:
            try:
                restore()
            except Exception as another:
                raised.append(another)
        try:
            self.mark("instrumentation stopped in %s: %s: %s" % (where, type(error).__name__, error))
            self.log().flush()
        except Exception as another:
            raised.append(another)
        for another in raised:
            pass_on_if_of_job(another)

    def write(self, lines, log, is_unsure=False):
        """Sends lines of (timestamp, text) for a thread, at most 4,096 bytes at a time. Unsure ones have their own
        sender, whose steps count if nobody else reports any."""
        sender = self._open_sender()
        if sender is None:
            return
        self._has_events = True
        ending = self._ending(sender, log, is_unsure)
        made = [_line(text, time, ending) for time, text in ([] if is_unsure else self._take_marks()) + lines]
        batch, size = [], 0
        for line in made:
            if batch and size + len(line) > _pipe.LINE_BYTES:
                _send(sender, b"".join(batch), len(batch), ending)
                batch, size = [], 0
            batch.append(line)
            size += len(line)
        if batch:
            _send(sender, b"".join(batch), len(batch), ending)

    def write_steps(self, number, requested, came, log):
        """Sends for each batch that a step ended when it was requested, and how long the job waited for it."""
        sender = self._open_sender()
        if sender is None:
            return
        ending = self._ending(sender, log)
        # One format for many steps takes a third of the time that one each takes.
        both = b"step %d batches=1 timed=0 t=%d" + ending + b"phase input %d.%09d t=%d" + ending
        waits = list(map(sub, came, requested))
        last = len(came) - 1
        at_once = max(1, _pipe.LINE_BYTES // (len(both % (number + last, came[last], max(waits), 0, came[last]))))
        for place in range(0, len(came), at_once):
            part = slice(place, place + at_once)
            count = len(came[part])
            values = [0] * (5 * count)
            values[0::5] = range(number + place, number + place + count)
            values[1::5] = requested[part]
            values[2::5] = map(_SECOND_NS.__rfloordiv__, waits[part])
            values[3::5] = map(_SECOND_NS.__rmod__, waits[part])
            values[4::5] = came[part]
            _send(sender, both * count % tuple(values), 2 * count, ending)

    def _ending(self, sender, log, is_unsure=False):
        """Of a line after its timestamp. Names have no %."""
        who = self._who(sender, log)
        if is_unsure:
            who = b".".join((who, _UNSURE)) if who else _UNSURE
        return b" who=%s\n" % who if who else b"\n"

    def _open_sender(self):
        if self._sender is None:
            self._sender = _pipe.sender()
        return self._sender if self._sender.is_open() else None

    def _who(self, sender, log):
        if log is None or self._logs_made < 2:
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
        text = "instrumented " + "; ".join(parts) + _rank_text()
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
            for log in list(self.logs):
                log.flush()
            self._tell_end()
        except Exception as error:
            pass_on_if_of_job(error)

    def _tell_end(self):
        """A process that trained nothing is only worth a mark if nobody started it to load data."""
        process = sys.modules.get("multiprocessing.process")
        parent = getattr(process, "parent_process", None)
        is_child = self._process != _pipe._MAIN_PROCESS or parent is not None and parent() is not None
        if not self._has_events and not is_child and self._attached:
            self.mark("no training was seen in process %d" % self._process)
            self.write([], None)


class _Token:
    """Lives as long as the thread that has it."""
    __slots__ = ("__weakref__",)


class Log:
    """Of one thread: (timestamp, function that makes its text, values), not sent yet."""
    __slots__ = ("session", "events", "held", "flushed_ns", "thread", "name", "token")

    def __init__(self, session):
        self.session = session
        self.events = []
        self.held = []  # steps that the job's own client may still report
        self.token = None
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

    def has_ended(self):
        return self.token() is None

    def flush(self, now=None):
        self.flushed_ns = now or now_ns()
        events, self.events = self.events, []
        if self.session.holds_steps(self.flushed_ns):
            events = self._hold(events)
        elif self.held:
            # A flush without a time is one after which there may be no other. Steps that the client reports are none.
            is_all = now is None or self.session.steps_from == "client"
            waiting = self.held + events
            count = len(waiting) if is_all else len(events) + _RELEASED
            events, self.held = waiting[:count], waiting[count:]
        lines = self._lines(events)
        if lines or self.session._unsent_marks:
            self.session.write(lines, self)

    def send_steps(self, number, requested, came):
        """Of batches alike (Session.write_steps), after everything that was noted before."""
        self.flush()
        self.session.write_steps(number, requested, came, self)

    def _hold(self, events):
        """Sends everything for the unsure sender too, or else nothing would be known of a job that is killed;
        returns what is not a step."""
        steps = [event for event in events if event[1].__name__ == "step_text"]
        if steps or self.held:
            self.session.is_unsure = True
            try:
                lines = self._lines(events)
            finally:
                self.session.is_unsure = False
            self.session.write(lines, self, is_unsure=True)
        self.held += steps
        return [event for event in events if event[1].__name__ != "step_text"]

    def _lines(self, events):
        made = ((time_ns, make(self.session, *values)) for time_ns, make, values in events)
        return [(time_ns, text) for time_ns, text in made if text is not None]


def _place(name):
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def plain_text(session, text):
    return text


def phase_text(session, name, duration_ns):
    if name in session.client_phases and not session.is_unsure:
        return None
    return b"phase %s %d.%09d" % (name, duration_ns // 1000000000, duration_ns % 1000000000)


def _send(sender, text, lines, ending):
    """`lines`: how many these are."""
    with sender.lock:
        if sender.dropped:
            if not sender._write(b"dropped %d t=%d%s" % (sender.dropped, now_ns(), ending)):
                sender.dropped += lines
                return
            sender.dropped = 0
        if not sender._write(text):
            sender.dropped += lines


def _rank_text():
    """Of a process that torchrun started."""
    rank, processes = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    return "; rank %s of %s" % (rank, processes) if rank.isdigit() and processes.isdigit() else ""


def _version(framework):
    """Of the package; frameworks that the job has not loaded under this name have none."""
    return getattr(sys.modules.get(framework), "__version__", "")


def _line(text, time_ns, ending):
    ending = b" t=%d%s" % (time_ns, ending)
    return _pipe._cut(text, _pipe.LINE_BYTES - len(ending)) + ending


def pass_on_if_of_job(error):
    """Raises what a signal handler of the job raised in our code, or another thread of the job by means of
    PyThreadState_SetAsyncExc. Ours ends here."""
    if _pipe.is_from_signal_handler(error) or _is_from_another_thread(error):
        raise error


def _is_from_another_thread(error):
    """Such an exception has no frame of its own: only its type says that nothing in our code can have raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not trace.tb_frame.f_globals.get("__name__", "").startswith(__package__):
        return False
    kind = type(error)
    is_known = kind.__module__.partition(".")[0] in _FRAMEWORKS
    return not is_known or kind is Exception or isinstance(error, OSError) and error.errno is None


session = Session()
