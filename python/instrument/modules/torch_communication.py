"""Time in collectives: what DistributedDataParallel measures of its own reductions.

DDP times the first ten of its iterations and then each hundredth, and logs the last of them. What its backward pass
does not hide is the phase `communication` of each step: the mean of the last few that DDP has timed, not of that
step itself. It overlaps the phase `backward`, of which it is a part. Reading the log waits for nothing.
"""
import functools
import weakref

from .session import pass_on_if_of_job, session
from .spans import replace
from .torch_hooks import hooks

_READ_NS = 1000000000
_FIRST_STEPS = 12  # The log is read after each of them.
_WARMUP = 2  # iterations of DDP, which set up connections and buckets
_MEAN_OF = 8
_MOST_STEPS = 1000  # that wait for the first sample


class _Model:
    """What the log of one has said so far."""

    def __init__(self, model):
        self.reference = weakref.ref(model)
        self.iteration = 0
        self.samples = []  # seconds that an iteration waited for its reductions
        self.per_step = 1  # iterations in a step: several if gradients are accumulated without no_sync()

    def read(self, steps):
        """`steps`: how many have begun. False if it is gone."""
        model = self.reference()
        if model is None:
            return False
        log = model._get_ddp_logging_data()
        iteration = log.get("iteration", 0)
        if iteration == self.iteration or log.get("backward_comm_time", 0) <= 0:
            return True
        self.iteration = iteration
        if iteration <= 10:  # All of these are timed. The last one that has begun is not in the log yet.
            self.per_step = max(1, round((iteration + 1.0) / steps))
        hidden = log.get("backward_compute_comm_overlap_time", 0)
        if iteration > _WARMUP:
            self.samples.append(max(0, log["backward_comm_time"] - hidden))
            del self.samples[:-_MEAN_OF]
        return True

    def wait_ns(self):
        """Of a step."""
        return self.per_step * sum(self.samples) // len(self.samples)


class Communication:
    def __init__(self):
        self.models = []
        self._first = None  # number of the step before the first one here
        self._steps = []  # ends of those that have no phase yet
        self._read_ns = 0

    def note_step(self, trace, now):
        if self._first is None:
            self._first = trace.number - 1
        self._steps.append(now)
        steps = trace.number - self._first
        if now - self._read_ns > _READ_NS or steps <= _FIRST_STEPS:
            # Without a loader the end of a step shows only in the next one.
            self._read(steps + (trace.iterator is None), now)
            self.report(trace.log)

    def _read(self, steps, now):
        self._read_ns = now
        try:
            self.models = [model for model in self.models if model.read(steps)]
        except Exception as error:  # Another version of PyTorch.
            pass_on_if_of_job(error)
            self.models = []
            session.note_missing("communication", error)

    def report(self, log):
        """A phase for each step since the last time; unknown as long as DDP has timed nothing."""
        known = [model for model in self.models if model.samples]
        if not known:
            del self._steps[:-_MOST_STEPS if self.models else None]
            return
        steps, self._steps = self._steps, []
        wait_ns = sum(model.wait_ns() for model in known)
        for ended_ns in steps:
            log.phase(b"communication", ended_ns - wait_ns, ended_ns)


def attach_ddp(module):
    replace(module.DistributedDataParallel, "__init__", _remembered, "torch", "communication")


def _remembered(original):
    @functools.wraps(original)
    def __init__(self, *arguments, **keywords):
        original(self, *arguments, **keywords)
        try:
            if not session.is_off:
                if hooks.communication is None:
                    hooks.communication = Communication()
                hooks.communication.models.append(_Model(self))
        except Exception as error:
            session.failed("DistributedDataParallel", error)

    return __init__
