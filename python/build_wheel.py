"""Builds the wheel of trainscope for `pip install ./python`: a zip file of the package and three short texts.

A build backend (PEP 517) of the standard library alone, so that installing needs neither network nor
setuptools. For pip install; it makes no source distribution. What pyproject.toml says of the project is
said to pip by METADATA here.
"""
import base64
import hashlib
import os
import re
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))


def _text(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def _field(name):
    """A string of pyproject.toml; Python had no reader of TOML before 3.11."""
    return re.search(r'^%s = "([^"]*)"$' % name, _text("pyproject.toml"), re.M).group(1)


def _metadata():
    return ("Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nRequires-Python: %s\n"
            "License: Apache-2.0\nDescription-Content-Type: text/markdown\n\n%s"
            % (_field("name"), _field("version"), _field("description"), _field("requires-python"),
               _text("README.md")))


def _files():
    """(path in the wheel, text) of everything but the record."""
    info = "trainscope-%s.dist-info/" % _field("version")
    for name in sorted(os.listdir(os.path.join(HERE, "trainscope"))):
        if name.endswith(".py"):
            yield "trainscope/" + name, _text("trainscope/" + name)
    yield info + "METADATA", _metadata()
    yield info + "WHEEL", ("Wheel-Version: 1.0\nGenerator: trainscope\nRoot-Is-Purelib: true\n"
                           "Tag: py3-none-any\n")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "trainscope-%s-py3-none-any.whl" % _field("version")
    record = "trainscope-%s.dist-info/RECORD" % _field("version")
    rows = []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, text in _files():
            data = text.encode("utf-8")
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append("%s,sha256=%s,%d\n" % (path, digest, len(data)))
            wheel.writestr(path, data)
        wheel.writestr(record, "".join(rows) + record + ",,\n")
    return name
