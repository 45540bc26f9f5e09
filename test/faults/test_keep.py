"""Files of --keep when a disk is full or does not respond: the job's exit status comes in time, and the run is complete."""
import os
import pathlib
import shutil
import subprocess
import unittest

from mounted_home import FreezableHome, OwnMounts
from trainscope_test import BIN, Case, command, end, main, processes, wait_until


class FullDisk(OwnMounts, Case):
    def test_is_a_warning(self):
        self.mount_home("-t", "tmpfs", "-o", "size=24m", "tmpfs")
        job = "import sys\nopen('a', 'wb').write(bytes(20 << 20)); open('b', 'wb').write(b'x'); sys.exit(7)"
        done = self.record(job, "--keep", "[ab]", cwd=self.folder, check=False)
        self.assertEqual(done.returncode, 7)
        self.assertIn(b"a: the disk of the run is almost full", done.stderr)
        info = self.info()
        self.assertEqual(info["job"]["exit_code"], 7)
        self.assertEqual([file["path"] for file in info["files"]], ["b"])


class HangingFolder(FreezableHome, Case):
    """The folder that the files are copied to does not respond."""

    def setUp(self):
        super().setUp()
        self.mount_image(64 << 20)

    def test_the_exit_status_comes_and_the_files_later(self):
        job = "import sys\nopen('made', 'w').write('x')\nprint('ready', flush=True); sys.stdin.readline(); sys.exit(9)"
        process = subprocess.Popen([BIN, "run", "--quiet", "--keep", "made", "--", *command(job)], cwd=self.folder,
                                   env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.freeze()
        _, errors = process.communicate(b"go\n", timeout=60)  # while it is frozen
        self.assertTrue(self.frozen)
        self.assertEqual(process.returncode, 9, errors)
        self.assertEqual(errors.count(b"does not respond"), 1, errors)
        self.thaw()
        wait_until(lambda: not any(processes(name, self.home) for name in ("trainscope-rec", "trainscope-end")))
        self.assertEqual([file["path"] for file in self.info()["files"]], ["made"])


@unittest.skipUnless(shutil.which("strace"), "strace is not here")
class SlowCopy(Case):
    """Copying takes longer than the exit status may wait."""

    def test_is_not_waited_for(self):
        # Only the process that copies asks how much space is left on an open file's disk.
        words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "signal=none", "-e", "inject=fstatfs:delay_enter=3500000"]
        job = ["sh", "-c", "echo x >made; exit 7"]
        done = subprocess.run([*words, BIN, "run", "--quiet", "--keep", "made", "--", *job], cwd=self.folder,
                              env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        if b"PTRACE" in done.stderr.upper():
            self.skipTest("tracing is not permitted here: " + done.stderr.decode())
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn(b"the files of --keep are still being copied in the background", done.stderr)
        wait_until(lambda: [file["path"] for file in self.info()["files"]] == ["made"])

    def test_of_an_orphaned_run_delays_no_output(self):
        # The daemon that the job leaves prints while the copy hangs.
        job = """
import os
open("made", "w").close(); os.write(1, b"ready\\n"); os.read(0, 9)
if os.fork() == 0:
    os.read(0, 9); os.write(1, b"late\\n")
"""
        process = self.start(job, "--keep", "made", cwd=self.folder, stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        recorder = self.recorder()
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fstatfs",
                                   "-e", "inject=fstatfs:delay_enter=20000000", "-p", str(recorder)], stderr=subprocess.PIPE)
        self.addCleanup(end, tracer)
        wait_until(lambda: "TracerPid:\t0\n" not in pathlib.Path(f"/proc/{recorder}/status").read_text()
                   or tracer.poll() is not None)
        if tracer.poll() is not None:
            self.skipTest("tracing is not permitted here: " + tracer.communicate()[1].decode())
        process.kill()
        os.write(process.stdin.fileno(), b"end\n")
        wait_until(lambda: processes("trainscope-end", self.home))
        os.write(process.stdin.fileno(), b"print\n")
        self.assertEqual(process.stdout.readline(), b"late\n")
        self.assertEqual(self.info()["files"], [])
        tracer.terminate()
        wait_until(lambda: [file["path"] for file in self.info()["files"]] == ["made"])


if __name__ == "__main__":
    main()
