"""Runs a command while the kernel takes back what it maps of a file: `reclaim.py FILE COMMAND…`.

Where no cgroup may be divided, this plants what a memory limit does: pages that the job uses are reclaimed, and each
use reads them again. Twenty times per second the kernel is asked to reclaim the mapping of FILE (process_madvise with
MADV_PAGEOUT, Linux 5.10; as root, or with CAP_SYS_NICE and the right to trace the process). Memory of other processes is
neither needed nor touched. Exit code: that of the command, or 77 with the reason if the kernel refuses.
"""
import ctypes
import os
import pathlib
import subprocess
import sys
import time

PIDFD_OPEN, PROCESS_MADVISE, MADV_PAGEOUT = 434, 440, 21
PERIOD_S = 0.05
LIBC = ctypes.CDLL(None, use_errno=True)


class Span(ctypes.Structure):
    _fields_ = (("begin", ctypes.c_void_p), ("length", ctypes.c_size_t))


def mapping_of(path, pid):
    """Where a process maps the file, or None."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
            if line.endswith(path):
                begin, end = (int(place, 16) for place in line.split()[0].split("-"))
                return Span(begin, end - begin)
    except OSError:
        pass
    return None


def find(path):
    """A process that maps the file, and where; None as long as there is none."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        span = mapping_of(path, pid)
        if span is not None:
            return LIBC.syscall(PIDFD_OPEN, int(pid), 0), span
    return None


def main():
    path, command = os.path.realpath(sys.argv[1]), sys.argv[2:]
    found, refused, has_worked = None, 0, False
    job = subprocess.Popen(command)
    while job.poll() is None:
        time.sleep(PERIOD_S)
        found = found or find(path)
        if found is None:
            continue
        reclaimed = LIBC.syscall(PROCESS_MADVISE, found[0], ctypes.byref(found[1]), 1, MADV_PAGEOUT, 0)
        has_worked = has_worked or reclaimed >= 0
        refused = ctypes.get_errno() if reclaimed < 0 else 0
    if refused and not has_worked:  # Later errors: the process is ending.
        print(f"the kernel does not reclaim memory of the job: {os.strerror(refused)}", file=sys.stderr)
        return 77
    return job.returncode


if __name__ == "__main__":
    sys.exit(main())
