"""After the job: whatever happens to the summary, the run folder or the recorder, the job's exit status is returned."""
import datetime
import glob
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time
import unittest

from mounted_home import FreezableHome
from trainscope_test import BIN, Case, command, end, main, processes, wait_until

REPORT_STEPS = """
import os, sys
fd = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
for begin in range(0, %d, 50):
    os.write(fd, b"".join(b"step %%d\\n" %% i for i in range(begin, begin + 50)))
"""


class Status(Case):
    """With the summary, which --quiet would leave out."""

    def run_loud(self, words, **keywords):
        return subprocess.run([BIN, "run", "--", *command(words)], env=self.environment(), stdin=subprocess.DEVNULL,
                              timeout=180, **{"capture_output": True, **keywords})

    def test_little_memory_does_not_cost_the_exit_code(self):
        # Small stacks, so that the recorder's threads fit. Whether the summary fits is not the question: steps are read
        # one by one.
        job = REPORT_STEPS % 200_000 + "sys.exit(7)"
        words = ["sh", "-c", 'ulimit -s 512; ulimit -v 90000; exec "$@"', "sh", BIN, "run", "--", *command(job)]
        done = subprocess.run(words, env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=180)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertNotIn(b"bad_alloc", done.stderr)
        self.assertEqual(self.info()["job"]["exit_code"], 7)

    def test_no_memory_for_the_summary_does_not_cost_the_exit_code(self):
        job = REPORT_STEPS % 200_000 + "print('ready', flush=True); sys.stdin.readline(); sys.exit(7)"
        words = [BIN, "run", "--", *command(job)]
        process = subprocess.Popen(words, env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, bufsize=0)
        self.addCleanup(end, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        # What the supervisor has: less than its child needs to read the run.
        pages = int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[0])
        limit = pages * os.sysconf("SC_PAGESIZE")
        resource.prlimit(process.pid, resource.RLIMIT_AS, (limit, limit))
        _, errors = process.communicate(b"go\n", timeout=60)
        self.assertEqual(process.returncode, 7, errors)
        self.assertIn(b"not enough memory", errors)
        self.assertEqual(self.info()["job"]["exit_code"], 7)

    def test_the_end_is_when_the_job_ended(self):
        # Its last output waits two seconds for a reader, which is not the job's time.
        job = "import os\nos.write(1, bytes(1 << 20))"
        process = self.start(job)
        process.wait(timeout=180)
        end(process)
        run = self.info()["run"]
        began, ended = (datetime.datetime.fromisoformat(run[key].replace("Z", "+00:00")) for key in ("started", "ended"))
        self.assert_between(-0.5, (ended - began).total_seconds() - run["duration_s"], 0.5, "seconds after the job's end")

    def test_a_stderr_that_takes_nothing(self):
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.run_loud(["sh", "-c", "exit 7"], capture_output=False, stderr=full).returncode, 7)
        self.assertEqual(self.run_loud(["sh", "-c", "exit 7"], capture_output=False,
                                       preexec_fn=lambda: os.close(2)).returncode, 7)

    def test_a_command_after_the_job_that_is_killed(self):
        done = self.record(["sh", "-c", "exit 7"], "--after", "kill -KILL $$", check=False)
        self.assertEqual(done.returncode, 7)

    def traced(self, *injections, follow=True):
        """A recorded `exit 7` of which some system calls do as they are told."""
        words = ["strace", *(["-f"] if follow else []), "-qq", "-o", "/dev/null", "-e", "signal=none"]
        for injection in injections:
            words += ["-e", f"inject={injection}"]
        done = subprocess.run([*words, BIN, "run", "--", "sh", "-c", "exit 7"], env=self.environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=180)
        if b"PTRACE" in done.stderr.upper():
            self.skipTest("tracing is not permitted here: " + done.stderr.decode())
        self.assertEqual(done.returncode, 7, done.stderr)
        return done.stderr

    @unittest.skipUnless(shutil.which("strace"), "strace is not here")
    def test_a_slow_disk_is_not_waited_for_where_the_kernel_is_old(self):
        said = self.traced("close_range:error=ENOSYS", "fsync,fdatasync:delay_enter=4000000")
        self.assertNotIn(b"does not respond", said)
        self.assertIn(b"exit code 7", said)

    @unittest.skipUnless(shutil.which("strace"), "strace is not here")
    def test_no_process_is_to_be_had_at_the_end(self):
        # The first ones make the run folder, the recorder and the job.
        self.traced("clone,clone3,fork,vfork:error=EAGAIN:when=4+", follow=False)
        self.assertEqual(self.info()["job"]["exit_code"], 7)

    def test_a_run_folder_that_is_gone(self):
        done = self.run_loud(["sh", "-c", f"rm -r {self.home}/*; exit 7"])
        self.assertEqual(done.returncode, 7, done.stderr)

    def test_orphans_that_end_late_do_not_cost_the_steps(self):
        # Their ends interrupt whatever the supervisor waits for: a child that reads the run, because the recorder counts
        # the steps of 128 senders at most.
        job = REPORT_STEPS % 5000 + """
os.write(fd, b"".join(b"step 1 who=s%d\\n" % i for i in range(140)))
for i in range(1, 150):
    if os.fork() == 0:
        __import__("time").sleep(0.05 + i * 0.005)
        os._exit(0)
os._exit(7)
"""
        done = self.record(job, check=False)
        self.assertEqual(done.returncode, 7)
        listed = json.loads(self.trainscope("list", "--json").stdout)
        self.assertEqual(listed["runs"][0]["steps"], 5000)


class HangingHome(FreezableHome, Case):
    """The home is on a file system that answers nobody, as NFS does when its server is away."""

    def setUp(self):
        super().setUp()
        self.mount_image(32 << 20)

    def thaw(self):
        was_frozen = self.frozen
        super().thaw()
        if was_frozen:
            wait_until(self.is_left)

    def is_left(self):
        names = ("trainscope", "trainscope-rec", "trainscope-end")
        return not any(processes(name, self.home) for name in names)

    def test_the_callers_wait_is_short(self):
        """Two seconds from the end of the job. A busy machine may be late, but not each time."""
        waits = []
        while len(waits) < 10 and not (waits and waits[-1] < 2):
            # Its last output and steps are written when the disk hangs already.
            job = REPORT_STEPS % 5000 + "print('ready', flush=True); sys.stdin.readline(); print('over' * 5000)"
            process = self.start(job, "--every", "20ms", stdin=subprocess.PIPE)
            self.assertEqual(process.stdout.readline(), b"ready\n")
            self.wait_for_samples(20)
            self.freeze()
            asked = time.monotonic()
            process.communicate(b"go\n", timeout=60)
            waits.append(time.monotonic() - asked)
            self.assertEqual(process.returncode, 0)
            self.thaw()
        print(f"\n      {', '.join(f'{wait:.2f} s' for wait in waits)}")
        self.assertLess(min(waits), 2)

    def test_the_job_ends_meanwhile(self):
        job = "import os, sys\nprint('ready', flush=True); sys.stdin.readline(); print('over', flush=True); sys.exit(9)"
        process = subprocess.Popen([BIN, "run", "--every", "20ms", "--", *command(job)], env=self.environment(),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.freeze()
        out, errors = process.communicate(b"go\n", timeout=60)  # while it is frozen: nobody has thawed it
        self.assertTrue(self.frozen)
        self.assertEqual((process.returncode, out), (9, b"over\n"), errors)
        self.assertEqual(errors.count(b"does not respond"), 1, errors)
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.thaw()
        # Nothing is lost: the run was completed behind us.
        info = self.assert_ticks_add_up()
        self.assertEqual((info["job"]["exit_code"], info["job"]["ended_by"]), (9, "exit"))
        self.assertEqual(info["sampling"]["restarts"], 0)
        for gap in info["sampling"]["gaps"]:  # only those that any busy machine causes
            self.assertIn("too busy", gap["reason"])
        self.assertFalse(os.path.exists(os.path.join(info["run"]["path"], "progress")), "the FIFO was left")

    def test_a_recorder_that_waits_for_the_disk_does_nothing_else(self):
        """A thread that used CPU time now and then would make it seem to go on, and the exit status would come later."""
        process = self.start("import sys\nprint('ready', flush=True); sys.stdin.readline()", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        wait_until(lambda: "ts-inventory" in self.threads_of_the_recorder())
        self.freeze()
        process.communicate(b"go\n", timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertIn("ts-write", self.threads_of_the_recorder())
        self.assertNotIn("ts-inventory", self.threads_of_the_recorder())

    def threads_of_the_recorder(self):
        return [pathlib.Path(name).read_text().strip() for pid in processes("trainscope-rec", self.home)
                for name in glob.glob(f"/proc/{pid}/task/*/comm")]

    def test_the_job_is_killed_meanwhile(self):
        process = self.start("import os, signal, sys\nprint('ready', flush=True); sys.stdin.readline(); os.kill(os.getpid(), 9)",
                             stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.freeze()
        process.communicate(b"go\n", timeout=60)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.thaw()
        self.assertEqual(self.info()["job"]["signal"], signal.SIGKILL)

    def test_before_the_job_starts(self):
        self.freeze()
        done = self.record(["touch", self.path("started")], check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"the job is not recorded: cannot create a run in " + self.home.encode(), done.stderr)
        self.assertTrue(os.path.exists(self.path("started")))


if __name__ == "__main__":
    main()
