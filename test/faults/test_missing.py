"""What a machine does not give is absent with its reason; what it gives is recorded, also for users without rights."""
import errno
import os
import shutil
import subprocess
import unittest

from trainscope_test import BIN, IS_ROOT, Case, main, metric, python, wait_until

BURN = python("import time\nwhile time.process_time() < 0.2: pass\ntime.sleep(0.2)")


@unittest.skipUnless(IS_ROOT, "hiding files and other users need root")
class Missing(Case):
    def record_where(self, script, job=BURN):
        """Records a job in a mount namespace, after this shell script; skips when there is none to be had."""
        done = subprocess.run(["unshare", "-m", "sh", "-c", f'set -e; {script}; exec "$@"', "sh", *self.run_words(job)],
                              env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=90)
        if b"unshare" in done.stderr or b"mount:" in done.stderr:
            self.skipTest("cannot be hidden here: " + done.stderr.decode())
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.assert_ticks_add_up()

    def assert_absent(self, info, *names):
        for name in names:
            found = [m for m in info["metrics"] if m["name"] == name]
            self.assertTrue(found and all(m["status"] == "absent" and m["reason"] for m in found), (name, found))

    def assert_there(self, info, *names):
        for name in names:
            found = [m for m in info["metrics"] if m["name"] == name]
            self.assertTrue(found and all(m["status"] == "ok" for m in found), (name, found))

    def test_empty_files(self):
        hidden = {"/proc/meminfo": "system.memory.usage", "/proc/vmstat": "system.paging.faults"}
        info = self.record_where("; ".join(f"mount --bind /dev/null {path}" for path in hidden))
        self.assert_absent(info, *hidden.values())
        self.assert_there(info, "system.cpu.time", "job.cpu.time", "job.memory.usage")

    def test_no_pressure(self):
        empty = self.path("empty")
        os.mkdir(empty)
        if not os.path.isdir("/proc/pressure"):
            self.record(BURN)
            self.assert_absent(self.info(), "system.pressure.time")
            return
        self.assert_absent(self.record_where(f"mount --bind {empty} /proc/pressure"), "system.pressure.time")

    def test_no_sys(self):
        empty = self.path("empty")
        os.mkdir(empty)
        info = self.record_where(f"mount --bind {empty} /sys")
        self.assert_there(info, "system.cpu.time", "job.cpu.time")
        self.assert_absent(info, "hw.temperature", "cgroup.memory.usage")

    def test_proc_of_another_pid_namespace(self):
        """There our pids are those of other processes: their numbers are not the job's."""
        words = ["unshare", "--fork", "--pid", *self.run_words(["sh", "-c", "echo printed; exit 5"])]
        with open(self.path("out"), "wb") as file:
            done = subprocess.run(words, env=self.environment(), stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.PIPE,
                                  timeout=90)
        if b"unshare" in done.stderr:
            self.skipTest("there is no PID namespace to be had: " + done.stderr.decode())
        self.assertEqual(done.returncode, 5, done.stderr)
        info = self.assert_ticks_add_up()
        self.assertEqual(info["job"]["exit_code"], 5)
        self.assert_there(info, "system.cpu.time")
        self.assert_absent(info, "job.cpu.time", "job.memory.usage", "job.process.count", "job.thread.count", "job.context_switches")
        self.assertIn("PID namespace", metric(info, "job.process.count")["reason"])

    def test_no_proc_at_all(self):
        # Nothing can be counted then, and the job still runs and ends as it should.
        empty = self.path("empty")
        os.mkdir(empty)
        done = subprocess.run(["unshare", "-m", "sh", "-c", 'mount --bind "$1" /proc && shift && exec "$@"', "sh", empty,
                               *self.run_words(["sh", "-c", "echo text; exit 6"])],
                              env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=90)
        if done.stderr.startswith(b"unshare: "):
            self.skipTest(f"cannot be hidden here: {done.stderr.decode()}")
        self.assertEqual((done.returncode, done.stdout), (6, b"text\n"), done.stderr)
        self.assert_absent(self.info(), "system.cpu.time")

    def other_user(self):
        """The words before a command of a user without rights, and a program that he may run."""
        os.chmod(self.folder, 0o755)
        os.chmod(self.home, 0o777)
        program = self.path("trainscope")
        shutil.copy(BIN, program)
        os.chmod(program, 0o755)
        return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"], program

    @unittest.skipUnless(shutil.which("setpriv"), "setpriv is not here")
    def test_io_up_to_the_end_of_a_user_without_rights(self):
        """Newer kernels refuse him the numbers of his own process that has ended."""
        user, program = self.other_user()
        for job in ("exec head -c 9000000 /dev/zero", "head -c 9000000 /dev/zero; exit 0"):
            with self.subTest(job):
                subprocess.run([*user, program, "run", "--quiet", "--every", "1h", "--", "sh", "-c", job], env=self.environment(),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=90, cwd="/", check=True)
                self.assert_between(9000000, metric(self.info(), "job.io.bytes", direction="write")["last"], 9100000, "bytes written")

    @unittest.skipUnless(shutil.which("setpriv"), "setpriv is not here")
    def test_a_user_without_rights(self):
        user, program = self.other_user()
        done = subprocess.run([*user, program, "run", "--quiet", "--", "sh", "-c", "id -u; dd if=/dev/zero of=/dev/null bs=64k count=100 2>/dev/null; sleep 0.3; exit 4"],
                              env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=90, cwd="/")
        self.assertEqual((done.returncode, done.stdout), (4, b"65534\n"), done.stderr)
        info = self.assert_ticks_add_up()
        self.assert_there(info, "system.cpu.time", "job.cpu.time", "job.io.bytes", "job.memory.usage")
        self.assertGreaterEqual(metric(info, "job.io.bytes", direction="read")["last"], 100 << 16)
        # A job of root's is not theirs to look into.
        done = subprocess.run([*user, program, "attach", "1"], env=self.environment(), capture_output=True, timeout=90, cwd="/")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"cannot read process 1: it belongs to another user", done.stderr)


@unittest.skipUnless(IS_ROOT, "making a cgroup needs root")
class Limited(Case):
    """Limits of the job's cgroup are told as limits, whichever version of cgroups the machine has."""

    def cgroup(self, limit):
        """A new cgroup for memory with this limit: its folder, removed once nobody is in it."""
        name = f"trainscope-test-{os.getpid()}-{self._testMethodName}"
        for parent, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            folder = os.path.join(parent, name)
            try:
                os.mkdir(folder)
            except OSError:
                continue
            self.addCleanup(self.remove_cgroup, folder)
            try:
                # "r+" makes no file: in a plain folder there is none, and none would limit anything.
                with open(os.path.join(folder, file), "r+") as f:
                    f.write(str(limit))
                return folder
            except OSError:
                continue
        self.skipTest("no memory cgroup can be made here")

    def remove_cgroup(self, folder):
        """What settles the run on the disk is in it for a moment after the run."""
        def is_removed():
            try:
                os.rmdir(folder)
            except OSError as error:
                if error.errno != errno.EBUSY:
                    raise
                return False
            return True
        wait_until(is_removed)

    def test_memory_limit(self):
        folder = self.cgroup(200 << 20)
        job = python("block = bytearray(80 << 20); block[::4096] = b'x' * len(block[::4096]); import sys; sys.stdin.read()")
        process = self.start(["sh", "-c", f'echo $$ > {folder}/cgroup.procs; exec "$@"', "sh", BIN, "run", "--quiet", "--name", "inner",
                              "--", *job], stdin=subprocess.PIPE)
        wait_until(lambda: (self.on_disk("cgroup.memory.usage", "inner").get("max") or 0) >= 80 << 20)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        info = self.info("inner")
        self.assertEqual(metric(info, "cgroup.memory.limit")["last"], 200 << 20)
        self.assert_between(80 << 20, metric(info, "cgroup.memory.usage")["max"], 200 << 20, "cgroup.memory.usage")

    def test_out_of_memory_ends_the_job_and_not_the_record(self):
        folder = self.cgroup(64 << 20)
        job = python("block = bytearray(400 << 20); block[::4096] = b'x' * len(block[::4096])")
        done = self.record(["sh", "-c", f'echo $$ > {folder}/cgroup.procs; exec "$@"', "sh", BIN, "run", "--quiet", "--name", "inner", "--", *job], check=False)
        info = self.info("inner")
        self.assertNotEqual(done.returncode, 0)
        self.assertTrue(info["job"]["ended_by"] in ("signal", "exit"), info["job"])


if __name__ == "__main__":
    main()
