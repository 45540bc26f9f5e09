"""A home on a file system of the test's own, in a mount namespace of its own; one kind can be frozen."""
import ctypes
import shutil
import subprocess
import time
import unittest

from trainscope_test import IS_ROOT

CLONE_NEWNS = 0x00020000
FREEZING = ("mkfs.ext4", "fsfreeze", "mount")


@unittest.skipUnless(IS_ROOT, "mounting needs root")
class OwnMounts(unittest.TestCase):
    """What is mounted here is this process's alone; without the right to that, the tests are skipped."""

    @classmethod
    def setUpClass(cls):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNS) != 0 or subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True).returncode:
            raise unittest.SkipTest("no mount namespace here")

    def mount_home(self, *words):
        done = subprocess.run(["mount", *words, self.home], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest("no such mount here: " + done.stderr)
        self.addCleanup(subprocess.run, ["umount", "-l", self.home], capture_output=True)


@unittest.skipUnless(all(shutil.which(tool) for tool in FREEZING), f"needs {', '.join(FREEZING)}")
class FreezableHome(OwnMounts):
    """The home is an ext4 that answers nobody while it is frozen, as NFS does when its server is away."""
    frozen = False

    def mount_image(self, size_bytes):
        image = self.path("image")
        with open(image, "wb") as file:
            file.truncate(size_bytes)
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True, capture_output=True)
        self.mount_home("-o", "loop,noatime", image)
        self.addCleanup(self.thaw)

    def freeze(self):
        """Whatever is written from now on waits."""
        done = subprocess.run(["fsfreeze", "-f", self.home], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest("cannot be frozen here: " + done.stderr)
        self.frozen = True
        return time.monotonic()

    def thaw(self):
        now = time.monotonic()
        if self.frozen:
            subprocess.run(["fsfreeze", "-u", self.home], check=True)
            self.frozen = False
        return now
