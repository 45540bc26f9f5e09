"""On a terminal: keys, sizes and text are as without us, and the status line is never inside the job's text."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import unittest

from terminal_screen import Screen
from trainscope_test import BIN, IS_ROOT, Case, command, main, processes, python, wait_until

# A shell with job control, as small as can be: runs its arguments in a foreground group; when they stop it says so,
# waits for a line, and brings them back.
SHELL = """
import fcntl, os, signal, struct, sys, termios, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN); signal.signal(signal.SIGTSTP, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setpgid(0, 0); os.tcsetpgrp(0, os.getpid())
    for number in (signal.SIGTTOU, signal.SIGTSTP, signal.SIGPIPE, signal.SIGXFSZ): signal.signal(number, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    pid, status = os.waitpid(child, os.WUNTRACED)
    if not os.WIFSTOPPED(status): break
    os.tcsetpgrp(0, os.getpgrp())
    os.write(1, b"[stopped]")
    time.sleep(0.7)
    os.tcsetpgrp(0, child)
    os.killpg(child, signal.SIGCONT)
os.tcsetpgrp(0, os.getpgrp())
os.write(1, b"[status %d]" % status)
"""

# Says whether it was stopped for as long as the shell waits, once it is continued.
STOPPED = """
import signal, time
continued = []
signal.signal(signal.SIGCONT, lambda *a: continued.append(1))
last, longest, end = time.monotonic(), 0, time.monotonic() + 60
print("ready", flush=True)
while not (continued and longest > 0.5) and time.monotonic() < end:
    time.sleep(0.02); now = time.monotonic(); longest = max(longest, now - last); last = now
print("stopped", longest > 0.5, flush=True)
"""
STATUS = b"\r\x1b[K\x1b[2mtrainscope"


class Terminal(Case):
    def setUp(self):
        super().setUp()
        self.shell = 0
        self.addCleanup(self.close)

    def open(self, words, rows=33, columns=132, **variables):
        """Starts words in the little shell on a terminal of its own."""
        environment = self.environment(TERM="xterm", **variables)
        self.close()
        pid, self.master = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(sys.executable, python(SHELL) + list(words), environment)
        self.shell, self.text = pid, b""

    def close(self):
        if self.shell:
            os.close(self.master)
            os.kill(self.shell, signal.SIGKILL)
            os.waitpid(self.shell, 0)
        self.shell = 0

    def read(self, until=None, seconds=60):
        """Reads on until this stands in the text; without it, until the terminal is closed."""
        end = time.monotonic() + seconds
        while not (until and re.search(until, self.text)):
            left = end - time.monotonic()
            self.assertGreater(left, 0, f"{until} did not come: {self.text[-400:]}")
            if not select.select([self.master], [], [], left)[0]:
                continue
            try:
                self.text += os.read(self.master, 65536)
            except OSError:
                self.assertIsNone(until, f"{until} did not come: {self.text[-400:]}")
                break
        return self.text

    def type(self, keys):
        os.write(self.master, keys)

    def both(self, job, *options, quiet=True):
        """(name, words) of the bare job and of the recorded one."""
        recorded = [BIN, "run", *(["--quiet"] if quiet else []), *options, "--", *command(job)]
        return (("bare", command(job)), ("recorded", recorded))

    def test_size_and_its_changes(self):
        job = """
import os, signal, time
sizes = []
signal.signal(signal.SIGWINCH, lambda *a: sizes.append(tuple(os.get_terminal_size(1))))
print([os.isatty(i) for i in (0, 1, 2)], tuple(os.get_terminal_size(1)), tuple(os.get_terminal_size(2)), flush=True)
end = time.monotonic() + 20
while time.monotonic() < end and (100, 40) not in sizes: time.sleep(0.02)
print("now", sizes[-1:], open("/dev/tty").isatty(), os.tcgetpgrp(0) == os.getpgrp(), flush=True)
"""
        for name, words in self.both(job):
            with self.subTest(name):
                self.open(words)
                self.read(rb"\[True, True, True\] \(132, 33\) \(132, 33\)")
                fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
                self.read(rb"now \[\(100, 40\)\] True True")
                self.read(rb"\[status 0\]")

    @unittest.skipUnless(IS_ROOT, "hiding /dev/ptmx needs root")
    def test_without_a_pty_the_job_has_the_terminal_itself(self):
        hidden = ["unshare", "-m", "sh", "-c", 'mount --bind /dev/null /dev/ptmx || exit 77; exec "$@"', "sh"]
        self.open([*hidden, BIN, "run", "--quiet", "--", "sh", "-c", "test -t 1 && echo text; exit 7"])
        self.read(rb"\[status \d+\]")
        if b"[status 1792]" not in self.text and b"trainscope" not in self.text:
            self.skipTest("cannot be hidden here: " + self.text.decode())
        self.assertIn(b"[status 1792]", self.text)
        self.assertIn(b"the job's output is not recorded", self.text)
        self.assertIn(b"text\r\n", self.text)

    def test_keys_that_signal_arrive_once(self):
        for key, number in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)):
            job = f"""
import os, signal, time
got = []
signal.signal({int(number)}, lambda *a: got.append(1))
print("ready", flush=True)
end = time.monotonic() + 30
while not got and time.monotonic() < end: time.sleep(0.02)
time.sleep(0.4)
print("got", len(got), flush=True)
raise SystemExit(6)
"""
            for name, words in self.both(job):
                with self.subTest(name, key=key):
                    self.open(words)
                    self.read(b"ready")
                    self.type(key)
                    self.read(b"got 1\r\n")
                    self.read(rb"\[status 1536\]")

    def test_keys_reach_a_job_in_a_group_of_its_own_once(self):
        # The bare job leads the foreground group, and leaving it for a group of its own changes nothing.
        for key, number in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)):
            for takes_terminal in (False, True):
                job = f"""
import os, signal, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
os.setpgid(0, 0)
if {takes_terminal}: os.tcsetpgrp(0, os.getpgrp())
got = []
signal.signal({int(number)}, lambda *a: got.append(1))
begun, child = os.pipe(), os.fork()
if child == 0: os.write(begun[1], b"x")  # what arrives while Python forks it drops
else: os.read(begun[0], 1); print("ready", flush=True)
end = time.monotonic() + 30
while not got and time.monotonic() < end: time.sleep(0.02)
time.sleep(0.4)
if child == 0: os._exit(len(got))
print("got", len(got), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
raise SystemExit(6)
"""
                for name, words in self.both(job):
                    with self.subTest(name, key=key, takes_terminal=takes_terminal):
                        self.open(words)
                        self.read(b"ready")
                        self.type(key)
                        self.read(b"got 1 1\r\n")
                        self.read(rb"\[status 1536\]")

    def test_interrupting_timeout_ends_it(self):
        # By the signal or with 130, bare as well: timeout races with its own child.
        for name, words in self.both(["timeout", "60", "sh", "-c", "echo ready; exec sleep 60"]):
            with self.subTest(name):
                self.open(words)
                self.read(b"ready")
                self.type(b"\x03")
                self.read(rb"\[status (2|33280)\]")

    def test_stopping_a_job_in_a_group_of_its_own(self):
        job = "import os; os.setpgid(0, 0)" + STOPPED
        for name, words in self.both(job):
            with self.subTest(name):
                self.open(words)
                self.read(b"ready")
                self.type(b"\x1a")
                self.read(rb"\[stopped\]")
                self.read(b"stopped True")
                self.read(rb"\[status 0\]")

    def test_interrupting_a_job_that_does_not_mind_ends_it_by_the_signal(self):
        for name, words in self.both(["sh", "-c", "echo ready; exec sleep 60"]):
            with self.subTest(name):
                self.open(words)
                self.read(b"ready")
                self.type(b"\x03")
                self.read(rb"\[status 2\]")

    def test_stopping_and_going_on(self):
        for name, words in self.both(STOPPED):
            with self.subTest(name):
                self.open(words)
                self.read(b"ready")
                self.type(b"\x1a")
                self.read(rb"\[stopped\]")
                self.read(b"stopped True")
                self.read(rb"\[status 0\]")

    def test_a_job_that_ignores_the_stop_key_goes_on(self):
        job = """
import signal, time
signal.signal(signal.SIGTSTP, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(1)
print("went on", flush=True)
"""
        for name, words in self.both(job):
            with self.subTest(name):
                self.open(words)
                self.read(b"ready")
                self.type(b"\x1a")
                self.read(b"went on")
                self.assertNotIn(b"[stopped]", self.read(rb"\[status 0\]"))

    def test_typed_text_reaches_the_job(self):
        for name, words in self.both("print('said', input(), flush=True)"):
            with self.subTest(name):
                self.open(words)
                self.type(b"hello\n")
                self.read(b"said hello")
                self.read(rb"\[status 0\]")

    def test_the_terminal_is_left_as_it_was(self):
        for name, words in self.both(["true"]):
            self.open(words)
            self.read(rb"\[status 0\]")
            mode = termios.tcgetattr(self.master)
            if name == "bare":
                bare = mode
        self.assertEqual(mode, bare)

    def test_the_status_line_is_never_inside_the_jobs_text(self):
        mark = self.path("shown")
        job = f"""
import os, sys, time
for i in range(60):
    sys.stdout.write("part %d " % i); sys.stdout.flush(); time.sleep(0.03)
    if i % 3 == 2:
        (sys.stdout if i % 2 else sys.stderr).write("end\\n"); sys.stdout.flush(); sys.stderr.flush(); time.sleep(0.02)
    while i == 29 and not os.path.exists({mark!r}): time.sleep(0.01)
"""
        seen = {}
        for name, words in self.both(job, quiet=False):
            self.open(words)
            if name == "recorded":
                self.read(re.escape(STATUS))
            open(mark, "w").close()
            self.read(rb"\[status 0\]")
            os.unlink(mark)
            seen[name] = self.text
        text = seen["recorded"]
        status = re.compile(rb"\r\x1b\[K\x1b\[2m(trainscope [^\x1b]*)\x1b\[0m\r")
        shown = list(status.finditer(text))
        self.assertTrue(shown, text[:300])
        for match in shown:  # only where a line begins, or over itself
            before = status.sub(b"", text[:match.start()]).replace(b"\r\x1b[K", b"")
            self.assertTrue(before == b"" or before.endswith(b"\n"), text[max(0, match.start() - 60):match.end()])
        plain = status.sub(b"", text).replace(b"\r\x1b[K", b"")
        end = plain.index(b"\x1b[1mrun ") if b"\x1b[1mrun " in plain else plain.index(b"run ")
        self.assertEqual(plain[:end], seen["bare"][:seen["bare"].index(b"[status")])

    def test_nothing_of_the_status_line_stays_after_the_interrupt_key(self):
        self.open([BIN, "run", "--", "sleep", "60"], columns=40)
        self.read(rb"memory [^\x1b]*\x1b\[0m")
        self.type(b"\x03")
        self.read(rb"\[status 2\]")
        screen = Screen(40)
        screen.feed(self.text)
        self.assertRegex(screen.text(), r"\Arun \w+\n")

    def test_nothing_of_the_status_line_stays_when_the_window_shrinks(self):
        mark = self.path("over")
        self.open([BIN, "run", "--", "sh", "-c", f"until [ -e {mark} ]; do sleep 0.05; done"], columns=100)
        self.read(rb"memory [^\x1b]*\x1b\[0m")
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 20, 0, 0))
        self.read(rb"\x1b\[2mtrainscope [^\x1b]{1,9}\x1b\[0m")  # it was drawn again
        open(mark, "w").close()
        self.read(rb"\[status 0\]")
        # A line that is longer than the small window was written before the window shrank.
        drawn = [m for m in re.finditer(rb"\x1b\[2m(trainscope [^\x1b]*)\x1b\[0m\r?", self.text) if len(m[1].decode()) > 20]
        screen = Screen(100)
        screen.feed(self.text[:drawn[-1].end()])
        self.assertRegex(screen.text(), r"trainscope \d+:\d\d")
        screen.columns = 20
        screen.feed(self.text[drawn[-1].end():])
        self.assertRegex(screen.text(), r"\Arun \w+\n")

    def test_a_terminal_that_vanishes_tells_the_job(self):
        # Nobody but the leader of the session is told, and that is us, as below `ssh -t`.
        job = f"""
import signal, sys, time
signal.signal(signal.SIGHUP, lambda *a: (open({self.path("told")!r}, "w"), sys.exit(0)))
print("ready", flush=True)
time.sleep(30)
"""
        environment = self.environment(TERM="xterm")
        pid, self.master = pty.fork()
        if pid == 0:
            os.execve(BIN, [BIN, "run", "--quiet", "--", *command(job)], environment)
        self.text = b""
        self.read(b"ready")
        os.close(self.master)
        os.waitpid(pid, 0)
        wait_until(lambda: os.path.exists(self.path("told")))

    def test_no_status_line_beside_somebody_who_writes_to_the_terminal(self):
        self.open(["sh", "-c", '"$@" | cat', "sh", BIN, "run", "--", "sleep", "1.5"])
        self.read(rb"\[status 0\]")
        self.assertNotIn(STATUS, self.text)

    def test_no_status_line_in_the_background(self):
        self.open(["sh", "-mc", '"$@" & sleep 1.8; echo over; wait', "sh", BIN, "run", "--", "sleep", "1.5"])
        self.read(rb"\[status 0\]")
        self.assertNotIn(STATUS, self.text)

    def test_a_stalled_terminal_does_not_hold_the_time_limit_up(self):
        mark = self.path("ended")
        job = f"""
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *a: (open({mark!r}, "w"), sys.exit(0)))
print("ready", flush=True)
while True: print("text " * 20, flush=True); time.sleep(0.01)
"""
        self.open([BIN, "run", "--for", "8s", "--grace", "1s", "--", *command(job)])
        self.read(b"ready")
        self.type(b"\x13")
        wait_until(lambda: os.path.exists(mark))
        self.type(b"\x11")
        self.read(rb"\[status 31744\]")

    def test_no_status_line_where_there_is_no_terminal(self):
        done = self.trainscope("run", "--", "sleep", "0.8", env=self.environment(TERM="xterm"))
        self.assertNotIn(b"\x1b", done.stdout + done.stderr)

    def test_a_job_on_a_terminal_outlives_its_supervisor(self):
        mark = self.path("killed")
        job = f"""
import os, time
for i in range(12):
    print("line", i, flush=True); time.sleep(0.1)
    while i == 4 and not os.path.exists({mark!r}): time.sleep(0.01)
"""
        self.open([BIN, "run", "--quiet", "--", *command(job)])
        self.read(b"line 4\r\n")
        supervisor = wait_until(lambda: processes("trainscope", self.home))[0]
        os.kill(supervisor, signal.SIGKILL)
        open(mark, "w").close()
        self.read(b"line 11\r\n")
        # What the supervisor had written to the terminal when it was killed, but not noted yet, the recorder writes
        # again: a line may be there twice, none is lost.
        lines = re.findall(rb"line (\d+)\r\n", self.text)
        self.assertEqual([line for i, line in enumerate(lines) if line not in lines[:i]], [b"%d" % i for i in range(12)])
        self.assertLessEqual(len(lines), 13)


if __name__ == "__main__":
    main()
