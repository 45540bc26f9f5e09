"""Reads the binary columns of the API of `view`; shares no code with the program. For tests and benchmarks."""
import json
import struct


def decode_columns(content):
    """TSC1 as docs/web-api.md describes it: the header, each column with its arrays."""
    if content[:4] != b"TSC1":
        raise AssertionError(f"not TSC1: {content[:40]}")
    (length,) = struct.unpack_from("<I", content, 4)
    header = json.loads(content[8:8 + length])
    at = 8 + length
    if at % 8:
        raise AssertionError("the arrays are not aligned")
    for column in header["columns"]:
        for name in column["arrays"]:
            column[name] = list(struct.unpack_from(f"<{column['count']}d", content, at))
            at += 8 * column["count"]
    if at != len(content):
        raise AssertionError(f"{len(content) - at} bytes more than the header says")
    return header
