"""Whether this run is a probe, and how long the job may be changed for it.

The supervisor writes the file `probe` next to this folder: who it is, until when it runs, and the name that all ranks
share. The lease is held while that process lives and the time is not over. Guarantees: a lease that has lapsed
stays so. Limits: the supervisor must be visible from here; in a container with its own process numbers it is not.
"""
import os
import select

_FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "probe")


class Lease:
    def __init__(self, fields):
        self.key = fields["key"]
        self.ranks = int(fields["ranks"])
        self._until_ns = int(fields["until_ns"])
        self.for_ns = int(fields.get("for_ns", 0))  # 0: there is no limit
        self._pid, self._start_ticks = int(fields["pid"]), fields["start_ticks"]
        self._has_lapsed = False
        self._poll = None
        self._open()

    def _open(self):
        if not self._is_alive():
            self._has_lapsed = True
            return
        try:  # From here on the number cannot mean another process.
            descriptor = os.pidfd_open(self._pid)
        except (AttributeError, OSError):  # before Python 3.9 and Linux 5.3
            return
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def is_held(self, now):
        if not self._has_lapsed:
            self._has_lapsed = now > self._until_ns or self._has_supervisor_ended()
        return not self._has_lapsed

    def left_ns(self, now):
        return self._until_ns - now

    def _has_supervisor_ended(self):
        return bool(self._poll.poll(0)) if self._poll is not None else not self._is_alive()

    def _is_alive(self):
        try:
            with open("/proc/%d/stat" % self._pid, "rb") as file:
                after_name = file.read().rpartition(b")")[2].split()
        except OSError:
            return False
        return after_name[0] not in (b"Z", b"X") and after_name[19].decode() == self._start_ticks


def _read():
    """None if this run is not a probe."""
    try:
        with open(_FILE, encoding="utf-8") as file:
            return Lease(dict(line.rstrip("\n").split(" ", 1) for line in file))
    except (OSError, ValueError, KeyError, IndexError):
        return None


lease = _read()
