"""A program on a terminal of its own, as a person sees it: pyte reads what it writes, keys are typed."""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
import unittest

try:
    import pyte
except ImportError:
    sys.path.append("/usr/lib/python3/dist-packages")  # of Debian, for another Python
    try:
        import pyte
    except ImportError:
        pyte = None

PATIENCE_S = 60


def _scrolling():
    """pyte's screen and stream with the sequences that scroll some lines up or down (CSI S, CSI T), which ncurses uses."""
    class Screen(pyte.Screen):
        def scroll_up(self, count=1):
            at = self.cursor.y
            for _ in range(count or 1):
                self.cursor.y = self.margins.bottom if self.margins else self.lines - 1
                self.index()
            self.cursor.y = at

        def scroll_down(self, count=1):
            at = self.cursor.y
            for _ in range(count or 1):
                self.cursor.y = self.margins.top if self.margins else 0
                self.reverse_index()
            self.cursor.y = at

    class Stream(pyte.ByteStream):
        csi = {**pyte.ByteStream.csi, "S": "scroll_up", "T": "scroll_down"}
        events = pyte.ByteStream.events | {"scroll_up", "scroll_down"}
    return Screen, Stream


class ShownProgram:
    def __init__(self, words, environment, rows=24, columns=80):
        if pyte is None:
            raise unittest.SkipTest("pyte is missing (Debian: apt install python3-pyte)")
        screen, stream = _scrolling()
        self.screen = screen(columns, rows)
        self.stream = stream(self.screen)
        self.bytes = b""
        self.status = None
        begin = os.pipe()
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.read(begin[0], 1)  # until the terminal's modes are known
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(words[0], words, environment)
        self.mode = termios.tcgetattr(self.master)
        os.write(begin[1], b"x")
        os.close(begin[0])
        os.close(begin[1])

    def close(self):
        if self.master >= 0:
            os.close(self.master)
            self.master = -1
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.status = os.waitpid(self.pid, 0)[1]

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def read_once(self, seconds):
        """False when the terminal has nobody on its other side any more."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.bytes += data
        self.stream.feed(data)
        return bool(data)

    def wait_for(self, what):
        """Until this text, or a true answer of this function of the screen's text, is on the screen."""
        is_there = what if callable(what) else lambda text: what in text
        until = time.monotonic() + PATIENCE_S
        while not is_there(self.text()):
            if time.monotonic() > until or not self.read_once(0.05):
                raise AssertionError(f"{what} is not on the screen:\n{self.text()}\n{self.bytes[-300:]}")
        return self.text()

    def type(self, keys):
        os.write(self.master, keys.encode() if isinstance(keys, str) else keys)

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait(self):
        """Reads to its end; the exit code, negative for a signal."""
        until = time.monotonic() + PATIENCE_S
        while self.status is None:
            self.read_once(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
            elif time.monotonic() > until:
                raise AssertionError(f"it does not end:\n{self.text()}")
        while self.read_once(0) and select.select([self.master], [], [], 0)[0]:
            pass
        return os.waitstatus_to_exitcode(self.status)
