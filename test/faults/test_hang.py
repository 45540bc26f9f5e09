"""The run folder's file system hangs: sampling goes on into memory, what memory cannot hold is a gap with its reason."""
import json
import os
import select
import subprocess
import time

from mounted_home import FreezableHome
from trainscope_test import COUNTING_UNTIL_INPUT, Case, main, wait_until


class Hanging(FreezableHome, Case):
    """The home can be frozen."""

    def setUp(self):
        super().setUp()
        self.mount_image(64 << 20)

    def begin(self, every):
        process = self.start(COUNTING_UNTIL_INPUT, "--every", every, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        wait_until(lambda: self.samples_until() > 0)  # the first second is on disk
        with open(os.path.join(self.info()["run"]["path"], "manifest.json")) as file:
            self.zero_s = json.load(file)["zero_monotonic_ns"] / 1e9
        return process

    def samples_until(self):
        """The time of the last sample on disk, 0 before there is one."""
        done = self.trainscope("sql", "latest", "select max(time_s) from samples where metric = 'system.cpu.time'", check=False)
        last = done.stdout.split()[-1:] if done.returncode == 0 else []
        return float(last[0]) if last and last[0] != b"max(time_s)" else 0

    def events(self, kind):
        text = self.trainscope("sql", "latest", f"select text from events where kind = '{kind}'").stdout.decode()
        return text.splitlines()[1:]

    def test_what_memory_holds_is_not_lost(self):
        process = self.begin("20ms")
        frozen = self.freeze()
        # The job is not held up: it writes line after line, for longer than a disk may take for a second's worth.
        while time.monotonic() < frozen + 4.5:
            process.stdout.readline()
        thawed = self.thaw()
        wait_until(lambda: self.samples_until() > thawed - self.zero_s)
        rest = process.communicate(input=b"end\n", timeout=90)[1].decode()
        self.assertEqual(process.returncode, 9)
        info = self.assert_ticks_add_up()
        meanwhile = [t for t, _ in self.series("system.cpu.time", "cpu=all;state=user")
                     if frozen < t + self.zero_s < thawed]
        self.assertGreater(len(meanwhile), 0, "nothing was sampled while the disk hung")
        self.assertEqual([g for g in info["sampling"]["gaps"] if "could not be written" in g["reason"]], [])
        self.assertTrue(any("did not respond" in text for text in self.events("storage")), self.events("storage"))
        self.assertEqual(rest, "")

    def test_what_memory_cannot_hold_is_a_gap_with_its_reason(self):
        process = self.begin("1ms")
        self.freeze()
        wait_until(lambda: select.select([process.stderr], [], [], 0)[0])  # the first sample is lost
        said = process.stderr.readline().decode()
        self.assertIn("the run folder does not respond", said)
        self.assertIn("the job is still running", said)
        for _ in range(10):
            process.stdout.readline()
        thawed = self.thaw()
        wait_until(lambda: self.samples_until() > thawed - self.zero_s + 0.5)
        process.communicate(input=b"end\n", timeout=90)
        self.assertEqual(process.returncode, 9)
        info = self.assert_ticks_add_up()
        self.assertTrue(any("could not be written" in g["reason"] for g in info["sampling"]["gaps"]), info["sampling"]["gaps"])
        self.assertEqual(info["sampling"]["restarts"], 0)


if __name__ == "__main__":
    main()
