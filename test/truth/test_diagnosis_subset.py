#!/usr/bin/env python3
"""A minute of the planted jobs (test/diagnosis): `diagnose` is right about them, and never wrong on a busy machine.

What these jobs wait for does not depend on the speed of a disk or on a free core. Beside other load a job may really be
limited by that: then `contended` and `unknown` are admitted too, and no cause is compared. `make truth` has all jobs.
"""
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "diagnosis"))
from planted import MOST_BACKGROUND, Skipped, ask, background, busy_cores, labelled_cases, record, score, stolen  # noqa: E402
from trainscope_test import main  # noqa: E402

SECONDS = 4
SUBSET = (("sleeping", "bare"), ("cpu_one_core", "phases"), ("cpu_one_core", "bare"), ("cpu_quota", "bare"),
          ("noisy_neighbour", "phases"), ("noisy_neighbour", "bare"), ("input_decode_main", "phases"),
          ("input_small_files", "phases"), ("input_slow_worker", "phases"), ("input_slow_mount", "phases"),
          ("periodic_stalls", "phases"))
CASES = {case["name"]: case for case in labelled_cases()}


class Subset(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TRAINSCOPE_TRUTH_DIR", "/var/tmp"))
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def judge(self, name, form):
        case, home = CASES[name], self.folder / "home"
        # The neighbours of this case cannot be told from others while they run.
        before = busy_cores() if name == "noisy_neighbour" else 0
        record(case, form, SECONDS, self.folder, home)
        info, answer = ask(home, "info", f"{name}-{form}"), ask(home, "diagnose", f"{name}-{form}")
        others = max(before, busy_cores()) if name == "noisy_neighbour" else background(info) + stolen(info)
        said = f"{answer['verdict']} ({answer['cause']}), others used {others:.2f} cores"
        if others >= MOST_BACKGROUND * os.cpu_count():
            self.assertIn(answer["verdict"], (case["verdict"], *case["accept"], "contended", "unknown"), said)
        else:
            self.assertEqual(score(case, answer), ("right", []), said)

    def test_verdicts(self):
        skipped = 0
        for name, form in SUBSET:
            with self.subTest(case=name, form=form):
                try:
                    self.judge(name, form)
                except Skipped as reason:
                    skipped += 1
                    print(f"SKIPPED {name}: {reason}")
        if skipped == len(SUBSET):
            self.skipTest("no job can be judged here")


if __name__ == "__main__":
    main()
