#!/usr/bin/env python3
"""Trains for a few seconds with the real program and checks what it printed and wrote.

usage: train_test.py PATH-OF-trainscope-workload
Exits 77, with the reason, where it cannot run. One thread is used: a second one that waits for a
busy machine slows libtorch down by far more than half.
"""

import gzip
import os
import re
import statistics
import struct
import tempfile
import time
import unittest
import zipfile

from events import read_events
from support import NUMBER, matches, run, run_with_pipe, take_program

STEP = re.compile(rf"step (\d+) loss {NUMBER} images/s {NUMBER}")
EVAL = re.compile(rf"eval step (\d+) accuracy {NUMBER} loss {NUMBER}")
DONE = re.compile(rf"done steps (\d+) seconds {NUMBER} accuracy {NUMBER}")
EVERY = 10
STEPS = 500


class Training(unittest.TestCase):
    """One run of a few seconds, looked at from several sides."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        log = os.path.join(folder.name, "steps")
        cls.began_s = time.monotonic()
        result, cls.pipe = run_with_pipe(
            folder.name, "train", "--data", "drawn", "--steps", str(STEPS), "--threads", "1",
            "--every", str(EVERY), "--step-log", log)
        cls.ended_s = time.monotonic()
        cls.code, cls.out, cls.err = result.returncode, result.stdout, result.stderr
        with open(log, encoding="ascii") as lines:
            cls.log = [line.split() for line in lines]
        cls.done = matches(DONE, cls.out)

    def test_ends_well_and_says_what_it_used(self):
        self.assertEqual(self.code, 0, self.err)
        self.assertRegex(self.out, r"(?m)^data drawn train \d+ test \d+ ")
        self.assertEqual(len(self.done), 1, self.out)
        self.assertRegex(self.out.splitlines()[-1], DONE)
        self.assertEqual(int(self.done[0][0]), STEPS)
        self.assertLessEqual(sum(float(line[2]) for line in self.log), float(self.done[0][1]) + 0.1)
        self.assertLessEqual(float(self.done[0][1]), self.ended_s - self.began_s + 0.1)

    def test_loss_fell(self):
        losses = [float(loss) for _, loss, _ in matches(STEP, self.out)]
        self.assertEqual(len(losses), STEPS // EVERY, self.out)
        # Ten digits: guessing is a loss of 2.3. How far it falls depends on rounding; that it falls does not.
        self.assertLess(statistics.mean(losses[-10:]), losses[0])

    def test_printed_losses_are_means_of_those_on_the_pipe(self):
        sent = [float(line.split("loss=")[1].split()[0]) for line in self.pipe if line.startswith("step ")]
        for step, loss, _ in matches(STEP, self.out):
            self.assertAlmostEqual(float(loss), statistics.mean(sent[int(step) - EVERY:int(step)]), delta=1e-4)

    def test_held_out_accuracy(self):
        step, accuracy, _ = matches(EVAL, self.out)[-1]
        # It is a number of images, and what the pipe got is the same: four digits of it are printed.
        images = int(re.search(r"(?m)^data drawn train \d+ test (\d+) ", self.out)[1])
        sent = float([line for line in self.pipe if line.startswith("scalar accuracy ")][-1].split()[2])
        self.assertAlmostEqual(sent * images, round(sent * images), delta=images * 1e-6)
        self.assertAlmostEqual(float(accuracy), sent, delta=6e-5)
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

    def test_pipe_got_every_step_with_its_phases(self):
        sent = [line for line in self.pipe if line.startswith("step ")]
        self.assertEqual(len(sent), STEPS)
        self.assertRegex(self.pipe[0], r"^batch 64 t=\d+$")
        for number, line in enumerate(sent, start=1):
            self.assertRegex(line, rf"^step {number} loss=\S+ t=\d+$")
        names = [line.split()[1] for line in self.pipe[:50] if line.startswith("phase ")]
        self.assertEqual(names[:5], ["input", "prepare", "forward", "backward", "optimizer"])

    def test_steps_on_the_pipe_end_before_the_next_begins(self):
        sent = [line for line in self.pipe if line.startswith("step ")]
        for line, (number, begin, duration), (_, next_begin, _) in zip(sent, self.log, self.log[1:]):
            self.assertEqual(line.split()[1], number)
            end_s = int(line.rsplit("t=", 1)[1]) / 1e9
            self.assertGreaterEqual(end_s, float(begin) + float(duration) - 1e-6)  # rounded to a double
            self.assertLessEqual(end_s, float(next_begin) + 1e-6)

    def test_phases_fill_the_step(self):
        phases_s = 0.0
        filled = []
        logged = iter(self.log)
        for line in self.pipe:
            words = line.split()
            if words[0] == "phase":
                phases_s += float(words[2])
            elif words[0] == "step":
                duration_s = float(next(logged)[2])
                self.assertLessEqual(phases_s, duration_s + 1e-6)
                filled.append(phases_s / duration_s)
                phases_s = 0.0
        # A busy machine may hold it up between two phases, in some step or other.
        self.assertGreater(statistics.median(filled), 0.8)


def write_idx(path, dimensions, data):
    header = struct.pack(">HBB", 0, 8, len(dimensions))
    with gzip.open(path + ".gz", "wb", 1) as file:
        file.write(header + struct.pack(f">{len(dimensions)}I", *dimensions) + data)


def write_small_dataset(folder):
    """650 + 50 images whose class is the row that is bright."""
    for role, count in (("train", 650), ("t10k", 50)):
        labels = bytes(i % 10 for i in range(count))
        images = b"".join(bytes(255 if p // 56 == label else 0 for p in range(784))
                            for label in labels)
        write_idx(f"{folder}/{role}-images-idx3-ubyte", (count, 28, 28), images)
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

    def test_evaluation_and_epoch_go_through_the_pipe(self):
        with tempfile.TemporaryDirectory() as folder:
            result, lines = run_with_pipe(folder, *self.small, "--epochs", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        kinds = [line.split()[0:2] for line in lines if not line.startswith(("phase", "step"))]
        evaluation = [["begin", "evaluation"], ["end", "evaluation"], ["scalar", "accuracy"],
                      ["scalar", "loss"]]
        self.assertEqual(kinds, [["batch", "64"], ["batch", "10"], ["epoch", "1"], *evaluation,
                                 ["batch", "64"], ["batch", "10"], ["epoch", "2"], *evaluation])
        accuracy = [line for line in lines if line.startswith("scalar accuracy")]
        self.assertRegex(accuracy[-1], rf"^scalar accuracy {NUMBER} set=test t=\d+$")

    def test_loading_threads_change_no_number(self):
        alone = self.steps_of("--seed", "3", "--steps", "15", "--loaders", "0")
        self.assertEqual(self.steps_of("--seed", "3", "--steps", "15", "--loaders", "3"), alone)

    def test_injected_delays_are_in_the_input_phase_of_the_right_steps(self):
        for injected, slow in (("slow:30ms", set(range(1, 16))), ("stall:7x60ms", {7, 14})):
            with tempfile.TemporaryDirectory() as folder:
                result, lines = run_with_pipe(folder, *self.small, "--steps", "15",
                                              "--input", injected)
            self.assertEqual(result.returncode, 0, result.stderr)
            inputs = [float(line.split()[2]) for line in lines if line.startswith("phase input ")]
            self.assertEqual(len(inputs), 15)
            delay_s = 0.03 if injected.startswith("slow") else 0.06
            for number in slow:
                self.assertGreaterEqual(inputs[number - 1], delay_s, injected)
            # The others are as quick as ever, but where a busy machine holds one up.
            others = [s for i, s in enumerate(inputs, 1) if i not in slow]
            self.assertLess(statistics.median(others or [0]), delay_s / 2, injected)

    def test_every_way_to_compute_learns(self):
        plain = [float(loss) for _, loss in self.steps_of("--steps", "5")]
        # Of the same network the first losses are the same, to what a precision can hold; another optimizer changes
        # all but the first. How far they fall is luck.
        for options, same, within in ((("--layout", "nhwc"), 5, 2e-3), (("--precision", "bf16"), 5, 0.05),
                                      (("--precision", "fp16"), 5, 0.01),
                                      (("--optimizer", "sgd", "--lr", "0.01"), 1, 1e-3),
                                      (("--model", "digits_dense"), 0, 0), (("--model", "cifar_resnet20"), 0, 0)):
            losses = [float(loss) for _, loss in self.steps_of("--steps", "33", *options)]
            self.assertLess(statistics.median(losses[-5:]), losses[0], (options, losses))
            for one, other in zip(losses[:same], plain):
                self.assertAlmostEqual(one, other, delta=within, msg=f"{options}: {losses}")

    def test_training_goes_on_after_a_stop_as_if_there_had_been_none(self):
        for optimizer in ("adam", "sgd"):
            with tempfile.TemporaryDirectory() as folder:
                options = ("--optimizer", optimizer, "--seed", "5", "--checkpoint",
                           os.path.join(folder, "state"))
                whole = self.steps_of(*options[:4], "--steps", "20")
                begun = self.steps_of(*options, "--steps", "13")
                rest = self.steps_of(*options, "--steps", "20", "--resume")
                self.assertEqual(begun + rest, whole)
                other = run(*self.small, *options, "--seed", "6", "--steps", "20", "--resume")
                self.assertEqual(other.returncode, 2)
                self.assertIn("--seed", other.stderr)

    def test_the_first_loss_after_a_stop_is_of_the_steps_since(self):
        losses = [float(loss) for _, loss in self.steps_of("--seed", "5", "--steps", "20")]
        with tempfile.TemporaryDirectory() as folder:
            options = ("--seed", "5", "--checkpoint", os.path.join(folder, "state"))
            self.steps_of(*options, "--steps", "13")
            every_fifth = (*self.small[:-1], "5")
            result = run(*every_fifth, *options, "--steps", "20", "--resume")
        self.assertEqual(result.returncode, 0, result.stderr)
        printed = {int(step): float(loss) for step, loss, _ in matches(STEP, result.stdout)}
        self.assertEqual(sorted(printed), [15, 20])
        self.assertAlmostEqual(printed[15], statistics.mean(losses[13:15]), delta=2e-4)
        self.assertAlmostEqual(printed[20], statistics.mean(losses[15:20]), delta=2e-4)

    def test_checkpoints_are_phases(self):
        with tempfile.TemporaryDirectory() as folder:
            result, lines = run_with_pipe(
                folder, *self.small, "--steps", "12", "--input", "slow:5ms", "--checkpoint",
                os.path.join(folder, "state"), "--checkpoints", "1ms")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(os.listdir(folder), ["state"])
        # Each step takes longer than the time between two of them.
        self.assertGreaterEqual(result.stdout.count("\ncheckpoint step "), 12)
        self.assertGreaterEqual(sum(x.startswith("begin checkpoint") for x in lines), 12)

    def test_a_time_ends_it(self):
        result = run(*self.small, "--seconds", "500ms", "--epochs", "1000000")
        self.assertEqual(result.returncode, 0, result.stderr)
        steps, seconds, _ = matches(DONE, result.stdout)[0]
        self.assertGreaterEqual(float(seconds), 0.49)
        self.assertEqual(len(matches(STEP, result.stdout)), int(steps))

    def test_evaluations_come_in_time_too(self):
        result = run(*self.small, "--steps", "12", "--input", "slow:5ms", "--evaluations", "1ms")
        self.assertEqual(result.returncode, 0, result.stderr)
        # Each step takes longer than the time between two of them.
        self.assertEqual({int(step) for step, _, _ in matches(EVAL, result.stdout)}, set(range(1, 13)), result.stdout)

    def test_placement_is_logged_for_every_weight(self):
        result = run(*self.small, "--steps", "2", "--log-placement", "--layout", "nhwc")
        placed = [line.split() for line in result.stdout.splitlines()
                  if line.startswith("placement ")]
        self.assertEqual(len(placed), 9)  # the input, four layers with weight and bias
        self.assertEqual({line[2] for line in placed}, {"cpu"})
        self.assertIn(["placement", "conv2.weight", "cpu", "Float", "nhwc", "32x16x3x3"], placed)

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


class ComputingAlone(unittest.TestCase):
    def test_a_resident_batch_is_learnt_by_heart(self):
        words = ("train", "--data", "drawn", "--model", "digits_dense", "--steps", "60", "--every", "1",
                 "--threads", "1")
        plain, resident = run(*words), run(*words, "--resident")
        self.assertEqual(resident.returncode, 0, resident.stderr)
        plain, resident = ([float(loss) for _, loss, _ in matches(STEP, result.stdout)] for result in (plain, resident))
        self.assertEqual(resident[0], plain[0])
        self.assertEqual(len(resident), 60)
        # The same batch again and again against other ones: what is known by heart is known better.
        self.assertNotEqual(resident[1], plain[1])
        self.assertLess(statistics.mean(resident[-10:]), statistics.mean(plain[-10:]))

    def test_a_graph_without_cuda_is_told_and_refused_where_strict(self):
        words = ("train", "--data", "drawn", "--model", "digits_dense", "--steps", "2", "--threads", "1", "--graph")
        soft = run(*words)
        self.assertEqual(soft.returncode, 0, soft.stderr)
        self.assertIn("training without a graph: --graph needs --device cuda", soft.stderr)
        self.assertEqual(run(*words, "--strict").returncode, 2)


class ForTensorBoard(unittest.TestCase):
    def test_each_step_and_evaluation_is_in_the_event_files(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("train", "--data", "drawn", "--model", "digits_dense", "--steps", "130", "--every", "1",
                         "--threads", "1", "--summaries", folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            train, test = read_events(f"{folder}/train"), read_events(f"{folder}/test")
        printed = [(int(step), float(loss)) for step, loss, _ in matches(STEP, result.stdout)]
        self.assertEqual([step for step, _ in train["loss"]], list(range(1, 131)))
        for (_, loss), (_, told) in zip(train["loss"], printed):
            self.assertAlmostEqual(loss, told, delta=6e-5)
        step, accuracy, _ = matches(EVAL, result.stdout)[-1]
        self.assertEqual(test["accuracy"][-1][0], int(step))
        self.assertAlmostEqual(test["accuracy"][-1][1], float(accuracy), delta=6e-5)

    def test_a_folder_that_cannot_be_made_is_told(self):
        result = run("train", "--data", "drawn", "--model", "digits_dense", "--steps", "2", "--threads", "1",
                     "--summaries", "/proc/nowhere")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/proc/nowhere/train/events.out.tfevents.", result.stderr)


class Program(unittest.TestCase):
    def test_torchscript_has_the_code_and_the_weights(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/network.pt"
            result = run("train", "--data", "drawn", "--model", "digits_dense", "--steps", "2", "--threads", "1",
                         "--export", file)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"torchscript {file}", result.stdout)
            with zipfile.ZipFile(file) as archive:
                names = archive.namelist()
                code = b"".join(archive.read(name) for name in names if name.endswith(".py")).decode()
                sizes = sorted(archive.getinfo(name).file_size for name in names if "/data/" in name)
            label = run("label", f"{folder}/missing.png", "--weights", file)
            self.assertEqual(label.returncode, 2)
            self.assertIn("missing.png", label.stderr)  # the network itself was read
        self.assertIn("def forward(", code)
        self.assertEqual(sizes, sorted([128 * 784 * 4, 128 * 4, 10 * 128 * 4, 10 * 4]))


if __name__ == "__main__":
    take_program()
    unittest.main()
