#!/usr/bin/env python3
"""Files that others wrote are learnt from, and files that we wrote are read by others.

usage: formats_test.py PATH-OF-trainscope-workload
Writers and readers here are Python's standard library and nothing of ours: PNG by zlib, TFRecord and
tf.train.Example by struct, safetensors by json.
"""

import json
import re
import struct
import tempfile
import unittest

from events import masked
from pictures import colour_of, png, write_folder
from support import NUMBER, matches, run, run_with_pipe, take_program

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


class Formats(unittest.TestCase):
    """Three colours to tell apart: what is learnt was read rightly."""

    def learns(self, folder, name, *options):
        result = run("train", "--model", "cifar_resnet20", "--data", folder, "--batch", "16",
                     "--threads", "1", "--lr", "0.01", "--epochs", "4", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, rf"(?m)^data {name} train ")
        self.assertGreater(float(matches(DONE, result.stdout)[0][2]), 0.9, result.stdout)

    def test_image_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            write_folder(folder, 60)
            self.learns(folder, "image_folder", "--loaders", "2")
            with open(f"{folder}/red/bad.png", "wb") as file:
                file.write(png(20, (1, 2, 3))[:60])
            result = run("train", "--model", "cifar_resnet20", "--data", folder, "--epochs", "1",
                         "--threads", "1")
            self.assertEqual(result.returncode, 2)
            self.assertIn("red/bad.png", result.stderr)

    def test_tfrecords_of_pictures_and_loaders_that_tell_their_stages(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, count in (("train-00000-of-00001", 180), ("validation-00000-of-00001", 30)):
                with open(f"{folder}/{name}", "wb") as file:
                    for number in range(count):
                        label = number % 3
                        file.write(record(example({
                            "image/encoded": png(24, colour_of(label, number)),
                            "image/class/label": label})))
            self.learns(folder, "tfrecord")
            result, lines = run_with_pipe(
                folder, "train", "--model", "cifar_resnet20", "--data", folder, "--steps", "3",
                "--threads", "1", "--loaders", "2")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(any(re.fullmatch(
                rf"phase decode {NUMBER} who=loader[01] t=\d+", line) for line in lines), lines)

    def test_tfrecords_of_raw_cifar(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/train.tfrecords", "wb") as file:
                for number in range(200):
                    label = number % 3
                    planes = b"".join(bytes([c]) * 1024 for c in colour_of(label, number))
                    file.write(record(example({"image": planes, "label": label})))
            self.learns(folder, "tfrecord")
            with open(f"{folder}/train.tfrecords", "r+b") as file:
                file.seek(500)
                file.write(b"damage")
            result = run("train", "--model", "cifar_resnet20", "--data", folder, "--epochs", "1")
            self.assertEqual(result.returncode, 2)
            self.assertIn("train.tfrecords", result.stderr)

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
            before = float(matches(DONE, result.stdout)[0][2])
            self.assertAlmostEqual(float(matches(DONE, again.stdout)[0][2]), before, delta=0.05)
            wrong = run("train", "--data", "drawn", "--steps", "1", "--weights", file)
            self.assertEqual(wrong.returncode, 2)
            self.assertIn(file, wrong.stderr)


if __name__ == "__main__":
    take_program()
    unittest.main()
