"""The run folder fails in every way a disk can: the job does not notice, one message says so, recording resumes."""
import os
import shutil
import subprocess
import time
import unittest

from trainscope_test import IS_ROOT, Case, main, wait_until

COUNTING = """
import os, sys, time
for i in range(%d):
    print(i, flush=True); time.sleep(0.1)
sys.exit(9)
"""


def lines(count):
    return b"".join(b"%d\n" % i for i in range(count))


class Refused(Case):
    def test_a_home_that_cannot_be_written_starts_nothing(self):
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
            self.assertEqual((rank.communicate(timeout=120)[1], rank.returncode), (b"", 0))
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


@unittest.skipUnless(IS_ROOT, "mounting needs root")
class Mounted(Case):
    """Homes on a small file system, mounted in a namespace of this test's own."""

    @classmethod
    def setUpClass(cls):
        # The mounts below are this process's alone; without the right to that, skip.
        libc = __import__("ctypes").CDLL(None, use_errno=True)
        if libc.unshare(0x00020000) != 0 or subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True).returncode:
            raise unittest.SkipTest("no mount namespace here")

    def setUp(self):
        super().setUp()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", self.home], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.home], capture_output=True)

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

    def start_counting(self, count, *options):
        process = self.start(COUNTING % count, "--every", "10ms", *options, stderr=subprocess.PIPE)
        process.stdout.readline()
        return process

    def assert_unharmed(self, process, count):
        out, errors = process.communicate(timeout=90)
        self.assertEqual((process.returncode, b"0\n" + out), (9, lines(count)))
        return errors.decode()

    def test_full_and_freed(self):
        process = self.start_counting(50)
        time.sleep(1.2)
        self.fill()
        time.sleep(2.2)
        self.free()
        errors = self.assert_unharmed(process, 50)
        self.assertEqual(errors.count("paused"), 1, errors)
        self.assertEqual(errors.count("recording goes on"), 1, errors)
        info = self.assert_ticks_add_up()
        self.assertEqual(info["job"]["exit_code"], 9)
        # What came while the disk was full was kept in memory: nothing is missing.
        self.assertLess(info["sampling"]["missed"], 0.2 * info["sampling"]["samples"])

    def test_full_until_the_end(self):
        process = self.start_counting(30)
        time.sleep(1.2)
        self.fill()
        errors = self.assert_unharmed(process, 30)
        self.assertIn("No space left", errors)
        self.free()
        self.assertIn("could not write its last samples", errors)
        # All that was on disk before it was full is still there.
        times = [t for t, _ in self.series("system.cpu.time", "cpu=all;state=user")]
        self.assertGreater(max(times), 0.8)
        self.assertGreater(len(times), 40)

    def test_full_for_longer_than_memory_lasts(self):
        # 1 ms rows fill the memory for samples in a few seconds; then rows are lost, counted and told.
        process = self.start(COUNTING % 120, "--every", "1ms", stderr=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(1)
        self.fill()
        time.sleep(7)
        subprocess.run(["mount", "-o", "remount,size=64m", self.home], check=True)
        self.free()
        errors = self.assert_unharmed(process, 120)
        self.assertEqual(errors.count("paused"), 1, errors)
        self.assertEqual(errors.count("recording goes on"), 1, errors)
        self.assert_ticks_add_up()

    def test_the_run_folder_removed(self):
        process = self.start_counting(50)
        time.sleep(1.2)
        for name in os.listdir(self.home):
            shutil.rmtree(os.path.join(self.home, name))
        errors = self.assert_unharmed(process, 50)
        self.assertLessEqual(errors.count("paused"), 1, errors)
        info = self.assert_ticks_add_up()
        self.assertEqual(info["job"]["exit_code"], 9)
        self.assertGreater(info["sampling"]["samples"], 200)

    def test_the_home_removed_for_good(self):
        home = os.path.join(self.home, "inner")
        process = subprocess.Popen(self.run_words(COUNTING % 40, "--every", "10ms"), env=self.environment(TRAINSCOPE_HOME=home),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(1.2)
        shutil.rmtree(home)
        errors = self.assert_unharmed(process, 40)
        self.assertEqual(errors.count("paused"), 1, errors)


@unittest.skipUnless(shutil.which("strace"), "strace is not here")
class FailingCalls(Case):
    """Calls of the recorder fail, as on a disk that breaks: no crash, the run opens, the job is unharmed."""

    def inject(self, recorder, call, error, when):
        """Makes calls of the recorder fail until the tracer is ended."""
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
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
        for call, error, when in (("write", "EIO", "3+7"), ("write", "ENOSPC", "1+2"), ("openat", "EMFILE", "3+5"),
                                  ("rename", "EIO", "1+2"), ("write", "EINTR", "1+3"), ("ftruncate,write", "EIO", "2+2")):
            with self.subTest(call=call, error=error, when=when):
                process = self.start(COUNTING % 18, "--every", "10ms", stderr=subprocess.PIPE)
                process.stdout.readline()
                tracer = self.inject(self.recorder(), call, error, when)
                try:
                    out, _ = process.communicate(timeout=90)
                finally:
                    tracer.terminate()
                    tracer.communicate()
                self.assertEqual((process.returncode, b"0\n" + out), (9, lines(18)))
                self.assert_ticks_add_up()

    def test_read_only_and_back(self):
        process = self.start(COUNTING % 60, "--every", "10ms", stderr=subprocess.PIPE)
        process.stdout.readline()
        tracer = self.inject(self.recorder(), "write,openat,rename", "EROFS", "1+1")
        time.sleep(2.5)
        tracer.terminate()
        tracer.communicate()
        out, errors = process.communicate(timeout=90)
        self.assertEqual((process.returncode, b"0\n" + out), (9, lines(60)))
        self.assertEqual(errors.count(b"paused"), 1, errors)
        self.assertEqual(errors.count(b"recording goes on"), 1, errors)
        info = self.assert_ticks_add_up()
        self.assertLess(info["sampling"]["missed"], 0.2 * info["sampling"]["samples"])


if __name__ == "__main__":
    main()
