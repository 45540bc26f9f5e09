"""What perf counts of a job is what the job did: its whole tree, from its first instruction on."""
from trainscope_test import Case, main, metric, total

BURN = """
import os, sys, time
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
children = []
for _ in range(2):
    pid = os.fork()
    if pid == 0:
        burn(0.5)
        os._exit(0)
    children.append(pid)
burn(0.25)
for pid in children:
    os.waitpid(pid, 0)
"""


class Perf(Case):
    def counted(self, name):
        """The metric in the mode that this machine allows; skips the test where there is none."""
        info = self.info()
        found = [m for m in info["metrics"] if m["name"] == name]
        if found[0]["status"] == "absent":
            self.skipTest(found[0]["reason"])
        return info, found[0]

    def test_is_only_done_when_asked_for(self):
        self.record("pass")
        clock = metric(self.info(), "perf.task_clock")
        self.assertEqual(clock["status"], "absent")
        self.assertIn("--perf", clock["remedy"])

    def test_time_of_the_tree(self):
        self.record(BURN, "--every", "100ms", "--perf")
        info, clock = self.counted("perf.task_clock")
        self.assert_between(1.25, clock["last"], 2.5, "perf.task_clock")
        self.assertAlmostEqual(clock["last"], total(info, "job.cpu.time"), delta=0.1)

    def test_a_short_job_is_counted_from_its_exec_on(self):
        self.record("import sys; x = sum(range(100000))", "--perf")
        info, clock = self.counted("perf.task_clock")
        self.assertGreater(clock["last"], 0.001)
        self.assertAlmostEqual(clock["last"], total(info, "job.cpu.time"), delta=0.05)
        faults = [m for m in info["metrics"] if m["name"] == "perf.page_faults"][0]
        self.assertGreater(faults["last"], 100)

    def test_instructions_a_cycle(self):
        self.record(BURN, "--every", "100ms", "--perf")
        info, cycles = self.counted("perf.cycles")
        mode = cycles["labels"]["mode"]
        ipc = metric(info, "perf.ipc", mode=mode)
        self.assertTrue(ipc["derived"])
        self.assert_between(0.05, ipc["mean"], 10, "perf.ipc")


if __name__ == "__main__":
    main()
