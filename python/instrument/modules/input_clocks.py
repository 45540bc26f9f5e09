"""How long training waited for tf.data, measured by clocks in TensorFlow's own graphs (tensorflow_hooks.py).

The sum is read once per second and divided among the steps since: a wait is the mean of those steps.
"""
_READ_NS = 1000000000


class InputClocks:
    def __init__(self):
        self.total = None  # a function that returns the seconds so far; None: nothing is measured
        self.is_in_step = False  # fit() is between the begin and the end of a batch: what is traced now trains
        self._reported_s = 0.0
        self._steps = []  # when those began that have no wait yet
        self._read_ns = 0

    def note_step(self, log, began_ns, now):
        self._steps.append(began_ns)
        if now - self._read_ns > _READ_NS:
            self.report(log, now)

    def report(self, log, now):
        """Reports the mean wait for each step since the last time."""
        self._read_ns = now
        steps, self._steps = self._steps, []
        if self.total is None or not steps:
            return
        whole, before = self.total(), self._reported_s
        self._reported_s = whole
        mean_ns = int((whole - before) * 1e9 / len(steps))
        if mean_ns < 0:
            return
        for began_ns in steps:
            log.phase(b"input", began_ns, began_ns + mean_ns)

    def forget(self):
        """What was waited for since the last report is not training's."""
        if self.total is not None:
            self._reported_s = self.total()


clocks = InputClocks()
