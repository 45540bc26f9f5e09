"""A reader of TensorBoard's event files by the standard library alone: protobuf and CRC-32C by hand."""

import os
import struct


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        length, check = struct.unpack("<QI", data[:12])
        assert check == masked(data[:8]), "CRC of a length"
        content = data[12:12 + length]
        assert struct.unpack("<I", data[12 + length:16 + length])[0] == masked(content), "CRC of a record"
        yield content
        data = data[16 + length:]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """{number: value} of a message; of several of one number the last."""
    at, found = 0, {}
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            size = {1: 8, 5: 4}[kind]
            value, at = struct.unpack({8: "<d", 4: "<f"}[size], data[at:at + size])[0], at + size
        found[key >> 3] = value
    return found


def read_events(folder):
    """{tag: [(step, value)]} of the only event file in a folder."""
    name, = os.listdir(folder)
    with open(os.path.join(folder, name), "rb") as file:
        events = [fields(record) for record in records(file.read())]
    assert events[0][3] == b"brain.Event:2"
    scalars = {}
    for event in events[1:]:
        assert event[1] > 1.6e9
        value = fields(fields(event[5])[1])
        scalars.setdefault(value[1].decode(), []).append((event.get(2, 0), value[2]))
    return scalars
