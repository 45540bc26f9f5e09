"""`probe` of the built-in job: slow input is proven, with the effect of input that really is free, and generated input is not."""
# ctest-timeout: 900
import csv
import io
import unittest

from probed_run import ProbedRun
from trainscope_test import LONG, main

TOLERANCE = 0.05  # of the ratio
SLOW = ("--input", "slow:60ms")


class Workload(ProbedRun):
    def step_s(self, *options):
        self.record(self.workload("--steps", "200" if LONG else "60", *options))
        rows = self.trainscope("sql", "latest", "select avg(duration_s) from steps where step > 20").stdout.decode()
        return float(list(csv.reader(io.StringIO(rows)))[1][0])

    def test_slow_input_is_proven(self):
        """Steps are computed, not slept: the input takes 60 ms longer."""
        truth = self.step_s("--resident") / self.step_s(*SLOW)
        _, effects = self.probe(self.workload("--seconds", "90", *SLOW), "--for", "40s" if LONG else "15s")
        self.assert_agrees(effects["input"], truth, TOLERANCE)

    @unittest.skipUnless(LONG, "takes 25 s: TRAINSCOPE_LONG=1")
    def test_input_that_is_generated_in_time_does_not_limit(self):
        _, effects = self.probe(self.workload("--seconds", "60"), "--for", "25s")
        self.assertNotEqual(effects["input"]["verdict"], "limiting")


if __name__ == "__main__":
    main()
