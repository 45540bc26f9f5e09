#!/usr/bin/env python3
"""Photographs whose subject is known are named rightly by EfficientNet-Lite0.

usage: label_test.py PATH-OF-trainscope-workload
Exits 77 where the weights are neither fetched nor can be (scripts/fetch-weights, 34 MB).
"""

import os
import re
import subprocess
import unittest

from support import NUMBER, cannot_run, run, take_program

FETCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/fetch-weights")
SCORE = re.compile(r"(.*) \(score=([01]\.\d{5})\)")

home = ""


def fetch():
    """The folder of the weights, or the reason why there is none."""
    if not os.access(FETCH, os.X_OK):
        cannot_run(f"{FETCH} is not there")
    try:
        done = subprocess.run([FETCH], text=True, capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        cannot_run("scripts/fetch-weights took longer than two minutes")
    if done.returncode != 0:
        cannot_run(f"no weights, and they cannot be fetched: {done.stderr.strip()[-300:]}")
    return done.stdout.strip()


class Label(unittest.TestCase):
    def best(self, photograph, *options):
        result = run("label", os.path.join(home, "photographs", photograph), "--weights",
                     os.path.join(home, "efficientnet_lite0.safetensors"), "--threads", "1",
                     "--repeat", "2", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        *names, times = result.stdout.splitlines()
        self.assertRegex(times, rf"^read {NUMBER} ms decode {NUMBER} ms "
                                rf"first call {NUMBER} ms warm call {NUMBER} ms$")
        return [SCORE.fullmatch(line).groups() for line in names]

    def test_known_subjects_are_named(self):
        # ImageNet has no class for every thing: a rocket is a missile, a motorcycle a moped.
        for photograph, names in (("chelsea.png", r"cat"), ("coffee.png", r"espresso|cup"),
                                  ("rocket.jpg", r"missile|space shuttle"),
                                  ("motorcycle_left.png", r"moped|motor scooter")):
            best = self.best(photograph)
            self.assertEqual(len(best), 5)
            self.assertRegex(best[0][0], names)
            scores = [float(score) for _, score in best]
            self.assertEqual(scores, sorted(scores, reverse=True))
            self.assertLessEqual(sum(scores), 1.0001)

    def test_fewer_names(self):
        self.assertEqual(len(self.best("rocket.jpg", "--top", "2")), 2)

    def test_bad_input_exits_2_and_names_it(self):
        weights = os.path.join(home, "efficientnet_lite0.safetensors")
        result = run("label", __file__, "--weights", weights)
        self.assertEqual(result.returncode, 2)
        self.assertIn(__file__, result.stderr)
        photograph = os.path.join(home, "photographs", "rocket.jpg")
        result = run("label", photograph, "--weights", photograph)
        self.assertEqual(result.returncode, 2)
        self.assertIn("rocket.jpg", result.stderr)
        result = run("label", photograph, "--weights", weights, "--model", "resnet50")
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    take_program()
    home = fetch()
    unittest.main()
