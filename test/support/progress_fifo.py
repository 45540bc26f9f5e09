"""A FIFO as a run has it, without a run: what a client sends, line by line.

The end that is open here is for reading and writing, as the supervisor's: no client sees the pipe break while
this lives. sent() takes the times out of the lines and checks that they lie between two looks at the clock.
"""
import fcntl
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import time

from trainscope_test import Case

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON_CLIENT = ROOT / "python"
F_SETPIPE_SZ = 1031  # fcntl has it from Python 3.10 on; the client is tested on older ones too.
_TIME = re.compile(r" t=(\d+)(?= who=\S+$|$)")
_OURS = ("TRAINSCOPE_PIPE", "RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK")


def client(source, *arguments):
    """A command that runs this Python source, with the client of this tree ready to be imported."""
    find = f"import sys; sys.path.insert(0, {str(PYTHON_CLIENT)!r})\n"
    return [sys.executable, "-S", "-E", "-B", "-c", find + textwrap.dedent(source), *map(str, arguments)]


def outside_a_run(**more):
    """The environment of a job that nobody records."""
    return {**{k: v for k, v in os.environ.items() if k not in _OURS}, **more}


class ProgressFifo:
    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self.descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        fcntl.fcntl(self.descriptor, F_SETPIPE_SZ, 1 << 20)
        self.made_ns = time.monotonic_ns()

    def environment(self, **more):
        return outside_a_run(TRAINSCOPE_PIPE=self.path, **more)

    def run(self, command, quiet=True, **more):
        """Runs a client to its end; returns the finished process, which must have succeeded (in silence)."""
        done = subprocess.run(command, env=self.environment(**more), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=300)
        if done.returncode != 0 or (quiet and done.stderr):
            raise AssertionError(f"{done.returncode}: {done.stderr.decode(errors='replace')}")
        return done

    def make_small(self):
        """One page, and it is full after 4,096 bytes."""
        fcntl.fcntl(self.descriptor, F_SETPIPE_SZ, 4096)

    def bytes(self):
        """Everything that lies in the pipe."""
        data = b""
        while True:
            try:
                data += os.read(self.descriptor, 1 << 20)
            except BlockingIOError:
                return data

    def sent(self):
        """The lines that lie in the pipe, without their times; each must have one."""
        lines = self.bytes().decode().split("\n")
        if lines.pop() != "":
            raise AssertionError("the last line has no end")
        for line in lines:
            if len(line.encode()) + 1 > 4096:
                raise AssertionError(f"a line of {len(line)} characters")
            times = _TIME.findall(line)
            if len(times) != 1 or not self.made_ns <= int(times[0]) <= time.monotonic_ns():
                raise AssertionError(f"the time of {line!r}")
        return [_TIME.sub("", line) for line in lines]

    def sent_until(self, is_done):
        """The lines that are sent until then, read so slowly that a small pipe is full again and again."""
        lines = []
        while not is_done():
            lines += self.sent()
            time.sleep(0.002)
        return lines + self.sent()

    def close(self):
        os.close(self.descriptor)

    def run_python(self, source, *arguments, **more):
        """Runs a Python client; returns its lines."""
        self.run(client(source, *arguments), **more)
        return self.sent()


class FifoCase(Case):
    """A test with a FIFO of its own."""

    def assert_all_told(self, count, lines):
        """Each of so many messages came or was counted, and some of both."""
        dropped = [int(line.split()[1]) for line in lines if line.startswith("dropped")]
        self.assertGreater(len(lines), len(dropped))
        self.assertGreater(min(dropped, default=0), 0)
        self.assertEqual(len(lines) - len(dropped) + sum(dropped), count)

    def assert_each_came_or_was_counted(self, count, lines):
        """Steps from 0 on, in their order; `dropped N` stands where N of them are missing. Returns how many are."""
        expected = missing = 0
        for line in lines:
            word, number = line.split()
            if word == "dropped":
                missing += int(number)
                expected += int(number)
            else:
                self.assertEqual((word, int(number)), ("step", expected), lines)
                expected += 1
        self.assertEqual(expected, count, lines)
        return missing

    def setUp(self):
        super().setUp()
        self.fifo = ProgressFifo(self.path("progress"))
        self.addCleanup(lambda: self.fifo.close())
