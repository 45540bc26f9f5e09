#!/usr/bin/env python3
"""A second reader of run folders, written from docs/run-format.md alone. Standard library and `zstd`.

It shares no line with the program, so what both read is what the page says. It reads stored samples
only: nothing derived, no statistics but to check them.

  second_reader.py RUN-FOLDER     every sample as CSV: time_s,metric,labels,value (unsorted)
"""
import csv
import json
import os
import re
import struct
import subprocess
import sys

HEAD, SCHEMA, TIMES, COLUMNS, EVENT, INFO, STEP, CLOSING, STATUS, MANIFEST = range(1, 11)
ZSTD, STATISTICS = 1, 2


def crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


CRC = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def frame_at(data, at):
    """(type, flags, payload) of the whole valid frame at this offset, or None."""
    if data[at:at + 2] != b"Ts" or at + 12 > len(data):
        return None
    kind, flags, length, crc = struct.unpack_from("<BBII", data, at + 2)
    payload = data[at + 12:at + 12 + length]
    if length > 64 << 20 or len(payload) < length or crc32c(data[at + 2:at + 8] + payload) != crc:
        return None
    return kind, flags, payload


def frames(path):
    with open(path, "rb") as file:
        data = file.read()
    head = b"TRAINSCP" + struct.pack("<II", 1, 0)
    if len(data) < len(head) and head.startswith(data):  # torn: the recorder was killed while it began the file
        return
    if data[:16] not in (head, bytes(16)):  # zeros: a power loss
        raise ValueError(f"{path}: not a segment")
    at = 16
    while at < len(data):
        frame = frame_at(data, at)
        if frame is None:  # torn or damaged: on to the next whole frame
            at = data.find(b"Ts", at + 1)
            if at < 0:
                return
            continue
        yield frame
        at += 12 + len(frame[2])


class Bytes:
    """Takes numbers off the front of a payload."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def uvarint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF

    def svarint(self):
        value = self.uvarint()
        return (value >> 1) ^ -(value & 1)

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def rest(self):
        return self.data[self.at:]


def signed(value):
    value &= 0xFFFFFFFFFFFFFFFF
    return value - (1 << 64) if value >> 63 else value


def unzstd(data):
    return subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout


def read_times(payload):
    b = Bytes(payload)
    stream, block, rows = b.uvarint(), b.uvarint(), b.uvarint()
    ticks = []
    for r in range(rows):
        ticks.append(b.svarint() if r == 0 else ticks[-1] + b.uvarint() + 1)
    return stream, block, [(tick, b.svarint()) for tick in ticks]


def skip_statistics(b, columns):
    stats = []
    for column in columns:
        present = b.uvarint()
        if present and column["type"] != "f64":
            first = b.svarint()
            last = signed(first + b.svarint())
            stats.append((present, first, last, signed(first - b.uvarint()), signed(first + b.uvarint()),
                          b.uvarint()))
        else:
            stats.append((present,))
    return stats


def read_column(b, rows):
    presence = b.take(1)[0]
    if presence == 2:
        return [None] * rows
    if presence == 3:
        return [b.svarint()] * rows
    if presence == 0:
        here = [True] * rows
    elif presence == 1:
        bits = b.take((rows + 7) // 8)
        here = [bool(bits[r // 8] >> (r % 8) & 1) for r in range(rows)]
    else:
        raise ValueError(f"presence {presence}")
    values, value = [], 0
    for present in here:
        if present:
            value = signed(value + b.svarint())
        values.append(value if present else None)
    return values


def check_statistics(column, values, stats):
    """The statistics say the same as the values."""
    there = [v for v in values if v is not None]
    assert stats[0] == len(there), (column["metric"], stats, len(there))
    if len(stats) == 1:
        return
    low = min(there)
    if column["kind"] == "counter":
        total = sum(max(0, b - a) for a, b in zip(there, there[1:]))
    else:
        total = sum(v - low for v in there)
    expected = (len(there), there[0], there[-1], low, max(there), total & 0xFFFFFFFFFFFFFFFF)
    assert stats == expected, (column["metric"], stats, expected)


def value_of(column, raw):
    if column["type"] == "f64":
        return struct.unpack("<d", struct.pack("<q", raw))[0]
    numerator, denominator = column["scale"]
    return raw * numerator / denominator


def labels_text(labels):
    return ";".join(f"{k}={v}" for k, v in sorted(labels.items()))


def read_manifest(folder):
    """manifest.json, or the last copy of it in the segments when it is ruined."""
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        copies = [payload if not flags & ZSTD else unzstd(payload) for name in segments(folder)
                  for kind, flags, payload in frames(os.path.join(folder, name)) if kind == MANIFEST]
        return json.loads(copies[-1])


def segments(folder):
    return [name for name in sorted(os.listdir(folder)) if re.fullmatch(r"samples-\d{4,}\.seg", name)]


def output_times(path):
    """[(offset, time_ns)] of the whole records beside a part of the output."""
    try:
        with open(os.path.splitext(path)[0] + ".times", "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return []
    found = []
    for at in range(0, len(data) - 15, 16):
        time_ns, offset, crc = struct.unpack_from("<qII", data, at)
        is_later = not found or (offset >= found[-1][0] and time_ns >= found[-1][1])
        if crc == crc32c(data[at:at + 12]) and is_later:
            found.append((offset, time_ns))
    return found


def dated_lines(folder, zero_ns):
    """[(seconds after t = 0 or None, line)] of the output: when the last byte of each line was read."""
    lines = []
    for name in ("output.log", "output.1.log", "output.2.log"):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            continue
        with open(path, "rb") as file:
            text = file.read()
        times, offset, known, time_ns = output_times(path), 0, 0, None
        for line in text.splitlines(keepends=True):
            last = offset + max(len(line.rstrip(b"\n")) - 1, 0)
            while known < len(times) and times[known][0] <= last:
                time_ns, known = times[known][1], known + 1
            lines.append((None if time_ns is None else (time_ns - zero_ns) / 1e9, line.rstrip(b"\n").decode()))
            offset += len(line)
    return lines


class Run:
    def __init__(self, folder):
        self.folder = folder
        self.manifest = read_manifest(folder)
        self.schemas, self.last_tick, self.events, self.closing = {}, {}, [], []
        self.reports, self.last_report = [], -1  # lines of progress: (time_ns, source, message)
        self.samples = []  # (time_s, metric, labels, value)
        self.rows = []  # (tick, late_us) of stream 0
        self.incarnations = 0
        tail = os.path.join(folder, "tail")
        last = list(frames(tail)) if os.path.exists(tail) else []
        for name in segments(folder):
            self.read(frames(os.path.join(folder, name)))
        self.read(last)

    def limit(self, period_ns):
        """The last tick that counts."""
        duration = self.manifest.get("duration_s")
        return None if duration is None else round(duration * 1e9) // period_ns

    def read(self, some_frames):
        blocks = {}  # (stream, block): which rows count, their times
        for kind, flags, payload in some_frames:
            if kind == HEAD:
                self.incarnations = max(self.incarnations, json.loads(payload)["incarnation"])
            elif kind == SCHEMA:
                schema = json.loads(payload)
                self.schemas[schema["schema"]] = schema
            elif kind == TIMES:
                stream, block, rows = read_times(payload)
                blocks[stream, block] = rows, self.last_tick.get(stream, -1)
                if rows:
                    self.last_tick[stream] = max(self.last_tick.get(stream, -1), rows[-1][0])
                if stream == 0:
                    period = self.manifest["period_ns"]
                    counted = [r for r in rows if self.counts(r[0], blocks[stream, block][1], period)]
                    self.rows += counted
                    self.samples += [((tick * period + late_us * 1000) / 1e9, "recorder.lateness",
                                      "process=recorder", late_us / 1e6) for tick, late_us in counted]
            elif kind == COLUMNS:
                self.read_columns(flags, payload, blocks)
            elif kind == EVENT:
                self.events.append(json.loads(payload))
            elif kind == STEP:
                self.read_reports((unzstd(payload) if flags & ZSTD else payload).decode().splitlines())
            elif kind == CLOSING:
                self.closing.append(json.loads(payload))

    def read_reports(self, lines):
        for number, line in enumerate(lines[1:], int(lines[0])):
            if number > self.last_report:
                time_ns, source, message = line.split(" ", 2)
                self.reports.append((int(time_ns), source, message))
                self.last_report = number

    def counts(self, tick, before, period_ns):
        limit = self.limit(period_ns)
        return tick > before and (limit is None or tick <= limit)

    def read_columns(self, flags, payload, blocks):
        b = Bytes(payload)
        schema, block, rows = self.schemas[b.uvarint()], b.uvarint(), b.uvarint()
        columns, period = schema["columns"], schema["period_ns"]
        stats = skip_statistics(b, columns) if flags & STATISTICS else None
        body = Bytes(unzstd(b.rest()) if flags & ZSTD else b.rest())
        times, before = blocks[schema["stream"], block]
        assert len(times) == rows, (len(times), rows)
        for c, column in enumerate(columns):
            values = read_column(body, rows)
            if stats:
                check_statistics(column, values, stats[c])
            labels = labels_text(column["labels"])
            for (tick, late_us), raw in zip(times, values):
                if raw is None or not self.counts(tick, before, period):
                    continue
                time_s = (tick * period + late_us * 1000) / 1e9
                self.samples.append((time_s, column["metric"], labels, value_of(column, raw)))
        assert not body.rest(), "bytes after the last column"


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    out = csv.writer(sys.stdout)
    out.writerow(["time_s", "metric", "labels", "value"])
    for time_s, metric, labels, value in Run(sys.argv[1]).samples:
        out.writerow([f"{time_s:.6f}", metric, labels, repr(value)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
