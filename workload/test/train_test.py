#!/usr/bin/env python3
"""Trains for a few seconds with the real program and checks what it printed and wrote.

usage: train_test.py PATH-OF-trainscope-workload
Exits 77, with the reason, where it cannot run. One thread is used: a second one that waits for a
busy machine slows libtorch down by far more than half.
"""

import gzip
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
import unittest

NUMBER = r"(\d+(?:\.\d+)?)"
STEP = re.compile(rf"step (\d+) loss {NUMBER} images/s {NUMBER}")
EVAL = re.compile(rf"eval step (\d+) accuracy {NUMBER} loss {NUMBER}")
DONE = re.compile(rf"done steps (\d+) seconds {NUMBER} accuracy {NUMBER}")
EVERY = 10

program = ""


def run(*arguments, **keywords):
    return subprocess.run([program, *arguments], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, check=False, **keywords)


def matches(pattern, text):
    return [m.groups() for m in map(pattern.fullmatch, text.splitlines()) if m]


class Training(unittest.TestCase):
    """One run of eight seconds, looked at from several sides."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        log = os.path.join(folder.name, "steps")
        fifo = os.path.join(folder.name, "progress")
        os.mkfifo(fifo, 0o600)
        # Open for both, as a recorder does: it never blocks and a message is never lost to EPIPE.
        reader = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
        cls.began_s = time.monotonic()
        result = run("train", "--data", "drawn", "--seconds", "8", "--threads", "1",
                     "--every", str(EVERY), "--step-log", log,
                     env={**os.environ, "TRAINSCOPE_PIPE": fifo})
        cls.ended_s = time.monotonic()
        cls.code, cls.out, cls.err = result.returncode, result.stdout, result.stderr
        cls.pipe = os.read(reader, 1 << 20).decode().splitlines()
        os.close(reader)
        with open(log, encoding="ascii") as lines:
            cls.log = [line.split() for line in lines]
        cls.done = matches(DONE, cls.out)

    def test_ends_well_and_says_what_it_used(self):
        self.assertEqual(self.code, 0, self.err)
        self.assertRegex(self.out, r"(?m)^data drawn train \d+ test \d+ ")
        self.assertEqual(len(self.done), 1, self.out)
        self.assertRegex(self.out.splitlines()[-1], DONE)
        self.assertAlmostEqual(float(self.done[0][1]), 8.0, delta=1.5)

    def test_loss_fell(self):
        losses = [float(loss) for _, loss, _ in matches(STEP, self.out)]
        self.assertGreaterEqual(len(losses), 4, self.out)
        self.assertGreater(losses[0], 1.5)
        self.assertLess(losses[-1], losses[0] / 2)

    def test_held_out_accuracy(self):
        step, accuracy, _ = matches(EVAL, self.out)[-1]
        self.assertGreater(float(accuracy), 0.7)
        self.assertEqual(self.done[0][0], step)
        self.assertEqual(self.done[0][2], accuracy)

    def test_steps_printed_and_logged_agree(self):
        steps = int(self.done[0][0])
        self.assertEqual([int(line[0]) for line in self.log], list(range(1, steps + 1)))
        printed = [int(step) for step, _, _ in matches(STEP, self.out)]
        self.assertEqual(printed, list(range(EVERY, steps + 1, EVERY)))

    def test_images_per_second_agree_with_the_log(self):
        for step, _, rate in matches(STEP, self.out)[:20]:
            end = int(step)
            busy_s = sum(float(line[2]) for line in self.log[end - EVERY:end])
            self.assertAlmostEqual(float(rate) / (EVERY * 64 / busy_s), 1.0, delta=0.02)

    def test_logged_steps_are_in_order_on_the_monotonic_clock(self):
        before_s = self.began_s
        for _, begin, duration in self.log:
            self.assertGreaterEqual(float(begin), before_s - 1e-6)
            self.assertGreater(float(duration), 0.0)
            before_s = float(begin) + float(duration)
        self.assertLessEqual(before_s, self.ended_s)

    def test_pipe_got_every_step_and_the_accuracy(self):
        sent = [line for line in self.pipe if line.startswith("step ")]
        steps = int(self.done[0][0])
        # The pipe holds 64 KiB here and nobody empties it: the first thousand steps fit.
        self.assertGreaterEqual(len(sent), min(steps, 1000))
        for number, line in enumerate(sent, start=1):
            self.assertRegex(line, rf"^step {number} loss=\S+ time={NUMBER}$")
        if steps <= 1000:
            self.assertRegex(self.pipe[-2], rf"^scalar accuracy {NUMBER} step={steps} set=test$")
            self.assertTrue(any(line.startswith("phase end evaluation") for line in self.pipe))


def write_idx(path, dimensions, data):
    header = struct.pack(">HBB", 0, 8, len(dimensions))
    with gzip.open(path + ".gz", "wb", 1) as file:
        file.write(header + struct.pack(f">{len(dimensions)}I", *dimensions) + data)


def write_small_dataset(folder):
    """650 + 50 pictures whose class is the row that is bright."""
    for role, count in (("train", 650), ("t10k", 50)):
        labels = bytes(i % 10 for i in range(count))
        pictures = b"".join(bytes(255 if p // 56 == label else 0 for p in range(784))
                            for label in labels)
        write_idx(f"{folder}/{role}-images-idx3-ubyte", (count, 28, 28), pictures)
        write_idx(f"{folder}/{role}-labels-idx1-ubyte", (count,), labels)


class Limits(unittest.TestCase):
    """Short runs: other limits, the same numbers for the same seed, and what must fail."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        write_small_dataset(folder.name)
        cls.small = ("train", "--data", folder.name, "--threads", "1", "--every", "1")

    def steps_of(self, *arguments):
        result = run(*self.small, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [(step, loss) for step, loss, _ in matches(STEP, result.stdout)]

    def test_seed_decides_the_steps(self):
        first = self.steps_of("--seed", "3", "--steps", "6")
        self.assertEqual(len(first), 6)
        self.assertEqual(self.steps_of("--seed", "3", "--steps", "6"), first)
        self.assertNotEqual(self.steps_of("--seed", "4", "--steps", "6"), first)

    def test_epoch_is_one_pass_and_ends_with_one_evaluation(self):
        result = run(*self.small, "--epochs", "3", "--batch", "64")
        self.assertEqual([int(step) for step, _, _ in matches(EVAL, result.stdout)], [11, 22, 33])
        self.assertEqual(matches(DONE, result.stdout)[0][0], "33")

    def test_bad_input_exits_2_and_names_it(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = os.path.join(folder, "train-images-idx3-ubyte")
            with open(bad, "wb") as file:
                file.write(b"\0\0\x08\x03\0\0\0\x09")
            result = run("train", "--data", folder)
            self.assertEqual(result.returncode, 2)
            self.assertIn(bad, result.stderr)
            self.assertIn("offset 8", result.stderr)
            result = run(*self.small, "--steps", "1", "--step-log",
                         os.path.join(folder, "no", "log"))
            self.assertEqual(result.returncode, 2)
            self.assertIn("no/log", result.stderr)
        self.assertEqual(run("train", "--model", "none").returncode, 2)

    def test_device_that_is_not_there(self):
        arguments = (*self.small, "--steps", "1", "--device", "cuda:99")
        strict = run(*arguments, "--strict")
        self.assertEqual(strict.returncode, 2)
        self.assertIn("cuda:99", strict.stderr)
        lenient = run(*arguments)
        self.assertEqual(lenient.returncode, 0)
        self.assertIn("cuda:99", lenient.stderr)
        self.assertRegex(lenient.stdout, r"(?m)^device cpu ")


def cannot_run(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        cannot_run("no program given (usage: train_test.py PATH-OF-trainscope-workload)")
    program = os.path.abspath(sys.argv.pop(1))
    if not os.access(program, os.X_OK):
        cannot_run(f"{program} is not there: build the workload first")
    if run("--help").returncode == 127:
        cannot_run(f"{program} does not start: its libtorch is gone (scripts/fetch-libtorch)")
    unittest.main()
