"""A reader of reports of its own: nothing here is shared with the program that writes them."""
import base64
import gzip
import html.parser
import json
import struct

PLACE = "trainscope-report"


class Page(html.parser.HTMLParser):
    """The elements of a report, its visible text, and the text of each script element."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements = []  # (tag, attributes)
        self.scripts = []  # (attributes, text)
        self.text = ""
        self._raw = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._raw = (tag, dict(attrs), "")

    def handle_endtag(self, tag):
        if self._raw and tag == self._raw[0]:
            if tag == "script":
                self.scripts.append(self._raw[1:])
            self._raw = None

    def handle_data(self, data):
        if self._raw:
            self._raw = (*self._raw[:2], self._raw[2] + data)
        else:
            self.text += data

    def tags(self):
        return [tag for tag, _ in self.elements]

    def data(self):
        """The JSON document of the report."""
        found = [text for attributes, text in self.scripts if attributes.get("id") == PLACE]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} elements with the data")
        return json.loads(found[0])


def columns(text):
    """(header, {name of the series: {name of the array: numbers}}) of packed columns."""
    raw = gzip.decompress(base64.b64decode(text, validate=True))
    if raw[:4] != b"TSC1":
        raise AssertionError(raw[:8])
    length = struct.unpack_from("<I", raw, 4)[0]
    if (8 + length) % 8:
        raise AssertionError("the arrays are not aligned")
    header = json.loads(raw[8:8 + length])
    at, series = 8 + length, {}
    for column in header["columns"]:
        arrays = {}
        for name in column["arrays"]:
            arrays[name] = struct.unpack_from(f"<{column['count']}d", raw, at)
            at += 8 * column["count"]
        series[column.get("name", column["series"])] = arrays
    if at != len(raw):
        raise AssertionError(f"{len(raw) - at} bytes too many")
    return header, series
