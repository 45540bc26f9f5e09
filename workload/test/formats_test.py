#!/usr/bin/env python3
"""Files that others wrote are learnt from, and files that we wrote are read by others.

usage: formats_test.py PATH-OF-trainscope-workload
Writers and readers here are Python's standard library and nothing of ours: PNG by zlib, TFRecord and
tf.train.Example by struct, safetensors by json.
"""

import json
import os
import re
import struct
import tempfile
import unittest

from events import masked
from images import pattern, png, png_of
from support import NUMBER, matches, run, run_with_pipe, take_program

STEP = re.compile(rf"step (\d+) loss {NUMBER} images/s {NUMBER}")
DONE = re.compile(rf"done steps (\d+) seconds {NUMBER} accuracy {NUMBER}")


def record(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked(length)) + data + struct.pack("<I", masked(data))


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def example(features):
    entries = b""
    for name, value in features.items():
        kind = (field(1, field(1, value)) if isinstance(value, bytes)
                else field(3, field(1, varint(value))))
        entries += field(1, field(1, name.encode()) + field(2, kind))
    return field(1, entries)


SIDE = 32  # what the network wants: nothing is scaled
CLASSES = ("blue", "green", "red")
SETS = {"train": range(20), "test": range(20, 25)}
IMAGES = {name: [(label, number, pattern(SIDE, label, number)) for label in range(len(CLASSES)) for number in numbers]
            for name, numbers in SETS.items()}


def write_image_folder(folder):
    for name, images in IMAGES.items():
        for label, number, pixels in images:
            os.makedirs(f"{folder}/{name}/{CLASSES[label]}", exist_ok=True)
            with open(f"{folder}/{name}/{CLASSES[label]}/{number:02}.png", "wb") as file:
                file.write(png_of(SIDE, pixels))


def write_records(folder, name_of, features):
    for name, images in IMAGES.items():
        with open(f"{folder}/{name_of[name]}", "wb") as file:
            for label, _, pixels in images:
                file.write(record(example(features(label, pixels))))


def write_encoded_records(folder):
    write_records(folder, {"train": "train-00000-of-00001", "test": "validation-00000-of-00001"},
                  lambda label, pixels: {"image/encoded": png_of(SIDE, pixels), "image/class/label": label})


def write_raw_records(folder):
    """As CIFAR-10 is: one plane a colour."""
    write_records(folder, {"train": "train.tfrecords", "test": "test.tfrecords"},
                  lambda label, pixels: {"image": pixels[0::3] + pixels[1::3] + pixels[2::3], "label": label})


class Formats(unittest.TestCase):
    """The same images in the same order: whatever holds them, the steps are the same."""

    def steps(self, folder, name, *options):
        result = run("train", "--model", "cifar_resnet20", "--data", folder, "--batch", "16", "--threads", "1",
                     "--steps", "4", "--every", "1", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, rf"(?m)^data {name} train 60 test 15 ")
        losses = [float(loss) for _, loss, _ in matches(STEP, result.stdout)]
        self.assertEqual(len(losses), 4, result.stdout)
        return losses

    def test_what_is_read_does_not_depend_on_what_holds_it(self):
        seen = {}
        for name, write, options in (("image_folder", write_image_folder, ("--loaders", "2")),
                                     ("tfrecord", write_encoded_records, ()), ("tfrecord", write_raw_records, ())):
            with tempfile.TemporaryDirectory() as folder:
                write(folder)
                seen[write.__name__] = self.steps(folder, name, *options)
        first = seen["write_image_folder"]
        for name, losses in seen.items():
            for one, other in zip(first, losses):
                self.assertAlmostEqual(one, other, delta=1e-3, msg=f"{name}: {seen}")

    def test_what_is_wrong_with_a_file_is_told_with_its_name(self):
        with tempfile.TemporaryDirectory() as folder:
            write_image_folder(folder)
            with open(f"{folder}/train/red/bad.png", "wb") as file:
                file.write(png(20, (1, 2, 3))[:60])
            result = run("train", "--model", "cifar_resnet20", "--data", folder, "--epochs", "1", "--threads", "1")
            self.assertEqual(result.returncode, 2)
            self.assertIn("red/bad.png", result.stderr)
        with tempfile.TemporaryDirectory() as folder:
            write_raw_records(folder)
            with open(f"{folder}/train.tfrecords", "r+b") as file:
                file.seek(500)
                file.write(b"damage")
            result = run("train", "--model", "cifar_resnet20", "--data", folder, "--epochs", "1", "--threads", "1")
            self.assertEqual(result.returncode, 2)
            self.assertIn("train.tfrecords", result.stderr)
        with tempfile.TemporaryDirectory() as folder:
            write_raw_records(folder)
            with open(f"{folder}/train.tfrecords", "wb") as file:
                file.write(record(b"\xff no message"))
            result = run("train", "--model", "cifar_resnet20", "--data", folder, "--epochs", "1", "--threads", "1")
            self.assertEqual(result.returncode, 2)
            self.assertIn("train.tfrecords: record 0: not a tf.train.Example", result.stderr)

    def test_loaders_tell_their_stages(self):
        with tempfile.TemporaryDirectory() as folder:
            write_encoded_records(folder)
            result, lines = run_with_pipe(
                folder, "train", "--model", "cifar_resnet20", "--data", folder, "--steps", "3",
                "--threads", "1", "--loaders", "2")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(any(re.fullmatch(
                rf"phase decode {NUMBER} t=\d+ who=loader[01]", line) for line in lines), lines)

    def test_exported_weights_are_safetensors_and_can_be_used(self):
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/w.safetensors"
            result = run("train", "--data", "drawn", "--model", "digits_dense", "--steps", "400",
                         "--threads", "1", "--export", file)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(file, "rb") as stream:
                data = stream.read()
            length = struct.unpack("<Q", data[:8])[0]
            header = json.loads(data[8:8 + length])
            self.assertEqual(header.pop("__metadata__")["model"], "digits_dense")
            self.assertEqual({name: entry["shape"] for name, entry in header.items()},
                             {"hidden.weight": [128, 784], "hidden.bias": [128],
                              "out.weight": [10, 128], "out.bias": [10]})
            ends = sorted(tuple(entry["data_offsets"]) for entry in header.values())
            self.assertEqual(ends[0][0], 0)
            self.assertEqual([end for _, end in ends[:-1]], [begin for begin, _ in ends[1:]])
            self.assertEqual(ends[-1][1], len(data) - 8 - length)
            begin, end = header["out.bias"]["data_offsets"]
            biases = struct.unpack("<10f", data[8 + length + begin:8 + length + end])
            self.assertTrue(all(-1 < bias < 1 for bias in biases), biases)
            again = run("train", "--data", "drawn", "--model", "digits_dense", "--steps", "1",
                        "--threads", "1", "--weights", file)
            # The step that it takes moves every weight a little; one that begins anew knows nothing.
            before = float(matches(DONE, result.stdout)[0][2])
            self.assertGreater(float(matches(DONE, again.stdout)[0][2]), before / 2)
            wrong = run("train", "--data", "drawn", "--steps", "1", "--weights", file)
            self.assertEqual(wrong.returncode, 2)
            self.assertIn(file, wrong.stderr)


if __name__ == "__main__":
    take_program()
    unittest.main()
