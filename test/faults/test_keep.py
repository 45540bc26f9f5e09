"""Files of --keep when a disk is full or does not respond: the job's exit status comes in time, and the run is complete."""
import contextlib
import os
import select
import subprocess

from mounted_home import FreezableHome, OwnMounts
from trainscope_test import BIN, PATIENCE_S, Case, command, main, processes, wait_until


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


class SlowCopy(Case):
    """Copying takes longer than the exit status may wait: the copy is written into a pipe, and waits for the test to read it."""
    JOB = """
import os, sys
copy = os.path.join(os.path.dirname(os.environ["TRAINSCOPE_PIPE"]), "kept", "0001")
os.mkdir(os.path.dirname(copy)); os.mkfifo(copy)
with open("made", "w") as file: file.write("content")
print(copy, flush=True)
"""

    def let_go(self, path):
        """Of a copy that still waits, when a test has failed."""
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))

    def read_copy(self, path):
        """What is copied, once it is."""
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as pipe:
            self.assertTrue(select.select([pipe], [], [], PATIENCE_S)[0], "nothing is copied")
            return pipe.read()

    def kept(self):
        return [file["path"] for file in self.info()["files"]]

    def assert_copied_later(self, path):
        self.assertEqual(self.kept(), [])
        self.assertEqual(self.read_copy(path), b"content")
        wait_until(lambda: self.kept() == ["made"])

    def test_is_not_waited_for(self):
        done = self.record(self.JOB + "sys.exit(7)", "--keep", "made", cwd=self.folder, check=False)
        self.addCleanup(self.let_go, done.stdout.strip())
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn(b"the files of --keep are still being copied in the background", done.stderr)
        self.assert_copied_later(done.stdout.strip())

    def test_of_an_orphaned_run_delays_no_output(self):
        # The daemon that the job leaves prints while the copy hangs.
        job = self.JOB + """
os.read(0, 4)
if os.fork() == 0:
    os.read(0, 9); os.write(1, b"late\\n")
"""
        process = self.start(job, "--keep", "made", cwd=self.folder, stdin=subprocess.PIPE)
        path = process.stdout.readline().strip()
        self.addCleanup(self.let_go, path)
        process.kill()
        os.write(process.stdin.fileno(), b"end\n")
        wait_until(lambda: self.info()["job"]["ended_by"] == "unknown")
        os.write(process.stdin.fileno(), b"print\n")
        self.assertTrue(select.select([process.stdout], [], [], PATIENCE_S)[0], "the output waits for the copy")
        self.assertEqual(process.stdout.readline(), b"late\n")
        self.assert_copied_later(path)


if __name__ == "__main__":
    main()
