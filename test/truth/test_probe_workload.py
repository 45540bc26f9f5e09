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
        """Steps are computed, not slept: the input takes 60 ms longer. How long computing takes depends on what else the
        machine does, so it is measured before and after, and the probe is to agree with one of these or lie between."""
        free, usual = [self.step_s("--resident")], [self.step_s(*SLOW)]
        document, effects = self.probe(self.workload("--seconds", "90", *SLOW), "--for", "40s" if LONG else "15s")
        free.append(self.step_s("--resident"))
        usual.append(self.step_s(*SLOW))
        truths = [one / other for one in free for other in usual]
        effect = effects["input"]
        nearest = min(max(truths), max(min(truths), effect["ratio"]))
        self.assert_agrees(effect, nearest, TOLERANCE)
        self.assertEqual([], [note for note in self.info(document["run"]["id"])["run"]["notes"] if "--instrument" in note])

    @unittest.skipUnless(LONG, "takes 25 s: TRAINSCOPE_LONG=1")
    def test_input_that_is_generated_in_time_does_not_limit(self):
        _, effects = self.probe(self.workload("--seconds", "60"), "--for", "25s")
        self.assertNotEqual(effects["input"]["verdict"], "limiting")


if __name__ == "__main__":
    main()
