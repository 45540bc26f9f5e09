"""Printed steps when stdout is a regular file, shared or buffered: each run reports its own, or none with the reason."""
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

from trainscope_test import BIN, Case, LONG, end, main, processes, wait_until

# Prints `count` steps, one every `seconds`, and leaves its own measurement of the intervals in a file.
TRAINER = """
import json, sys, time
name, count, seconds, measured = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
times = []
for step in range(1, count + 1):
    time.sleep(seconds)
    print(f"step {step} loss {1 / step:.6f} {name}", flush=True)
    times.append(time.monotonic())
json.dump([b - a for a, b in zip(times, times[1:])], open(measured, "w"))
"""
# Prints ten steps, makes a file, waits for another one, and prints the rest.
TRAINER_IN_TWO = """
import os, pathlib, sys, time
count, mine, others = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
for step in range(1, count + 1):
    if step == 11:
        mine.touch()
        while not os.path.exists(others): time.sleep(0.01)
    print(f"step {step} loss 1", flush=True)
    time.sleep(0.01)
pathlib.Path(sys.argv[4]).touch()
"""
# Prints nothing until the other one is done.
WAITER = """
import os, pathlib, sys, time
pathlib.Path(sys.argv[1]).touch()
while not os.path.exists(sys.argv[2]): time.sleep(0.01)
"""
# Prints steps until there is a file.
PRINTER = """
import itertools, os, sys, time
for step in itertools.count(1):
    print(f"step {step} loss 1", flush=True)
    time.sleep(0.01)
    if os.path.exists(sys.argv[1]): break
"""
# Writes a byte to its own pipe now and then.
PIPE_WRITER = """
import os, pathlib, sys, time
inside, outside = os.pipe()
while True:
    os.write(outside, b"x")
    os.read(inside, 1)
    pathlib.Path(sys.argv[1]).touch()
    time.sleep(0.01)
"""
# Prints steps while nobody reads what the recorder writes to output.log.
STUCK = """
import os, sys, time
os.mkfifo(os.path.join(os.path.dirname(os.environ["TRAINSCOPE_PIPE"]), "output.log"))
for step in range(1, 201):
    sys.stdout.write(f"step {step:04} loss 1\\n")
    if step == 1: sys.stdout.flush(); time.sleep(0.3)
"""


class OutputSteps(Case):
    def trainer(self, name, count, seconds):
        return [sys.executable, "-S", "-c", TRAINER, name, str(count), str(seconds), self.path(name + ".json")]

    def measured(self, name):
        return sorted(json.loads(pathlib.Path(self.path(name + ".json")).read_text()))

    def run_to(self, log, name, job, mode="ab"):
        """A recorded job whose output is a file, opened by itself."""
        with open(log, mode) as file:
            words = [BIN, "run", "--quiet", "--name", name, "--", *job]
            process = subprocess.Popen(words, env=self.environment(), stdin=subprocess.DEVNULL, stdout=file,
                                       stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def output_log(self, info):
        return pathlib.Path(info["run"]["path"], "output.log").read_text()

    def notes(self, info):
        return " ".join(info["run"]["notes"])

    def assert_refused(self, run):
        """No steps, the reason, and the log says that others' text may be in it."""
        info = self.info(run)
        self.assertIsNone(info["steps"]["count"])
        self.assertIsNone(info["steps"]["p50_s"])
        self.assertEqual(info["pauses"], [])
        self.assertIn("outside the job", info["steps"]["reason"])
        self.assertIn("output.log", self.notes(info))
        self.assertEqual([m for m in info["metrics"] if m["name"].startswith("train.")], [])
        self.assertIn("outside the job", self.trainscope("info", run).stdout.decode())
        return info

    def assert_own(self, run, count):
        info = self.info(run)
        self.assertEqual(info["steps"]["count"], count, info["steps"])
        self.assertNotIn("outside the job", self.notes(info))
        return info

    # Two writers.

    def both(self, name, other, steps=200):
        """The words of a trainer that goes on only once the other one prints too, however late that begins."""
        return [sys.executable, "-S", "-c", TRAINER_IN_TWO, str(steps), self.path(name), self.path(other), self.path("done")]

    def test_two_runs_that_append_to_one_file(self):
        log = self.path("log")
        processes = [self.run_to(log, name, self.both(name, other)) for name, other in (("one", "two"), ("two", "one"))]
        for process in processes:
            self.assertEqual(process.wait(), 0)
        for name in ("one", "two"):
            self.assert_refused(name)

    def test_two_runs_that_append_to_one_file_that_was_renamed(self):
        first = self.run_to(self.path("log"), "one", self.both("one", "two"))
        wait_until(lambda: os.path.exists(self.path("one")))
        os.rename(self.path("log"), self.path("renamed"))
        second = self.run_to(self.path("renamed"), "two", self.both("two", "one"))
        self.assertEqual((first.wait(), second.wait()), (0, 0))
        for name in ("one", "two"):
            self.assert_refused(name)

    def test_two_runs_of_one_script(self):
        """They share one open file, which a script has given to both."""
        words = [f"{BIN} run --quiet --name {name} -- " + " ".join(map(shlex.quote, self.both(name, other)))
                 for name, other in (("one", "two"), ("two", "one"))]
        script = f"echo begin; {words[0]} & {words[1]} & wait"
        # Jobs that have a pipe too, to which they might write, are recognised all the same.
        for pipe in ((), os.pipe()):
            with open(self.path("log"), "wb") as log:
                subprocess.run(["sh", "-c", script], env=self.environment(), stdout=log, pass_fds=pipe, check=True)
            for name in ("one", "two"):
                self.assert_refused(name)
                os.unlink(self.path(name))
            for fd in pipe:
                os.close(fd)

    def run_script(self, script, *jobs):
        """A shell script whose stdout is a file; each {} of it is a job."""
        words = [" ".join(map(shlex.quote, [sys.executable, "-S", "-c", *job])) for job in jobs]
        with open(self.path("log"), "wb") as log:
            subprocess.run(["sh", "-c", script.format(*words)], env=self.environment(), stdout=log, check=True)

    def test_a_second_run_of_the_script_that_prints_nothing(self):
        """Its supervisor and recorder write to their own pipes all the time."""
        run = f"{BIN} run --quiet --name "
        half, began, done = self.path("half"), self.path("began"), self.path("done")
        script = f"{run} loud -- {{}} & a=$!; while [ ! -e {half} ] && kill -0 $a; do sleep 0.02; done; " \
                 f"{run} silent -- {{}} & wait"
        self.run_script(script, (TRAINER_IN_TWO, "150", half, began, done), (WAITER, began, done))
        self.assert_own("loud", 150)
        self.assertIsNone(self.info("silent")["steps"]["count"])

    def test_a_process_in_the_background_that_writes_to_its_own_pipe(self):
        began, done = self.path("began"), self.path("done")
        script = f"{{}} & b=$!; {BIN} run --quiet --name run -- {{}}; kill $b"
        self.run_script(script, (PIPE_WRITER, began), (TRAINER_IN_TWO, "150", self.path("half"), began, done))
        self.assert_own("run", 150)

    def test_a_second_writer_that_comes_later_and_leaves_before(self):
        log, found, over = map(self.path, ("log", "found", "over"))
        process = self.run_to(log, "run", [sys.executable, "-S", "-c", PRINTER, over])
        wait_until(lambda: os.path.exists(log) and b"step 20 " in pathlib.Path(log).read_bytes())
        with open(log, "ab") as file:
            other = subprocess.Popen([sys.executable, "-S", "-c", PRINTER, found], stdout=file)
        self.addCleanup(end, other)
        wait_until(lambda: self.events_of("output_shared"))
        pathlib.Path(found).touch()
        self.assertEqual(other.wait(), 0)
        size = os.path.getsize(log)
        wait_until(lambda: os.path.getsize(log) > size + 100)  # the run prints on
        pathlib.Path(over).touch()
        self.assertEqual(process.wait(), 0)
        self.assert_refused("run")

    def events_of(self, kind):
        words = "sql", "latest", f"select text from events where kind = '{kind}'"
        return self.trainscope(*words).stdout.decode().splitlines()[1:]

    def test_a_run_that_prints_nothing_beside_one_that_does(self):
        log, half, began, done = map(self.path, ("log", "half", "began", "done"))
        silent = self.run_to(log, "silent", [sys.executable, "-S", "-c", WAITER, began, done])
        loud = self.run_to(log, "loud", [sys.executable, "-S", "-c", TRAINER_IN_TWO, "200", half, began, done])
        self.assertEqual((silent.wait(), loud.wait()), (0, 0))
        self.assert_refused("silent")
        self.assert_own("loud", 200)

    def test_runs_one_after_the_other(self):
        log = self.path("log")
        for name in ("one", "two"):
            self.assertEqual(self.run_to(log, name, self.trainer(name, 40, 0.005)).wait(), 0)
        for name in ("one", "two"):
            info = self.assert_own(name, 40)
            self.assertEqual(len(self.output_log(info).splitlines()), 40)

    def test_a_batch_script(self):
        """Its shell holds the file too, and so does what it has put in the background; neither writes meanwhile."""
        log = self.path("log")
        script = f"echo step 900 loss 1; sleep 60 & a=$!; (while sleep 0.05; do echo x; done > {self.path('other')}) & " \
                 f"b=$!; {BIN} run --quiet --name run -- \"$@\"; echo step 901 loss 1; kill $a $b"
        for flags in ("wb", "ab"):
            with open(log, flags) as file:
                subprocess.run(["sh", "-c", script, "sh", *self.trainer("run", 150, 0.01)], env=self.environment(),
                               stdout=file, stderr=file, check=True)
            info = self.assert_own("run", 150)
            self.assertEqual(len(self.output_log(info).splitlines()), 150)

    def cpu_beside(self, others):
        """CPU time of recording beside others that were given the same file and write nothing."""
        script = f"i=0; while [ $i -lt {others} ]; do i=$((i + 1)); sleep 600 & s=\"$s $!\"; done; " \
                 f"{BIN} run --quiet --name beside -- \"$@\" && {{ [ -z \"$s\" ] || kill $s; }}"
        with open(self.path("log"), "wb") as file:
            subprocess.run(["sh", "-c", script, "sh", *self.trainer("run", 300, 0.01)], env=self.environment(),
                           stdout=file, stderr=file, check=True)
        info = self.assert_own("beside", 300)
        return info["overhead"]["cpu_s"], info["run"]["duration_s"]

    def test_many_others_that_print_nothing_cost_little(self):
        """Whether they write is asked of each, again and again, but in 1 % of the time."""
        alone_s, _ = self.cpu_beside(0)
        for tries_left in reversed(range(4)):  # a busy machine makes the same work take more time, not less
            beside_s, duration_s = self.cpu_beside(300)
            if not tries_left or beside_s < alone_s + 0.1 + 0.05 * duration_s:
                break
        self.assertLess(beside_s, alone_s + 0.1 + 0.05 * duration_s)

    def test_a_job_that_opens_its_output_again(self):
        script = "i=1; while [ $i -le 30 ]; do echo step $i loss 1 >> /dev/stdout; i=$((i + 1)); done; sleep 1.5; echo step 31 loss 1"
        self.assertEqual(self.run_to(self.path("log"), "run", ["sh", "-c", script]).wait(), 0)
        self.assert_own("run", 31)

    def test_stdout_and_stderr_are_one_file_that_was_opened_twice(self):
        log = self.path("log")
        job = "import sys, time\nfor n in range(1, 41): print(f'step {n} loss 1', flush=True); sys.stderr.write('x\\n'); time.sleep(.01)"
        script = f"{BIN} run --quiet -- \"$@\" >> {log} 2>> {log}"
        subprocess.run(["sh", "-c", script, "sh", sys.executable, "-S", "-c", job], env=self.environment(), check=True)
        info = self.assert_own("latest", 40)
        self.assertEqual(self.output_log(info), pathlib.Path(log).read_text())

    # A disk that hangs.

    def bytes_of_note(self, info, pattern):
        found = re.search(pattern, self.notes(info))
        return int(found[1]) if found else 0

    def test_what_a_hanging_disk_keeps_from_being_searched_is_told(self):
        size = len("step 0001 loss 1\n")  # less than a page in all: any pipe holds it
        job = [sys.executable, "-S", "-c", STUCK]
        for is_file in (False, True):
            if is_file:
                self.assertEqual(self.run_to(self.path("log"), "run", job).wait(), 0)
            else:
                self.record(job)
            info = self.info()
            left = self.bytes_of_note(info, r"(\d+) printed bytes were not searched")
            skipped = self.bytes_of_note(info, r"(\d+) of the printed lines were not searched")
            counted = info["steps"]["observed"]
            self.assertEqual((counted + skipped) * size + left, 200 * size, info["run"]["notes"])
            self.assertEqual(self.bytes_of_note(info, r"output.log lacks (\d+) bytes"), 200 * size)

    # Times.

    def assert_times(self, name, info):
        """The times of the steps are those that the job has measured, or unknown with the reason."""
        intervals = self.measured(name)
        steps = info["steps"]
        # Half to twice: a busy machine lets the job write and us read when it likes. Times of a poll would be 0 or five times
        # as long.
        mean = sum(intervals) / len(intervals)
        self.assert_between(0.5 * mean, steps["mean_s"], 2 * mean, "mean")
        if steps["p50_s"] is None:
            self.assertIn("together", steps["reason"])
            self.assertEqual(info["pauses"], [])
            return
        typical = intervals[len(intervals) // 2]
        self.assert_between(0.5 * typical, steps["p50_s"], 2 * typical, "p50")
        # No more than the job had, which may have been held up itself.
        long = [i for i in intervals if i > 1.5 * typical]
        self.assertLessEqual(len(info["pauses"]), 2 * len(long) + 10)

    def assert_times_are_known(self, record):
        """On a busy machine lines that are written soon after each other are read together: then those of longer steps are not."""
        for name, count, seconds in (("one", 300, 0.01), ("two", 150, 0.04), ("three", 60, 0.16), ("four", 30, 0.64)):
            info = record(name, count, seconds)
            self.assert_times(name, info)
            if info["steps"]["p50_s"] is not None:
                return
        self.fail(info["steps"]["reason"])

    def test_times_of_a_file_are_when_its_lines_were_written(self):
        def record(name, count, seconds):
            self.assertEqual(self.run_to(self.path("log"), name, self.trainer(name, count, seconds)).wait(), 0)
            return self.assert_own(name, count)
        self.assert_times_are_known(record)

    def test_times_of_a_pipe(self):
        def record(name, count, seconds):
            self.record(self.trainer(name, count, seconds), "--name", name)
            return self.assert_own(name, count)
        self.assert_times_are_known(record)

    def test_without_inotify_times_are_coarse(self):
        setup = "echo 0 > /proc/sys/user/max_inotify_instances"
        if subprocess.run(["unshare", "-Ur", "sh", "-c", setup], capture_output=True).returncode != 0:
            self.skipTest("there is no user namespace of our own here, in which inotify could be switched off")
        script = setup + "; exec \"$@\""
        with open(self.path("log"), "wb") as file:
            subprocess.run(["unshare", "-Ur", "sh", "-c", script, "sh", BIN, "run", "--quiet", "--",
                            *self.trainer("run", 100, 0.01)], env=self.environment(), stdout=file, check=True)
        info = self.info()
        self.assertEqual(info["steps"]["count"], 100)
        self.assertIsNone(info["steps"]["p50_s"])
        self.assertIn("coarse", info["steps"]["reason"])
        self.assertEqual(info["pauses"], [])

    # A recorder that is killed.

    def check_killed(self, process, log):
        # Three: the pause before a restart doubles each time, up to ten seconds.
        for i in range(3):
            recorder = self.recorder()
            wait_until(lambda i=i: self.printed(log) > 40 * (i + 1))
            os.kill(recorder, signal.SIGKILL)
            wait_until(lambda: process.poll() is not None or set(processes("trainscope-rec", self.home)) - {recorder})
        self.assertEqual(process.wait(), 0)

    def printed(self, log):
        try:
            return pathlib.Path(log).read_bytes().count(b"\n")
        except OSError:
            return 0

    def test_nothing_is_lost_when_the_recorder_is_killed(self):
        for number in range(7 if LONG else 1):
            name = f"run{number}"
            log = self.path(f"log{number}")
            process = self.run_to(log, name, self.trainer(name, 300, 0.01))
            self.check_killed(process, log)
            info = self.assert_own(name, 300)
            self.assertEqual(info["steps"]["observed"], 300)
            self.assertGreaterEqual(info["sampling"]["restarts"], 1)
            self.assertEqual(self.output_log(info), pathlib.Path(log).read_text())

    # Lines that come together.

    BUFFERED = "import time\nfor step in range(1, {} + 1): print(f'step {{step}} loss 1'); time.sleep({})"

    def assert_unknown_times(self, info, count):
        steps = info["steps"]
        self.assertEqual(steps["count"], count)
        self.assertIsNone(steps["p50_s"])
        self.assertIsNone(steps["p99_s"])
        self.assertIn("python -u", steps["reason"])
        self.assertEqual(info["pauses"], [])
        self.assertEqual(steps["warmup"], 0)
        self.assertIn("python -u", self.trainscope("info", "latest").stdout.decode())

    def buffered(self, count, seconds):
        return [sys.executable, "-S", "-E", "-c", self.BUFFERED.format(count, seconds)]

    def test_buffered_to_a_file(self):
        self.assertEqual(self.run_to(self.path("log"), "run", self.buffered(150, 0.002)).wait(), 0)
        info = self.info("run")
        self.assert_unknown_times(info, 150)
        self.assertIsNone(info["steps"]["mean_s"])

    def test_buffered_to_a_pipe(self):
        self.record(self.buffered(150, 0.002))
        self.assert_unknown_times(self.info(), 150)

    def test_buffered_in_blocks(self):
        """Of blocks of 8 KiB the mean is known."""
        self.record(self.buffered(3000, 0.001))
        info = self.info()
        self.assert_unknown_times(info, 3000)
        self.assert_between(0.001, info["steps"]["mean_s"], info["run"]["duration_s"] / 1500)

    def test_buffered_lines_of_the_pipe(self):
        self.record("""
import os, time
pipe = open(os.environ["TRAINSCOPE_PIPE"], "w")
for step in range(1, 301):
    print("step", step, file=pipe)
    time.sleep(0.002)
pipe.close()
time.sleep(0.2)
""")
        steps = self.info()["steps"]
        self.assertEqual((steps["source"], steps["count"], steps["p50_s"], steps["p99_s"]), ("pipe", 300, None, None))
        self.assertIn("through the pipe together", steps["reason"])

    def test_two_lines_together_now_and_then(self):
        job = """
            import sys, time
            text = ""
            for step in range(1, 201):
                time.sleep(0.02)
                text += f"step {step} loss 1\\n"
                if step % 20 != 7:
                    sys.stdout.write(text)
                    sys.stdout.flush()
                    text = ""
        """
        self.record(job)
        info = self.info()
        self.assertEqual(info["steps"]["count"], 200)
        if info["steps"]["p50_s"] is None:  # a machine so busy that others came together too
            self.assertIn("together", info["steps"]["reason"])
        else:
            self.assert_between(0.02, info["steps"]["p50_s"], 2 * info["steps"]["mean_s"])
        rows = self.trainscope("sql", "latest", "select step, duration_s from steps").stdout.decode().split()[1:]
        durations = dict(row.split(",") for row in rows)
        for step in range(7, 200, 20):
            self.assertEqual((durations[str(step)], durations[str(step + 1)]), ("", ""))


if __name__ == "__main__":
    main()
