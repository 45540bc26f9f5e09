"""Decides in which steps every phase is timed, so that the hooks take at most 0.3 % of step time.

Where timing every step costs less than that, all are timed. Otherwise bursts of consecutive steps are, and only
waits for data are timed in between. A burst begins and ends where a step does. The cost is what the hooks
measure of themselves, plus constants for what their own clock cannot see: measured as differences of step time
between blocks with and without hooks, of steps of 0.5 to 5 ms.
"""
SHARE = 0.003
BURST_STEPS = 8
FIRST_STEPS = 16  # The first steps of a training are slow, and their cost is that of cold code.
SHORTEST_PAUSE_NS = 500000000
LONGEST_PAUSE_NS = 30000000000
UNSEEN_NS_PER_CALL = 10000  # frames, arguments and code that is not in the caches
BURST_STEP_NS = 250000  # a step of a burst, at least: code that has not run for a while is in no cache
_WEIGHT = 1.0 / 8


class Budget:
    __slots__ = ("is_timed", "has_bursts", "_left", "resume_ns", "_last_ns", "_step_ns", "_timed_ns", "_untimed_ns",
                 "_has_untimed", "steps", "timed_steps", "own_ns", "measured_ns")

    def __init__(self):
        self.is_timed = True
        self.has_bursts = self._has_untimed = False
        self._left = FIRST_STEPS
        self.resume_ns = 0
        self._last_ns = None
        self._step_ns = None
        self._timed_ns = self._untimed_ns = None
        self.steps = self.timed_steps = self.own_ns = self.measured_ns = 0

    def end_step(self, now, own_ns):
        """A step has ended in which the hooks took this long; decides about the next one."""
        self._take(now, own_ns)
        if not self.is_timed:
            if now >= self.resume_ns:
                self.is_timed, self._left = True, BURST_STEPS
            self._has_untimed = not self.is_timed
            return
        self._left -= 1
        if self._left > 0 or self._step_ns is None:
            return
        self._left = BURST_STEPS
        if self._timed_ns > SHARE * self._step_ns:
            self.is_timed, self.has_bursts = False, True
            self.resume_ns = now + self._pause_ns()

    def end_steps(self, now, count, own_ns):
        """So many steps have ended that were not timed, the last one now, and no burst is due. There were others
        before."""
        step_ns, self._last_ns = (now - self._last_ns) / count, now
        self.steps += count
        self.own_ns += own_ns
        self.measured_ns += step_ns * count
        weight = 1 - (1 - _WEIGHT) ** count
        self._step_ns += weight * (min(step_ns, 4 * self._step_ns) - self._step_ns)
        self._untimed_ns += weight * (min(own_ns / count, 3 * self._untimed_ns) - self._untimed_ns)

    def is_between_bursts(self):
        """A step that was not timed has ended, and no burst has begun since."""
        return not self.is_timed and self._has_untimed

    def recent_step_ns(self):
        """The mean of the last few; 0 before the second one."""
        return int(self._step_ns or 0)

    def share(self):
        """Of the steps' time, in all; None before the second step."""
        return float(self.own_ns) / self.measured_ns if self.measured_ns else None

    def _take(self, now, own_ns):
        last, self._last_ns = self._last_ns, now
        self.steps += 1
        self.timed_steps += self.is_timed
        if last is None:
            return
        step_ns = now - last
        self.own_ns += own_ns
        self.measured_ns += step_ns
        if self._step_ns is None:
            self._step_ns = step_ns
        else:  # A pause is not a step: it counts as four at most.
            self._step_ns += _WEIGHT * (min(step_ns, 4 * self._step_ns) - self._step_ns)
        if self.is_timed:
            self._timed_ns = _moved(self._timed_ns, own_ns, self.timed_steps)
        else:
            self._untimed_ns = _moved(self._untimed_ns, own_ns, self.steps - self.timed_steps)

    def _pause_ns(self):
        untimed = self._timed_ns / 3 if self._untimed_ns is None else self._untimed_ns
        more = max(BURST_STEP_NS, self._timed_ns - untimed)
        room = max(SHARE - untimed / max(1, self._step_ns), SHARE / 10)
        return int(min(max(BURST_STEPS * more / room, SHORTEST_PAUSE_NS), LONGEST_PAUSE_NS))


def _moved(mean, value, count):
    """The mean of recent values. A hook that was interrupted by another process is not expensive: the first values
    only lower the mean, later ones count as three times the mean at most (lines are sent every few steps)."""
    if mean is None or count <= 4:
        return value if mean is None else min(mean, value)
    return mean + _WEIGHT * (min(value, 3 * mean) - mean)
