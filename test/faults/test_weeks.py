"""A recorder that has been running for long needs no more memory and no more files than at first."""
# A thousand ticks a second beside a job that never stops starting processes: each second wears it as minutes do at 10 Hz.
# Thirty days of samples, the writer alone: src/record/sample/weeks_test.cpp.
import os
import pathlib
import re
import subprocess

from trainscope_test import LONG, Case, main, wait_until

FORKING = """
import os, select, sys
while not select.select([sys.stdin], [], [], 0.01)[0]:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
"""
FIRST, LATER = 4000, 200_000 if LONG else 12_000


class Weeks(Case):
    def test_memory_and_files_stay_the_same(self):
        process = self.start(FORKING, "--every", "1ms", stdin=subprocess.PIPE)
        recorder = self.recorder()
        wait_until(lambda: self.on_disk().get("samples", 0) >= FIRST, 300)
        memory, files = self.memory(recorder), max(self.files(recorder) for _ in range(20))
        wait_until(lambda: self.on_disk().get("samples", 0) >= LATER, 3600 if LONG else 300)
        # A few files are open for a moment only, those of processes that have just ended; hundreds have ended since.
        self.assertLessEqual(min(self.files(recorder) for _ in range(20)), files + 50)
        self.assertLessEqual(self.memory(recorder), memory + (4 << 20))
        process.communicate(input=b"end\n", timeout=60)
        self.assertEqual(process.returncode, 0)
        info = self.assert_ticks_add_up()
        self.assertEqual(info["sampling"]["restarts"], 0)

    def memory(self, pid):
        """What it has to itself: the ring is shared, and in use only as far as it was filled."""
        return int(re.search(r"RssAnon:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) << 10

    def files(self, pid):
        return len(os.listdir(f"/proc/{pid}/fd"))


if __name__ == "__main__":
    main()
