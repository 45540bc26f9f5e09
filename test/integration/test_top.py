"""`top` and `run --top` on real terminals: what is shown, keys, sizes, signals, and that the job does not mind."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import termios
import time
import unittest

from screen_reader import ShownProgram
from test_terminal import SHELL
from trainscope_test import BIN, Case, command, end, main, process_state, processes, python, recorders, wait_until

UTF8 = "C.UTF-8"
# Steps have times of their own: lines that are printed may reach the recorder of a busy machine together.
STEPS = """
import os, time
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
for i in range(1, 31):
    os.write(pipe, f"step {i} loss={3 - i / 20} t={time.monotonic_ns()}\\n".encode())
    print(f"Step {i}/30, Loss: {3 - i / 20}", flush=True)
    time.sleep(0.02)
time.sleep(1)
"""
# Ends with 7 when there is a file; prints what its standard input holds.
UNTIL_FILE = """
import os, sys, time
print("stdin", repr(sys.stdin.read()), os.isatty(1), flush=True)
i = 0
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05); i += 1
    print("line", i, flush=True)
sys.exit(7)
"""

# Two processes with names of their own, one as a worker of PyTorch has it, until there is a file.
WITH_WORKERS = """
import ctypes, os, sys, time
def work(name):
    ctypes.CDLL(None).prctl(15, name)
    print(name.decode(), os.getpid(), flush=True)
    while not os.path.exists(PATH): time.sleep(0.02); sum(range(2000))
    os._exit(0)
print("first", os.getpid(), flush=True)
for name in (b"pt_data_worker", b"feed\\033]0;owned\\a"):
    if os.fork() == 0: work(name)
os.wait(); os.wait()
"""


class TopCase(Case):
    def show(self, *words, rows=24, columns=80, program=BIN, **variables):
        environment = self.environment(**{"TERM": "screen-256color", "LC_ALL": UTF8, **variables})
        environment.pop("NO_COLOR", None) if "NO_COLOR" not in variables else None
        shown = ShownProgram([program, *words], environment, rows, columns)
        self.addCleanup(shown.close)
        return shown

    def assert_restored(self, shown):
        """The usual screen, and the modes of before."""
        self.assertIn(b"\x1b[?1049h", shown.bytes)
        self.assertGreater(shown.bytes.rfind(b"\x1b[?1049l"), shown.bytes.rfind(b"\x1b[?1049h"))
        self.assertEqual(termios.tcgetattr(shown.master)[:4], shown.mode[:4])


class Top(TopCase):
    def record_steps(self, name="baseline"):
        self.record(STEPS, "--name", name)

    def test_a_recorded_run_and_its_keys(self):
        self.record_steps()
        shown = self.show("top")
        # All parts of the first screen with data: it may be read in pieces.
        text = shown.wait_for(lambda text: all(word in text for word in (
            "baseline", "processor", "loss 1.5", "step time", "Step 30/30", "missed")))
        self.assertIn("exit code 0 after", text)
        self.assertRegex(text, r"steps +30, .*loss 1\.5")
        self.assertIn("missed", text)
        self.assertRegex(text, r"step time .*[\u2801-\u28ff]")
        self.assertIn("Step 30/30", text)  # the job's output
        shown.wait_for(lambda text: "verdict" in text and "not known yet" not in text)
        shown.type("?")
        shown.wait_for("show the whole run")
        shown.type("?")
        shown.wait_for("processor")
        shown.type("\t\t")
        shown.wait_for("cpu.utilization all")
        shown.type("/")
        shown.wait_for("filter: _")
        shown.type("DISK read")
        shown.wait_for("filter: DISK read_")
        shown.type("\r")
        shown.wait_for(lambda text: "/DISK read" in text and "disk.io read" in text)
        shown.type("/zzz\r")
        shown.wait_for("no series matches")
        shown.type("\x1b")
        shown.wait_for("cpu.utilization all")
        shown.type("q")
        self.assertEqual(shown.wait(), 0)
        self.assert_restored(shown)

    def test_a_run_that_was_too_short_waits_for_no_verdict(self):
        self.record(["true"], "--name", "short")
        shown = self.show("top")
        text = shown.wait_for("too little was recorded")
        self.assertIn("cannot tell: too little was recorded", text)

    def test_time_is_scrolled_and_zoomed(self):
        self.record_steps()
        shown = self.show("top", "baseline")
        shown.wait_for("processor")
        shown.type("+" * 20)
        shown.wait_for("100 ms per column")
        shown.type("\x1b[1~")  # home, as this terminal sends it
        shown.wait_for(lambda text: "frozen" in text and "╵0:00" in text)
        shown.type("\x1b[4~")
        shown.wait_for(lambda text: "frozen" not in text)
        shown.type("\x1bOD")
        shown.wait_for("frozen")
        shown.type("\x1b[6~\x1b[6~")
        shown.wait_for(lambda text: "frozen" not in text)
        shown.type(" ")
        shown.wait_for("frozen")
        shown.type("-")
        shown.wait_for("150 ms per column")
        shown.type("0")
        shown.wait_for(lambda text: "frozen" not in text)

    def test_a_run_that_is_followed_has_the_results_of_its_evaluations(self):
        job = f"""
import os, time
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
step = 0
while not os.path.exists({self.path("end")!r}):
    step += 1
    time.sleep(0.02)
    os.write(pipe, f"step {{step}} loss={{1 / step}} throughput=250 t={{time.monotonic_ns()}}\\n".encode())
    if step % 10 == 0: os.write(pipe, f"step {{step}} set=test accuracy=0.875 t={{time.monotonic_ns()}}\\n".encode())
"""
        process = self.start(job, "--name", "live")
        self.wait_for_samples(5)
        shown = self.show("top", "live", rows=40)
        shown.wait_for("running for")
        shown.type("\t0")

        def has(label, value):
            return lambda text: re.search(rf"^{label} +{value} .*[\u2801-\u28ff]", text, re.MULTILINE)
        for label, value in (("accuracy test pipe", "88%"), ("throughput pipe", r"250\S*"), (r"step pipe", r"[\d.]+/s"), ("loss train pipe", r"[\d.e-]+")):
            shown.wait_for(has(label, value))
        pathlib.Path(self.path("end")).touch()
        process.wait()

    def test_sizes(self):
        self.record_steps()
        shown = self.show("top")
        shown.wait_for("? help")
        for rows, columns in ((15, 40), (40, 120), (60, 200), (3, 10), (24, 80)):
            with self.subTest(rows=rows, columns=columns):
                shown.resize(rows, columns)
                if rows >= 15:
                    shown.wait_for(lambda text: "? help" in text.split("\n")[rows - 1])
        shown.type("q")
        self.assertEqual(shown.wait(), 0)

    def test_signals_restore_the_terminal(self):
        self.record_steps()
        for name, end_it in (("key", lambda s: s.type("\x03")), ("TERM", lambda s: os.kill(s.pid, signal.SIGTERM))):
            with self.subTest(name):
                shown = self.show("top")
                shown.wait_for("processor")
                end_it(shown)
                self.assertEqual(shown.wait(), -(signal.SIGINT if name == "key" else signal.SIGTERM))
                self.assert_restored(shown)

    def test_it_ends_with_its_terminal(self):
        self.record_steps()
        shown = self.show("top")
        shown.wait_for("processor")
        os.close(shown.master)
        shown.master = -1
        wait_until(lambda: process_state(shown.pid) in ("", "Z"))

    def test_stop_key_and_back(self):
        self.record_steps()
        shown = self.show(*python(SHELL)[1:], BIN, "top", program=sys.executable)
        shown.wait_for("processor")
        shown.type("\x1a")
        shown.wait_for(lambda _: b"[stopped]" in shown.bytes)
        before = shown.bytes.split(b"[stopped]")[0]
        self.assertGreater(before.rfind(b"\x1b[?1049l"), before.rfind(b"\x1b[?1049h"))
        # All of it is drawn again, over what others have written.
        shown.wait_for(lambda text: "stopped]" not in text and re.search(r"^processor +\d", text, re.M))
        shown.type("q")
        shown.wait_for("[status 0]")

    def test_ascii_where_the_locale_is_not_utf8(self):
        self.record_steps()
        shown = self.show("top", LC_ALL="C")
        text = shown.wait_for(lambda text: "processor" in text and "step time" in text)
        self.assertTrue(text.isascii(), text)
        self.assertRegex(text, r"step time [^\n]*(\n +)?[.\-=#]{2}")  # the plot has two rows

    def test_no_colour(self):
        self.record_steps()
        colour = re.compile(rb"\x1b\[[0-9;]*\b(3[0-7]|38;5;\d+)m")
        for words, variables, expected in ((["top"], {}, True), (["top"], {"NO_COLOR": "1"}, False),
                                           (["top", "--theme", "mono"], {}, False)):
            with self.subTest(words=words, variables=variables):
                shown = self.show(*words, **variables)
                shown.wait_for(lambda text: "processor" in text and "step time" in text)
                self.assertEqual(bool(colour.search(shown.bytes)), expected)

    def test_hostile_text_is_not_obeyed(self):
        self.record(["sh", "-c", "printf '\\033]0;owned\\007\\033[5;5HHERE\\n'; sleep 1", "\x1b]0;owned\x07\x1b[2J"])
        shown = self.show("top", rows=40, columns=120)
        shown.wait_for("processor")
        shown.wait_for("]0;owned")
        self.assertNotIn(b"\x1b]0;", shown.bytes)
        self.assertNotEqual(shown.screen.title, "owned")

    def test_terminals_that_cannot_show_it(self):
        self.record(["true"])
        for variables, expected in (({"TERM": "dumb"}, "info --follow"), ({"TERM": ""}, "info --follow"),
                                    ({"TERM": "no-such-terminal"}, "no-such-terminal")):
            with self.subTest(variables):
                shown = self.show("top", **variables)
                self.assertEqual(shown.wait(), 2)
                self.assertIn(expected, shown.bytes.decode())
        done = self.trainscope("top", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"stdout is not a terminal", done.stderr)

    def test_a_run_that_does_not_exist(self):
        shown = self.show("top", "nothing")
        self.assertEqual(shown.wait(), 2)
        self.assertIn(b"no run", shown.bytes)
        self.assertNotIn(b"\x1b[?1049h", shown.bytes)

    def test_it_follows_a_run_to_its_end(self):
        process = self.start(UNTIL_FILE.replace("sys.argv[1]", repr(self.path("end"))), "--name", "live")
        self.wait_for_samples(5)
        shown = self.show("top")
        shown.wait_for("running for")
        seconds = re.compile(r"running for ([\d.]+) s")
        first = float(seconds.search(shown.wait_for(seconds.search))[1])
        shown.wait_for(lambda text: (found := seconds.search(text)) and float(found[1]) > first)
        pathlib.Path(self.path("end")).touch()
        shown.wait_for("exit code 7 after")
        self.assertEqual(process.wait(), 7)

    def test_the_processes_of_a_job_while_it_runs_and_what_its_threads_did_afterwards(self):
        job = pathlib.Path(self.path("job.py"))  # its text is not in its command
        job.write_text(WITH_WORKERS.replace("PATH", repr(self.path("end"))))
        process = self.start([sys.executable, str(job)], "--name", "live")
        printed = [process.stdout.readline().split() for _ in range(3)]
        pids = {words[0].decode().split("\x1b")[0]: int(words[-1]) for words in printed}
        self.wait_for_samples(2, "job.thread.time")
        shown = self.show("top", "live")
        shown.wait_for("running for")
        shown.type("p")

        def row(pid, *parts):
            pattern = re.compile(".*".join([rf"^ *{pid} ", *map(re.escape, parts)]), re.M)
            return lambda text: pattern.search(text)
        shown.wait_for(row(pids["first"], "MiB", "python"))
        shown.wait_for(row(pids["pt_data_worker"], "worker", "%", "MiB", "pt_data_worker (python"))
        text = shown.wait_for(row(pids["feed"], "%", "MiB", "feed?]0;owned?"))
        self.assertEqual(len(re.findall(r"^ *\d+ .* MiB ", text, re.M)), 3, text)  # nobody else, not the recorder
        self.assertNotIn(b"\x1b]0;", shown.bytes)
        shown.type("/data_w\r")
        shown.wait_for(lambda text: "processes /data_w" in text and not row(pids["feed"])(text))
        shown.wait_for(row(pids["pt_data_worker"]))
        shown.type("\x1b")
        shown.wait_for(row(pids["feed"]))
        shown.type("t")
        shown.wait_for(re.compile(r"^main +\S+% +\S+% +\S+% .*[\u2801-\u28ff]", re.M).search)
        shown.type("p")
        shown.wait_for(row(pids["feed"]))
        pathlib.Path(self.path("end")).touch()
        shown.wait_for("the job has ended")
        text = shown.wait_for("exit code 0 after")
        for pid in pids.values():
            self.assertNotRegex(text, rf"(?m)^ *{pid} ")
        shown.wait_for(re.compile(r"^worker0 +\S+% +\S+% +\S+% ", re.M).search)
        process.communicate()
        shown.type("p")
        shown.wait_for(re.compile(r"^processor", re.M).search)

    def test_the_processes_of_a_job_that_was_there_before(self):
        job = subprocess.Popen(["sh", "-c", "sleep 1000; true"])
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        children = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children")
        child = int(wait_until(lambda: children.read_text().split())[0])
        self.addCleanup(os.kill, child, signal.SIGKILL)
        attached = subprocess.Popen([BIN, "attach", "--name", "live", str(job.pid)], env=self.environment(), stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(end, attached)
        self.wait_for_samples(2)
        shown = self.show("top", "live")
        shown.wait_for("running for")
        shown.type("p")
        text = shown.wait_for(re.compile(rf"^ *{child} .* sleep 1000$", re.M).search)
        self.assertRegex(text, rf"(?m)^ *{job.pid} .* sh -c ")
        self.assertEqual(len(re.findall(r"^ *\d+ .* [KM]iB ", text, re.M)), 2, text)

    def test_processes_of_another_machine_are_not_shown(self):
        self.start(["sleep", "1000"], "--name", "live")
        self.wait_for_samples(2, "job.thread.time")
        manifest = next(pathlib.Path(self.home).glob("*/manifest.json"))
        changed = json.loads(manifest.read_text())
        changed |= {"boot_id": "another", "host_name": "gpu7"}
        manifest.write_text(json.dumps(changed))
        shown = self.show("top", "live")
        shown.wait_for("running for")
        shown.type("p")
        text = shown.wait_for("the job runs on another machine (gpu7)")
        self.assertNotIn("sleep", text.split("verdict")[1])

    def test_a_rank_has_the_machine_of_its_node_once(self):
        for rank in ("0", "1"):
            ranks = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "ranks"}
            self.start(["sleep", "1000"], "--name", f"rank{rank}", env=self.environment(**ranks))
            self.wait_for_samples(2, "job.cpu.time", f"rank{rank}")  # "latest" may still be the other one
        both = recorders(self.home)
        self.assertEqual(len(both), 2)
        for recorder in both:  # nothing new is written while top looks
            os.kill(recorder, signal.SIGSTOP)
            self.addCleanup(os.kill, recorder, signal.SIGCONT)
        shown = self.show("top", "rank1")
        shown.wait_for("running for")
        shown.type("/memory available\r")
        shown.wait_for("memory.usage available")
        until = time.monotonic() + 2.5  # it looks at least once more
        text = shown.wait_for(lambda text: text.count("memory.usage available") > 1 or time.monotonic() > until)
        self.assertEqual(text.count("memory.usage available"), 1, text)

    @unittest.skipUnless(shutil.which("tmux"), "tmux is missing (Debian: apt install tmux)")
    def test_in_tmux(self):
        self.record_steps()
        tmux = ["tmux", "-u", "-S", self.path("socket"), "-f", "/dev/null"]
        environment = self.environment(LC_ALL=UTF8, TERM="xterm-256color")
        subprocess.run([*tmux, "new-session", "-d", "-x", "80", "-y", "24", f"{BIN} top; echo code $?; read line"],
                       env=environment, check=True)
        self.addCleanup(subprocess.run, [*tmux, "kill-server"], capture_output=True)

        def pane():
            return subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, env=environment).stdout.decode()
        wait_until(lambda: re.search(r"step time .*[\u2801-\u28ff]", pane()))
        subprocess.run([*tmux, "send-keys", "PageUp"], check=True)
        subprocess.run([*tmux, "send-keys", "?"], check=True)
        wait_until(lambda: "show the whole run" in pane())
        subprocess.run([*tmux, "send-keys", "q", "q"], check=True)
        wait_until(lambda: "code 0" in pane())
        self.assertNotIn("step time", pane())


class InfoCharts(TopCase):
    """The small charts of `info`: on a terminal that is wide enough, and nowhere else."""

    def test_charts(self):
        self.record(STEPS)
        for variables, columns, pattern in (({}, 120, r"train\.loss.* [▁-█ ]+$"),
                                            ({"LC_ALL": "C"}, 120, r"train\.loss.* @[_.\-=+*#@ ]+$"),
                                            ({}, 60, None), ({"TERM": "dumb"}, 120, None)):
            with self.subTest(variables=variables, columns=columns):
                shown = self.show("info", rows=60, columns=columns, **variables)
                self.assertEqual(shown.wait(), 0)
                if pattern:
                    self.assertRegex(shown.text(), re.compile(pattern, re.M))
                self.assertEqual("trend" in shown.text(), pattern is not None)
        self.assertNotIn(b"trend", self.trainscope("info").stdout)


class RunTop(TopCase):
    def start_top(self, job=UNTIL_FILE, *options, shell=False):
        words = [BIN, "run", "--top", "--name", "shown", *options, "--", *command(job), self.path("end")]
        if shell:
            return self.show(*python(SHELL)[1:], *words, program=sys.executable)
        return self.show(*words[1:])

    def finish(self):
        pathlib.Path(self.path("end")).touch()

    def output(self):
        return "".join(p.read_text() for p in pathlib.Path(self.home).glob("*/output.log"))

    def screen_process(self):
        return wait_until(lambda: processes("trainscope-top", self.home))[0]

    def test_the_job_is_as_without_it(self):
        shown = self.start_top()
        text = shown.wait_for(lambda text: all(word in text for word in ("running for", "processor", "q close")))
        self.assertIn("running for", text)
        self.assertIn("q close", text)
        # The last lines of its output; nothing of an earlier screen is left.
        shown.wait_for(lambda text: re.search(r"^output +line \d+$", text, re.M))
        shown.wait_for(lambda text: re.search(r"^overview +╵0:00", text, re.M))
        self.finish()
        self.assertEqual(shown.wait(), 7)
        self.assert_restored(shown)
        after = shown.bytes[shown.bytes.rfind(b"\x1b[?1049l"):].decode()
        self.assertIn("run ", after)  # the summary
        self.assertIn("/output.log", after)
        self.assertNotIn("line 1\r", shown.bytes.decode())  # never shown by itself
        # Its standard input is not the terminal, its output is one.
        self.assertTrue(self.output().startswith("stdin '' True"), self.output()[:100])
        info = self.info()
        self.assertEqual(info["job"]["exit_code"], 7)
        # The screen is not a process of the job.
        counts = {value for _, value in self.series("job.process.count")}
        self.assertLessEqual(max(counts), 1)

    def test_the_screen_is_not_among_the_processes_of_the_job(self):
        shown = self.start_top()
        shown.wait_for("running for")
        shown.type("p")
        text = shown.wait_for(re.compile(r"^ *\d+ main .* MiB ", re.M).search)
        self.assertEqual(len(re.findall(r"^ *\d+ .* MiB ", text, re.M)), 1, text)
        self.finish()
        self.assertEqual(shown.wait(), 7)

    def test_closing_the_screen_shows_the_output_again(self):
        shown = self.start_top()
        shown.wait_for("processor")
        shown.type("q")
        shown.wait_for(lambda text: re.search(r"^line \d+$", text, re.M))
        self.finish()
        self.assertEqual(shown.wait(), 7)
        self.assertEqual(termios.tcgetattr(shown.master)[:4], shown.mode[:4])

    def test_killing_the_screen_does_not_matter(self):
        shown = self.start_top()
        shown.wait_for("processor")
        os.kill(self.screen_process(), signal.SIGKILL)
        shown.wait_for(lambda text: re.search(r"^line \d+$", text, re.M))
        wait_until(lambda: termios.tcgetattr(shown.master)[:4] == shown.mode[:4])
        self.assertGreater(shown.bytes.rfind(b"\x1b[?1049l"), shown.bytes.rfind(b"\x1b[?1049h"))
        self.finish()
        self.assertEqual(shown.wait(), 7)

    def test_a_screen_that_hangs_does_not_hold_the_end_up(self):
        shown = self.start_top()
        shown.wait_for("processor")
        os.kill(self.screen_process(), signal.SIGSTOP)
        self.finish()
        self.assertEqual(shown.wait(), 7)
        self.assertEqual(termios.tcgetattr(shown.master)[:4], shown.mode[:4])

    def test_a_terminal_that_takes_nothing_at_the_end_is_restored_when_it_does(self):
        shown = self.start_top()
        shown.wait_for("processor")
        screen = self.screen_process()
        shown.type("\x13")  # Ctrl-S: the screen hangs in its next line
        self.finish()
        wait_until(lambda: process_state(screen) in ("", "Z"))
        shown.type("\x11")
        self.assertEqual(shown.wait(), 7)
        self.assert_restored(shown)

    def test_the_screen_ends_with_the_supervisor(self):
        shown = self.start_top()
        shown.wait_for("processor")
        screen = self.screen_process()
        os.kill(shown.pid, signal.SIGKILL)
        wait_until(lambda: process_state(screen) in ("", "Z"))
        self.finish()
        wait_until(lambda: not processes("trainscope-rec", self.home))

    def test_keys_that_signal_are_the_jobs_and_arrive_once(self):
        job = """
import os, signal, sys, time
got = []
signal.signal(signal.SIGINT, lambda *a: got.append(1))
print("ready", flush=True)
while not os.path.exists(sys.argv[1]): time.sleep(0.02); got and print("got", len(got), flush=True)
sys.exit(6)
"""
        shown = self.start_top(job)
        shown.wait_for("ready")
        shown.type("\x03")
        shown.wait_for(lambda text: re.search(r"^output +got 1$", text, re.M))
        self.assertNotIn(b"\x1b[?1049l", shown.bytes)  # the screen stays, as the job does
        self.finish()
        self.assertEqual(shown.wait(), 6)
        self.assertNotIn("got 2", self.output())
        self.assert_restored(shown)

    def test_a_job_that_the_key_kills_ends_us_by_the_signal(self):
        shown = self.start_top(["sleep", "1000"])
        shown.close()
        shown = self.show("run", "--top", "--", "sleep", "1000")
        shown.wait_for("processor")
        shown.type("\x03")
        self.assertEqual(shown.wait(), -signal.SIGINT)
        self.assert_restored(shown)

    def test_stop_key_and_back(self):
        shown = self.start_top(shell=True)
        shown.wait_for("processor")
        shown.type("\x1a")
        shown.wait_for(lambda _: b"[stopped]" in shown.bytes)
        before = shown.bytes.split(b"[stopped]")[0]
        self.assertGreater(before.rfind(b"\x1b[?1049l"), before.rfind(b"\x1b[?1049h"))
        # All of it is drawn again, over what others have written.
        shown.wait_for(lambda text: "stopped]" not in text and re.search(r"^processor +\d", text, re.M))
        self.finish()
        shown.wait_for("[status 1792]")

    def test_a_command_that_cannot_run(self):
        shown = self.show("run", "--top", "--", "/nowhere/no-such-command-here")
        self.assertEqual(shown.wait(), 127)
        after = shown.bytes[shown.bytes.rfind(b"\x1b[?1049l") + 1:]
        self.assertIn(b"no-such-command-here", after)

    @unittest.skipUnless(shutil.which("strace"), "strace is not here")
    def test_a_screen_that_cannot_start_stops_no_job(self):
        shown = self.show("-qq", "-o", "/dev/null", "-e", "signal=none", "-e", "inject=pipe2:error=EMFILE:when=1",
                          BIN, "run", "--top", "--", "sh", "-c", "exit 7", program=shutil.which("strace"))
        code = shown.wait()
        if b"PTRACE" in shown.bytes.upper():
            self.skipTest("tracing is not permitted here")
        self.assertEqual(code, 7)
        self.assertIn(b"--top is not shown", shown.bytes)

    def test_repeats(self):
        shown = self.show("run", "--top", "--repeat", "2", "--", "sh", "-c", "echo text; sleep 0.5; exit 3")
        self.assertEqual(shown.wait(), 3)
        self.assertEqual(len(list(pathlib.Path(self.home).glob("*/output.log"))), 2)
        self.assertEqual(termios.tcgetattr(shown.master)[:4], shown.mode[:4])

    def test_without_a_terminal_the_job_does_not_start(self):
        done = self.trainscope("run", "--top", "--", "touch", self.path("started"), check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"run: --top", done.stderr)
        for redirection in ("2>/dev/null", ">/dev/null", "| cat"):
            with self.subTest(redirection):
                shown = self.show("-c", f"set -o pipefail; {BIN} run --top -- touch {self.path('started')} {redirection}",
                                  program="/bin/bash")
                self.assertEqual(shown.wait(), 2)
        shown = self.show("run", "--top", "--", "touch", self.path("started"), TERM="dumb")
        self.assertEqual(shown.wait(), 2)
        self.assertFalse(os.path.exists(self.path("started")))
        self.assertEqual(os.listdir(self.home), [])


if __name__ == "__main__":
    main()
