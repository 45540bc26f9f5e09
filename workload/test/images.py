"""Images written by Python's standard library alone: PNG by zlib."""

import os
import random
import struct
import zlib


def png(side, colour):
    """A square of one colour."""
    return png_of(side, bytes(colour) * side * side)


def png_of(side, pixels):
    """A square of these pixels, three bytes each, row by row."""
    def chunk(kind, data):
        crc = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)
    rows = b"".join(b"\0" + pixels[row * side * 3:(row + 1) * side * 3] for row in range(side))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def pattern(side, label, number):
    """Pixels of an image that is like no other."""
    return random.Random(1000 * label + number).randbytes(side * side * 3)


def colour_of(label, number):
    """Shades of red, green and blue."""
    return [(255, 8 * (number % 8), 0), (0, 255, 8 * (number % 8)),
            (8 * (number % 8), 0, 255)][label]


def write_folder(folder, count):
    """`count` images of each of three classes, one folder a class."""
    for label, name in enumerate(("red", "green", "blue")):
        os.mkdir(f"{folder}/{name}")
        for number in range(count):
            with open(f"{folder}/{name}/{number}.png", "wb") as file:
                file.write(png(20 + number % 5, colour_of(label, number)))
