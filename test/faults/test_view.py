"""view while the disk of a run is slow: whoever asks for that run waits, nobody else does, and Ctrl-C ends it."""
import os
import shutil
import signal
import subprocess
import threading
import unittest

from trainscope_test import PATIENCE_S, Case, end, main, process_state, wait_until
from web_view import View

JOB = "import time\nfor k in range(1, 6):\n    print(f'step {k} loss {1 / k}', flush=True); time.sleep(0.02)\n"
DELAY_US = 600_000_000  # longer than the test takes


@unittest.skipUnless(shutil.which("strace"), "strace is not installed")
class SlowDisk(Case):
    def test_one_hanging_run_delays_nobody_else(self):
        for name in ("slow", "quick"):
            self.record(JOB, "--name", name)
        slow, quick = (self.info(name)["run"] for name in ("slow", "quick"))
        moved = os.path.join(self.folder, os.path.basename(slow["path"]))  # as on another disk
        os.rename(slow["path"], moved)
        segment = next(os.path.join(moved, name) for name in os.listdir(moved) if name.endswith(".seg"))
        view = View(self, moved)
        # From now on every read of this file hangs.
        log = self.path("strace")
        tracer = subprocess.Popen(["strace", "-f", "-qq", "-o", log, "-P", segment, "-e",
                                   f"inject=read,pread64:delay_enter={DELAY_US}", "-p", str(view.process.pid)],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(end, tracer)
        threads = f"/proc/{view.process.pid}/task"
        wait_until(lambda: tracer.poll() is not None or all(self.is_traced(threads, t) for t in os.listdir(threads)))
        if tracer.poll() is not None:
            self.skipTest("cannot trace: " + tracer.stderr.read().decode())
        answers = []

        def ask():
            try:
                answers.append(view.status(f"/api/run/{slow['id']}/columns?series=0"))
            except OSError:  # the server ended
                pass
        waiting = [threading.Thread(target=ask) for _ in range(40)]  # a browser sends six at once, and again when its page is reloaded
        for thread in waiting:
            thread.start()
        wait_until(lambda: self.is_any_delayed(threads))
        for _ in range(20):
            self.assertEqual(view.status("/api/runs"), 200)
            self.assertEqual(view.status(f"/api/run/{quick['id']}/columns?series=0"), 200)
        self.assertEqual(answers, [])
        view.process.send_signal(signal.SIGINT)
        wait_until(lambda: process_state(view.process.pid) == "Z")
        end(tracer)  # the thread that it holds is gone then too
        self.assertEqual(view.process.wait(timeout=PATIENCE_S), 0)
        for thread in waiting:
            thread.join()

    @staticmethod
    def is_traced(threads, thread):
        try:
            with open(f"{threads}/{thread}/status") as file:
                return next(line for line in file if line.startswith("TracerPid")).split()[1] != "0"
        except OSError:
            return True

    @staticmethod
    def is_any_delayed(threads):
        for thread in os.listdir(threads):
            try:
                with open(f"{threads}/{thread}/stat") as file:
                    if file.read().rpartition(")")[2].split()[0] == "t":
                        return True
            except OSError:
                pass
        return False


if __name__ == "__main__":
    main()
