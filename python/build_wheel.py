"""Builds wheels of trainscope: for `pip install ./python` that of the Python module alone.

A build backend (PEP 517) of the standard library alone, so that installing needs neither network nor
setuptools. For pip install; it makes no source distribution. What pyproject.toml states about the project
goes to pip in METADATA here. scripts/package builds the wheel with the programs from the same parts.
"""
import base64
import hashlib
import os
import re
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
MODE_FILE, MODE_PROGRAM = 0o644, 0o755


def _text(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def _field(name, file="pyproject.toml"):
    """A string of a file; Python had no reader of TOML before 3.11."""
    return re.search(r'^%s = "([^"]*)"$' % name, _text(file), re.M).group(1)


def version():
    return _field("__version__", "trainscope/__init__.py")


def info_folder():
    return "trainscope-%s.dist-info/" % version()


def module_files():
    """(path in the wheel, content, mode) of the Python module."""
    for name in sorted(os.listdir(os.path.join(HERE, "trainscope"))):
        if name.endswith(".py"):
            yield "trainscope/" + name, _text("trainscope/" + name).encode("utf-8"), MODE_FILE


def info_files(summary, tags, is_pure):
    """The same of METADATA and WHEEL."""
    metadata = ("Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nRequires-Python: %s\n"
                "License: Apache-2.0\nDescription-Content-Type: text/markdown\n\n%s"
                % (_field("name"), version(), summary, _field("requires-python"), _text("README.md")))
    wheel = ("Wheel-Version: 1.0\nGenerator: trainscope\nRoot-Is-Purelib: %s\n"
             % ("true" if is_pure else "false")) + "".join("Tag: %s\n" % tag for tag in tags)
    yield info_folder() + "METADATA", metadata.encode("utf-8"), MODE_FILE
    yield info_folder() + "WHEEL", wheel.encode("utf-8"), MODE_FILE


def write_wheel(path, files, time=FIRST_ZIP_TIME):
    """A zip file of `files` and their RECORD; the same files and time give the same bytes."""
    rows = []

    def add(wheel, name, data, mode):
        entry = zipfile.ZipInfo(name, time)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.create_system = 3  # Unix: modes count
        entry.external_attr = (0o100000 | mode) << 16
        wheel.writestr(entry, data)

    with zipfile.ZipFile(path, "w") as wheel:
        for name, data, mode in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append("%s,sha256=%s,%d\n" % (name, digest, len(data)))
            add(wheel, name, data, mode)
        record = info_folder() + "RECORD"
        add(wheel, record, ("".join(rows) + record + ",,\n").encode("utf-8"), MODE_FILE)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tag = "py3-none-any"
    name = "trainscope-%s-%s.whl" % (version(), tag)
    files = list(module_files()) + list(info_files(_field("description"), [tag], True))
    write_wheel(os.path.join(wheel_directory, name), files)
    return name
