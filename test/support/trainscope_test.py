"""What the Python tests share: a home of their own, recorded jobs, and what the run says of them.

A test file is a program of unittest cases. It ends with main(): 0 passed, 1 failed, 77 when every test was skipped.
A line `SKIPPED name: reason` tells of each that was, for run-tests to repeat.
TRAINSCOPE_LONG=1 makes the tests that repeat something repeat it more often.
"""
import csv
import io
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

BIN = os.path.abspath(os.environ.get("TRAINSCOPE_BIN", "build/trainscope"))
LONG = os.environ.get("TRAINSCOPE_LONG") == "1"
IS_ROOT = os.geteuid() == 0
PATIENCE_S = 60  # for what must happen, on a machine that may be busy


def leave_the_callers_surroundings():
    """Tests pass inside a job of a launcher, over ssh, without colours and without open standard descriptors."""
    launchers = ("SLURM_", "OMPI_", "PMI_", "PMIX_", "MPI_", "MV2_", "TORCHELASTIC_")
    ranks = ("RANK", "LOCAL_RANK", "GROUP_RANK", "NODE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")
    for name in list(os.environ):
        if name.startswith(launchers) or name in (*ranks, "NO_COLOR", "SSH_CONNECTION", "PYTHONUNBUFFERED", "COLUMNS", "LINES"):
            del os.environ[name]
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest one that is free


leave_the_callers_surroundings()

# A job that must be seen as it is before it goes on calls this: see Case.record_seen.
SEEN = """
def seen():
    import os
    os.write(1, b"seen?\\n")
    assert os.read(0, 1)
"""

# Prints 0, 1, 2, … until its standard input has something, and ends with 9: no test depends on how long it takes.
COUNTING_UNTIL_INPUT = """
import select, sys
i = 0
while not select.select([sys.stdin], [], [], 0.02)[0]:
    print(i, flush=True); i += 1
sys.exit(9)
"""


def python(source, *arguments):
    """A command that runs this Python source, with as little of Python around it as can be."""
    return [sys.executable, "-S", "-E", "-B", "-c", textwrap.dedent(source), *map(str, arguments)]


def command(job):
    return python(job) if isinstance(job, str) else list(job)


def wait_until(what, seconds=PATIENCE_S):
    """The first true answer of `what`, asked again and again; fails when there is none in time."""
    until = time.monotonic() + seconds
    while True:
        answer = what()
        if answer:
            return answer
        if time.monotonic() > until:
            raise AssertionError(f"waited {seconds} s in vain")
        time.sleep(0.01)


def process_state(pid):
    """R, S, T, Z, …; "" when there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def processes(comm, value, variable="TRAINSCOPE_HOME"):
    """Processes with this name (None: with any) and this variable in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if comm in (name, None) and f"{variable}={value}".encode() in variables:
                found.append(int(pid))
        except OSError:
            pass
    return found


def parent_of(pid):
    """0 when there is no such process."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def recorders(home):
    """The recorders of the runs in this home. What one has forked has its name until it becomes another program."""
    found = processes("trainscope-rec", home)
    return [pid for pid in found if parent_of(pid) not in found]


def kill_all_of(home):
    """A job survives its supervisor, and so would one that a test left running. One that is killed may have started
    another one meanwhile."""
    for _ in range(10):
        found = processes(None, home)
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not found:
            return
        time.sleep(0.01)


class Case(unittest.TestCase):
    """A test with a home of its own, removed afterwards."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="trainscope-test-")
        self.home = os.path.join(self.folder, "home")
        os.mkdir(self.home)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(lambda: kill_all_of(self.home))  # Some tests choose another home.

    def path(self, name):
        return os.path.join(self.folder, name)

    def environment(self, **more):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("TRAINSCOPE_")}
        # Where no settings of the person who runs the tests are.
        return {**kept, "XDG_CONFIG_HOME": self.folder, "TRAINSCOPE_HOME": self.home, **more}

    def trainscope(self, *words, check=True, program=BIN, **keywords):
        """Runs the program; returns the finished process."""
        keywords = {"env": self.environment(), "stdin": subprocess.DEVNULL, "capture_output": True,
                    "timeout": PATIENCE_S * 2, **keywords}
        done = subprocess.run([program, *words], **keywords)
        if check:
            self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        return done

    def record_seen(self, job, *options, **keywords):
        """Records a job to its end that calls seen() of SEEN, which returns once a sample is on disk that began after the
        call; returns the other lines that it prints."""
        process = self.start(job, *options, stdin=subprocess.PIPE, **keywords)
        lines = []
        for line in iter(process.stdout.readline, b""):
            if line == b"seen?\n":
                self.wait_for_a_sample_from_now_on()
                process.stdin.write(b"x")
            else:
                lines.append(line)
        self.assertEqual(process.wait(timeout=PATIENCE_S), 0)
        return lines

    def run_words(self, job, *options):
        return [BIN, "run", "--quiet", *options, "--", *command(job)]

    def record(self, job, *options, **keywords):
        """Records a job (words, or Python source) to its end; returns the finished process."""
        return self.trainscope(*self.run_words(job, *options)[1:], **keywords)

    def start(self, job, *options, **keywords):
        """A recorded job, running. Its stdout is ours to read, without a buffer: communicate() would not see what
        readline() has put there."""
        keywords = {"env": self.environment(), "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                    "stderr": subprocess.DEVNULL, "bufsize": 0, **keywords}
        process = subprocess.Popen(self.run_words(job, *options), **keywords)
        self.addCleanup(end, process)
        return process

    def recorder(self):
        """The recorder of the only run in this home, once there is one."""
        return wait_until(lambda: recorders(self.home))[0]

    def next_recorder(self, *before):
        """Another recorder than these, once there is one."""
        return wait_until(lambda: set(recorders(self.home)) - set(before)).pop()

    def wait_for_settled_runs(self):
        """Until nothing of the runs that have ended works on: what puts them on the disk removes `tail` at its end. That
        process leaves no core, so that nobody but root sees whose it is."""
        wait_until(lambda: not processes(None, self.home))
        until = time.monotonic() + (0 if IS_ROOT else 5)
        while time.monotonic() < until and any(pathlib.Path(self.home).glob("*/tail")):
            time.sleep(0.01)

    def on_disk(self, name="system.cpu.time", run="latest", **labels):
        """What `info` says now of a series of the run that goes on (any one when no labels are given); {} before it is there."""
        done = self.trainscope("info", run, "--json", check=False)
        known = json.loads(done.stdout)["metrics"] if done.returncode == 0 else []
        return next((m for m in known if m["name"] == name and (not labels or m["labels"] == labels)), {})

    def last_on_disk(self, name, **labels):
        return self.on_disk(name, **labels).get("last") or 0

    def wait_for_samples(self, count, name="system.cpu.time", run="latest", **labels):
        """Until so many samples of the run that goes on are on disk."""
        wait_until(lambda: self.on_disk(name, run, **labels).get("samples", 0) >= count)

    def wait_for_a_sample_from_now_on(self, name="job.cpu.time"):
        """Until a sample of the run that goes on is on disk that began after this call."""
        now_ns = time.monotonic_ns()

        def has_come():
            if not self.on_disk(name):
                return False
            with open(os.path.join(self.info()["run"]["path"], "manifest.json")) as file:
                zero_ns = json.load(file)["zero_monotonic_ns"]
            return any(zero_ns + t * 1e9 > now_ns for t, _, _ in self.rows(name))

        wait_until(has_come)

    def info(self, run="latest"):
        return json.loads(self.trainscope("info", run, "--json").stdout)

    def rows(self, metric, run="latest"):
        """[(time_s, labels as text, value)] of one metric."""
        text = self.trainscope("export", run, "--to", "csv", "--metric", metric).stdout.decode()
        table = list(csv.reader(io.StringIO(text)))
        self.assertEqual(table[0], ["time_s", "metric", "labels", "value"])
        return [(float(t), labels, float(value)) for t, _, labels, value in table[1:] if value]

    def series(self, metric, labels="", run="latest"):
        return [(t, value) for t, have, value in self.rows(metric, run) if have == labels]

    def assert_between(self, low, value, high, what=""):
        self.assertTrue(low <= value <= high, f"{what}: {value} is not between {low} and {high}")

    def assert_ticks_add_up(self, run="latest"):
        """Every due tick is a sample or was missed; every hole of three is told; no tick is there twice."""
        info = self.info(run)
        sampling, period = info["sampling"], info["sampling"]["period_s"]
        times = [t for t, _ in self.series("system.cpu.time", "cpu=all;state=user", run)]
        ticks = [math.floor(t / period + 1e-6) for t in times]
        self.assertEqual(ticks, sorted(set(ticks)), "a tick is there twice or out of order")
        for tick, t in zip(ticks, times):
            self.assertLessEqual(t - tick * period, period * 0.51, f"tick {tick} began late, at {t}")
        self.assertEqual(sampling["samples"], len(ticks))
        due = math.floor(info["run"]["duration_s"] / period + 1e-6) + 1
        self.assertEqual(sampling["samples"] + sampling["missed"], due)
        edges = [-1, *ticks, due]
        for before, after in zip(edges, edges[1:]):
            if after - before - 1 < 3:
                continue
            hole = ((before + 1) * period, (after - 1) * period)
            told = [g for g in sampling["gaps"] if g["from_s"] <= hole[0] + 1e-6 and hole[1] <= g["to_s"] + 1e-6]
            self.assertTrue(told, f"the hole {hole} is no gap: {sampling['gaps']}")
        for gap in sampling["gaps"]:
            inside = [t for t in times if gap["from_s"] + 1e-6 < t < gap["to_s"] - 1e-6]
            self.assertEqual(inside, [], f"samples inside the gap {gap}")
            self.assertTrue(gap["reason"])
        return info


def metric(info, name, **labels):
    """The one metric of an info document with this name and these labels."""
    found = [m for m in info["metrics"] if m["name"] == name and (m["labels"] or {}) == labels]
    if len(found) != 1:
        raise AssertionError(f"{name} {labels} is there {len(found)} times")
    return found[0]


def total(info, name, key="last"):
    """The sum over all series of a metric."""
    found = [m[key] for m in info["metrics"] if m["name"] == name and m["status"] == "ok"]
    if not found:
        raise AssertionError(f"{name} is not there")
    return sum(found)


def end(process):
    """Ends a process that a test left running, and lets go of its pipes."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()


class _Result(unittest.TextTestResult):
    """One line per test, with how long it took; counts the tests that were not skipped."""
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f"      {time.monotonic() - self.began:.1f} s")


def main():
    runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=_Result)
    program = unittest.main(module="__main__", testRunner=runner, exit=False)
    result = program.result
    for test, reason in result.skipped:
        print(f"SKIPPED {test.id()}: {' '.join(reason.split())}")
    if result.wasSuccessful() and result.skipped and not result.passed:
        print("skipped: " + result.skipped[0][1])
        sys.exit(77)
    sys.exit(0 if result.wasSuccessful() else 1)
