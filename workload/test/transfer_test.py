#!/usr/bin/env python3
"""A new last layer on a trunk that stays: three colours, told apart by an untrained ResNet-20's features.

usage: transfer_test.py PATH-OF-trainscope-workload
"""

import hashlib
import os
import re
import tempfile
import unittest

from images import write_folder
from events import read_events
from support import NUMBER, run, run_with_pipe, take_program

COUNTS = re.compile(r"(?m)^images (\d+) classes 3 training (\d+) validation (\d+) test (\d+)$")
FILLED = re.compile(rf"(?m)^bottlenecks computed (\d+) cached (\d+) seconds {NUMBER}$")


def set_of(name, validation=10, test=10):
    """retrain.py's rule."""
    percent = int(hashlib.sha1(name.encode()).hexdigest(), 16) % 2**27 * (100 / (2**27 - 1))
    return ("validation" if percent < validation
            else "test" if percent < validation + test else "training")


class Transfer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.home = folder.name
        cls.trunk = f"{cls.home}/trunk"
        made = run("train", "--model", "cifar_resnet20", "--data", "synthetic", "--steps", "3",
                   "--threads", "1", "--export", cls.trunk)
        if made.returncode != 0:
            raise AssertionError(made.stderr)
        cls.images = f"{cls.home}/images"
        os.mkdir(cls.images)
        write_folder(cls.images, 50)

    def transfer(self, *options, folder=None):
        arguments = ("transfer", folder or self.images, "--weights", self.trunk, "--threads", "1",
                     "--steps", "60", *options)
        with tempfile.TemporaryDirectory() as place:
            result, lines = run_with_pipe(place, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout, lines

    def test_learns_with_the_best_of_several_rates_and_tells_its_phases(self):
        out, lines = self.transfer("--lr", "0.000001,0.3", "--misclassified")
        tried = re.findall(rf"(?m)^rate (\S+) validation accuracy {NUMBER}$", out)
        self.assertEqual([rate for rate, _ in tried], ["1e-06", "0.3"])
        images, accuracy, rate = re.search(rf"(?m)^test images (\d+) accuracy {NUMBER} rate (\S+)$",
                                           out).groups()
        # How well so few images are told apart is luck. The rate is the first of the best; the accuracy is that of
        # the images that are not listed as misclassified.
        self.assertEqual(rate, max(tried, key=lambda one: float(one[1]))[0])
        wrong = len(re.findall(r"(?m)^misclassified ", out))
        self.assertAlmostEqual(float(accuracy), 1 - wrong / int(images), delta=6e-5)
        edges = [line.split()[:2] for line in lines if line.startswith(("begin", "end"))]
        self.assertEqual(edges, [["begin", "bottlenecks"], ["end", "bottlenecks"],
                                 ["begin", "train"], ["end", "train"]])
        self.assertEqual(sum(line.startswith("step ") for line in lines), 120)

    def test_split_is_that_of_retrain_py_and_moves_with_the_folder(self):
        names = [f"{colour}/{i}.png" for colour in ("red", "green", "blue") for i in range(50)]
        sets = [set_of(name) for name in names]
        expected = ("150", *(str(sets.count(x)) for x in ("training", "validation", "test")))
        self.assertEqual(COUNTS.search(self.transfer()[0]).groups(), expected)
        moved = f"{self.home}/moved"
        os.rename(self.images, moved)
        try:
            out, _ = self.transfer(folder=moved)
        finally:
            os.rename(moved, self.images)
        self.assertEqual(COUNTS.search(out).groups(), expected)

    def test_cache_is_used_until_an_image_changes_or_is_damaged(self):
        cache = f"{self.home}/cache"
        self.assertEqual(FILLED.search(self.transfer("--cache", cache)[0]).groups()[:2], ("150", "0"))
        self.assertEqual(FILLED.search(self.transfer("--cache", cache)[0]).groups()[:2], ("0", "150"))
        os.replace(f"{self.images}/red/1.png", f"{self.home}/kept")
        with open(f"{self.images}/red/1.png", "wb") as file, open(f"{self.home}/kept", "rb") as old:
            file.write(old.read() + b"more")
        damaged = f"{cache}/cifar_resnet20/blue/2.png.bottleneck"
        with open(damaged, "r+b") as file:
            file.seek(50)
            file.write(b"!!")
        self.assertEqual(FILLED.search(self.transfer("--cache", cache)[0]).groups()[:2], ("2", "148"))
        os.replace(f"{self.home}/kept", f"{self.images}/red/1.png")

    def test_tensorboard_gets_each_rate_in_a_folder_of_its_own(self):
        folder = f"{self.home}/summaries"
        out, _ = self.transfer("--lr", "0.01,0.3", "--every", "20", "--summaries", folder)
        printed = re.findall(rf"(?m)^step (\d+) loss {NUMBER} train accuracy {NUMBER} validation accuracy {NUMBER}$",
                             out)
        self.assertEqual(len(printed), 6)
        for rate, lines in (("0.01", printed[:3]), ("0.3", printed[3:])):
            train = read_events(f"{folder}/rate_{rate}/train")
            validation = read_events(f"{folder}/rate_{rate}/validation")
            for number, (step, loss, learnt, held_out) in enumerate(lines):
                self.assertAlmostEqual(train["loss"][number][1], float(loss), delta=1e-4)
                self.assertAlmostEqual(train["accuracy"][number][1], float(learnt), delta=1e-4)
                self.assertEqual(validation["accuracy"][number][0], int(step))
                self.assertAlmostEqual(validation["accuracy"][number][1], float(held_out), delta=1e-4)

    def test_whole_network_is_exported_with_the_names_of_the_classes(self):
        file = f"{self.home}/whole"
        out, _ = self.transfer("--lr", "0.3", "--export", file, "--misclassified")
        # It says of the test images what was said when it was made, right or wrong.
        tested = [f"{c}/{i}.png" for c in ("red", "green", "blue") for i in range(50) if set_of(f"{c}/{i}.png") == "test"]
        for image in tested[:6]:
            result = run("label", f"{self.images}/{image}", "--weights", file, "--repeat", "1")
            self.assertEqual(result.returncode, 0, result.stderr)
            best = result.stdout.split(" (score=")[0]
            self.assertIn(best, ("red", "green", "blue"))
            self.assertEqual(best == image.split("/")[0], f"misclassified {image} as " not in out, out + result.stdout)

    def test_bad_input_exits_2(self):
        for arguments in ((self.home + "/none", "--weights", self.trunk),
                          (self.images, "--weights", self.home + "/none"),
                          (self.images, "--weights", self.trunk, "--model", "resnet50")):
            self.assertEqual(run("transfer", *arguments).returncode, 2, arguments)


if __name__ == "__main__":
    take_program()
    unittest.main()
