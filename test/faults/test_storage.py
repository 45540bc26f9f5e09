"""The run folder fails in every way a disk can: the job does not notice, one message says so, recording resumes."""
# ctest-timeout: 600
import math
import os
import re
import select
import shutil
import subprocess
import time
import unittest

from mounted_home import OwnMounts
from strace_log import finished_calls
from trainscope_test import COUNTING_UNTIL_INPUT, Case, main, wait_until

COUNTING = """
import os, sys, time
for i in range(%d):
    print(i, flush=True); time.sleep(0.1)
sys.exit(9)
"""


def remove_while_used(folder):
    """Until this very folder is gone: the recorder may make a file in it, or rename one, while it is emptied."""
    descriptor = os.open(folder, os.O_RDONLY)
    while os.fstat(descriptor).st_nlink:
        shutil.rmtree(folder, ignore_errors=True)
    os.close(descriptor)


def lines(count):
    return b"".join(b"%d\n" % i for i in range(count))


class StorageCase(Case):
    def assert_nothing_lost(self, info):
        """All samples that were taken are there: what is missing was never taken, because the machine was busy. What
        was missed after the last sample before the last look at that counter, nothing counts."""
        for gap in info["sampling"]["gaps"]:
            self.assertNotIn("samples were lost", gap["reason"])
        looked_s, counted = self.series("recorder.missed_ticks", "process=recorder")[-1]
        taken = [t for t, _ in self.series("system.cpu.time", "cpu=all;state=user") if t <= looked_s + 1e-9]
        due = math.floor(taken[-1] / info["sampling"]["period_s"] + 1e-6) + 1
        self.assertLessEqual(due - len(taken), counted + 2)


class Refused(Case):
    def test_a_home_that_cannot_exist_starts_nothing(self):
        for home in ("/dev/null/home", "/proc/nothing"):
            done = self.record(["touch", self.path("started")], check=False, env=self.environment(TRAINSCOPE_HOME=home))
            self.assertEqual(done.returncode, 125)
            self.assertIn(home.encode(), done.stderr)
            self.assertFalse(os.path.exists(self.path("started")))


class Conveniences(Case):
    """What makes a run better but is not the job's keeps no job from starting."""

    def assert_started(self, *options, warning=None, job=("sh", "-c", "exit 7")):
        done = self.record(list(job), *options, check=False)
        self.assertEqual(done.returncode, 7, done.stderr)
        if warning:
            self.assertEqual(done.stderr.count(b"trainscope: "), 1, done.stderr)
            self.assertIn(warning, done.stderr)

    def test_an_id_file_that_cannot_be_written(self):
        self.assert_started("--id-file", "/nonexistent/id", warning=b"/nonexistent/id")

    def test_an_id_file_beside_what_another_rank_is_writing(self):
        os.mkdir(self.path("id.new"))
        self.assert_started("--id-file", self.path("id"))
        with open(self.path("id")) as file:
            self.assertEqual(file.read(), self.info()["run"]["id"] + "\n")

    def test_an_id_file_that_is_a_device_stays_one(self):
        os.symlink("/dev/null", self.path("id"))
        self.assert_started("--id-file", self.path("id"))
        self.assertTrue(os.path.islink(self.path("id")))

    def test_an_id_file_shared_by_many_ranks(self):
        ranks = [subprocess.Popen(self.run_words(["true"], "--id-file", self.path("id")), env=self.environment(),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(24)]
        for rank in ranks:
            errors = rank.communicate(timeout=120)[1]
            # On a busy machine a recorder of so many at once may not reply in time: that is said, and no fault of the file.
            others = [line for line in errors.splitlines() if b"the recorder did not reply at the end" not in line]
            self.assertEqual((others, rank.returncode), ([], 0))
        with open(self.path("id")) as file:
            self.assertIn(file.read().strip(), os.listdir(self.home))
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("id.")], [])

    def test_folders_and_files_that_do_not_exist(self):
        nothing = self.path("nothing")
        self.assert_started("--tensorboard", nothing, "--data", nothing, "--counter", f"a:int@{nothing}", "--tag", "a=b", "--note", "n")

    @unittest.skipUnless(shutil.which("strace"), "strace is not here")
    def test_a_file_system_without_fifos(self):
        words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=mknod,mknodat", "-e", "inject=mknod,mknodat:error=EPERM",
                 *self.run_words(["sh", "-c", 'echo "step 1" > "$TRAINSCOPE_PIPE" && exit 7'])]
        done = subprocess.run(words, env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=90)
        if b"ptrace" in done.stderr or b"not permitted" in done.stderr.replace(b"progress: Operation not permitted", b""):
            self.skipTest("tracing is not permitted here: " + done.stderr.decode())
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn(b"progress cannot be reported", done.stderr)


class Mounted(OwnMounts, StorageCase):
    """Homes on a small file system."""
    is_quiet = True

    def setUp(self):
        super().setUp()
        self.mount_home("-t", "tmpfs", "-o", "size=1m", "tmpfs")

    def fill(self):
        with open(os.path.join(self.home, "filler"), "wb", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1 << 8, 1):
                try:
                    while True:
                        if file.write(b"x" * size) < size:
                            break
                except OSError:
                    pass

    def free(self):
        os.unlink(os.path.join(self.home, "filler"))

    def run_words(self, job, *options):
        words = super().run_words(job, *options)
        return words if self.is_quiet else [word for word in words if word != "--quiet"]

    def start_counting(self, every="10ms", quiet=True):
        """A job that counts until it is told to end, with some samples of it on disk."""
        self.is_quiet = quiet
        process = self.start(COUNTING_UNTIL_INPUT, "--every", every, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said = ""
        self.wait_for_samples(20)
        return process

    def wait_for_words(self, process, words):
        """Until this was said."""
        def heard():
            while words not in self.said and select.select([process.stderr], [], [], 0)[0]:
                self.said += os.read(process.stderr.fileno(), 4096).decode()
            return words in self.said
        wait_until(heard)

    def assert_unharmed(self, process):
        """Ends the job; returns all that was said."""
        out, errors = process.communicate(input=b"end\n", timeout=90)
        self.assertEqual((process.returncode, out), (9, lines(len(out.split()))))
        return self.said + errors.decode()

    def assert_runs_unrecorded(self, reason, *options, job="echo out; exit 7"):
        """The job runs without a record, and one message says why."""
        done = self.record(["sh", "-c", job], *options, check=False)
        self.assertEqual((done.returncode, done.stdout), (7, b"out\n"), done.stderr)
        self.assertRegex(done.stderr, rb"\Atrainscope: the job is not recorded: cannot create a run in %s: %s; "
                                      rb"[^\n]*TRAINSCOPE_HOME[^\n]*\n\Z" % (self.home.encode(), reason))
        return done

    def test_full_before_the_job_starts(self):
        self.fill()
        self.assert_runs_unrecorded(b"No space left on device")
        self.assert_runs_unrecorded(b"No space left on device", "--quiet")
        self.assert_runs_unrecorded(b"No space left on device", "--after", f"touch {self.path('after')}",
                                    job='echo step 1 > "$TRAINSCOPE_PIPE"; echo "${TRAINSCOPE_RUN_ID?}out"; exit 7')
        self.assertTrue(os.path.exists(self.path("after")))
        done = self.record(["sleep", "60"], "--for", "300ms", check=False)
        self.assertEqual(done.returncode, 124, done.stderr)
        done = self.record(["sh", "-c", "kill -SEGV $$"], check=False)
        self.assertEqual(done.returncode, -11, done.stderr)
        self.assertEqual(os.listdir(self.home), ["filler"])

    def test_read_only_before_the_job_starts(self):
        subprocess.run(["mount", "-o", "remount,ro", self.home], check=True)
        self.assert_runs_unrecorded(b"Read-only file system")

    def test_a_signal_to_the_group_of_an_unrecorded_job_comes_once(self):
        self.fill()
        job = ("import signal, sys\nseen = []\nsignal.signal(signal.SIGUSR1, lambda *_: seen.append(1))\n"
               "print('ready', flush=True)\nsys.stdin.readline()\nprint(len(seen))")
        process = self.start(job, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        os.killpg(process.pid, 10)
        time.sleep(0.5)  # what is forwarded comes within 30 ms
        self.assertEqual(process.communicate(b"end\n", timeout=60)[0], b"1\n")

    def test_full_and_freed(self):
        process = self.start_counting()
        self.fill()
        self.wait_for_words(process, "paused")
        self.free()
        self.wait_for_words(process, "recording resumed")
        errors = self.assert_unharmed(process)
        self.assertEqual(errors.count("paused"), 1, errors)
        self.assertEqual(errors.count("recording resumed"), 1, errors)
        info = self.assert_ticks_add_up()
        self.assertEqual(info["job"]["exit_code"], 9)
        # What came while the disk was full was kept in memory: nothing is missing.
        self.assert_nothing_lost(info)

    def test_full_until_the_end(self):
        process = self.start_counting(quiet=False)
        before = self.on_disk("system.cpu.time", cpu="all", state="user")["samples"]
        self.fill()
        self.wait_for_words(process, "paused")
        errors = self.assert_unharmed(process)
        self.assertIn("No space left", errors)
        self.assertRegex(errors, r"(?m)^  job +exit code 9$")
        self.assertRegex(errors, r"(?m)^  gap +from .* to the end: the run folder could not be written: No space left on device(; .*)?$")
        info = self.info()
        self.assertEqual((info["job"]["exit_code"], info["job"]["ended_by"]), (9, "exit"))
        self.assertAlmostEqual(info["sampling"]["gaps"][-1]["to_s"], info["run"]["duration_s"], places=6)
        self.assertIn("No space left", info["sampling"]["gaps"][-1]["reason"])
        self.assert_ticks_add_up()
        self.free()
        self.assertIn("could not write its last samples", errors)
        # All that was on disk before it was full is still there.
        self.assertGreaterEqual(len(self.series("system.cpu.time", "cpu=all;state=user")), before)

    def test_full_for_longer_than_memory_lasts(self):
        # 1 ms rows fill the memory for samples in a few seconds; then rows are lost, counted and reported.
        process = self.start_counting("1ms")
        self.fill()
        self.wait_for_words(process, "paused")
        self.wait_for_words(process, "samples are being lost")
        subprocess.run(["mount", "-o", "remount,size=64m", self.home], check=True)
        self.free()
        self.wait_for_words(process, "recording resumed")
        errors = self.assert_unharmed(process)
        self.assertEqual(errors.count("paused"), 1, errors)
        self.assertEqual(errors.count("samples are being lost"), 1, errors)
        self.assertEqual(errors.count("recording resumed"), 1, errors)
        gaps = self.assert_ticks_add_up()["sampling"]["gaps"]
        self.assertTrue(any("samples were lost" in gap["reason"] for gap in gaps), gaps)

    def test_the_run_folder_removed(self):
        process = self.start_counting()
        before = self.on_disk("system.cpu.time", cpu="all", state="user")["samples"]
        for name in os.listdir(self.home):
            remove_while_used(os.path.join(self.home, name))
        self.wait_for_samples(before + 100)  # in a folder that was made again
        errors = self.assert_unharmed(process)
        self.assertLessEqual(errors.count("paused"), 1, errors)
        info = self.assert_ticks_add_up()
        self.assertEqual(info["job"]["exit_code"], 9)

    def test_the_home_removed_for_good(self):
        home = os.path.join(self.home, "inner")
        self.home, whole = home, self.home
        process = self.start_counting()
        remove_while_used(home)
        self.wait_for_words(process, "paused")
        errors = self.assert_unharmed(process)
        self.home = whole
        self.assertEqual(errors.count("paused"), 1, errors)


@unittest.skipUnless(shutil.which("strace"), "strace is not here")
class FailingCalls(StorageCase):
    """Calls of the recorder fail, as on a disk that breaks: no crash, the run opens, the job is unharmed."""

    def inject(self, recorder, call, error, when, names=()):
        """Makes calls of the recorder fail until the tracer is ended; with names only those on these files of the run."""
        folder = os.path.join(self.home, max(os.listdir(self.home)))  # ids sort by time
        paths = [word for name in names for word in ("-P", os.path.join(folder, name))]
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", *paths,
                                   "-e", f"inject={call}:error={error}:when={when}", "-p", str(recorder)],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        def attached():
            with open(f"/proc/{recorder}/status") as file:
                return "TracerPid:\t0\n" not in file.read() or tracer.poll() is not None
        wait_until(attached)
        if tracer.poll() is not None:
            self.skipTest("tracing is not permitted here: " + tracer.communicate()[1].decode())
        return tracer

    def test_every_nth_call_fails(self):
        # A pipe or an eventfd of the recorder does not fail as a disk does.
        names = ["tail", "tail.new", *(f"samples-{number:04}.seg" for number in range(1, 100))]
        for call, error, when in (("write", "EIO", "3+7"), ("write", "ENOSPC", "1+2"), ("openat", "EMFILE", "1+2"),
                                  ("rename", "EIO", "1+2"), ("write", "EINTR", "1+3"), ("ftruncate,write", "EIO", "1+2"),
                                  ("ftruncate,write", "EIO", "2+2")):
            with self.subTest(call=call, error=error, when=when):
                process = self.start(COUNTING_UNTIL_INPUT, "--every", "10ms", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
                first = process.stdout.readline()
                tracer = self.inject(self.recorder(), call, error, when, names)
                try:
                    for _ in range(60):  # at least 1.2 s, of which the first second is written meanwhile
                        first += process.stdout.readline()
                    out, _ = process.communicate(input=b"end\n", timeout=90)
                finally:
                    tracer.terminate()
                    tracer.communicate()
                out = first + out
                self.assertEqual((process.returncode, out), (9, lines(len(out.split()))))
                # Of so short a run most is written when it is closed.
                info = self.assert_ticks_add_up()
                self.assert_nothing_lost(info)
                self.assertGreater(info["sampling"]["samples"], 0)

    def test_read_only_and_back(self):
        process = self.start(COUNTING_UNTIL_INPUT, "--every", "10ms", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        tracer = self.inject(self.recorder(), "write,openat,rename", "EROFS", "1+1")
        self.assertIn(b"paused", self.next_words(process))
        tracer.terminate()
        tracer.communicate()
        self.assertIn(b"recording resumed", self.next_words(process))
        out, errors = process.communicate(input=b"end\n", timeout=90)
        self.assertEqual((process.returncode, errors), (9, b""))
        self.assertEqual(b"0\n" + out, lines(1 + len(out.split())))
        info = self.assert_ticks_add_up()
        self.assert_nothing_lost(info)

    def next_words(self, process):
        wait_until(lambda: select.select([process.stderr], [], [], 0)[0])
        return process.stderr.readline()

    def traced(self, call, when):
        """A recorded job of which the when-th `call` of each thread fails: (what strace wrote down, the run)."""
        log = self.path("calls")
        done = subprocess.run(["strace", "-f", "-qq", "-y", "-o", log, "-e", "trace=openat,write,ftruncate,fsync,fdatasync",
                               "-e", "signal=none", "-e", f"inject={call}:error=EIO:when={when}",
                               *self.run_words(COUNTING % 40, "--every", "10ms")],
                              env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=180)
        if b"PTRACE" in done.stderr.upper():
            self.skipTest("tracing is not permitted here: " + done.stderr.decode())
        self.assertEqual((done.returncode, done.stdout), (9, lines(40)), done.stderr)
        with open(log, encoding="utf-8", errors="replace") as file:
            return [text for _, text in finished_calls(file.read().splitlines())], self.assert_ticks_add_up()

    def test_a_segment_that_cannot_be_synced_is_written_again_and_left_alone(self):
        log, info = self.traced("fdatasync", 1)
        failed = [i for i, line in enumerate(log) if "INJECTED" in line]
        self.assertTrue(failed, "nothing was synced")
        self.assertIn("/samples-0001.seg>", log[failed[0]])
        later = [line for line in log[failed[0] + 1:] if "/samples-0001.seg>" in line and "O_RDONLY" not in line]
        touched = [line for line in later if re.search(r"\b(write|fdatasync)\(", line)]
        self.assertEqual(touched, [], "a file that failed was used again")
        folder = info["run"]["path"]
        self.assertIn("samples-0002.seg", os.listdir(folder))
        self.assert_nothing_lost(info)
        told = self.trainscope("sql", "latest", "select text from events where kind = 'storage'").stdout.decode()
        self.assertIn("sync failed", told)
        self.assertIn("samples-0001.seg", told)

    def test_a_tail_that_cannot_be_synced_begins_anew(self):
        log, info = self.traced("fdatasync", 2)
        failed = [i for i, line in enumerate(log) if "INJECTED" in line]
        self.assertTrue(failed, "nothing was synced")
        self.assertIn("/tail>", log[failed[0]])
        after = "\n".join(log[failed[0] + 1:])
        self.assertIn("/tail.new", after)
        self.assert_nothing_lost(info)


if __name__ == "__main__":
    main()
