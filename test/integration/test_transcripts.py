"""README and guides show what the program prints: each ```console block is run and compared, numbers masked.

A line that begins with `$ ` is a command, and so is the line after a backslash; the lines below it are what stdout and
stderr must show. `…` stands for any text in a line, and alone in a line for any lines. Blocks of one file run one after
the other in one empty folder with a home of its own. `<!-- setup: COMMAND -->` before a block runs first, unseen.
Blocks with another name, or none, are not run.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from trainscope_test import BIN, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
SECONDS = 120

BLOCK = re.compile(r"((?:^<!-- setup: .* -->\n+)*)^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SETUP = re.compile(r"^<!-- setup: (.*) -->$", re.MULTILINE)
MASKS = [  # in this order
    (re.compile(r"\b(?=[a-z]*[0-9])[0-9a-hjkmnp-tv-z]{10}\b"), "ID"),
    (re.compile(r"\d+-\d+-\d+ \d+:\d+(:\d+)?"), "TIME"),
    (re.compile(r"-?\d+(\.\d+)?(e[-+]\d+)?"), "N"),
    (re.compile(r"\bN ?(ns|µs|ms|s|min|h|d|B|KiB|MiB|GiB|k|M|G|%|ms/s|/s)(?![\w/])"), "N"),
    (re.compile(r"\bN( N)+\b"), "N"),
    (re.compile(r"[ \t]+"), " "),
]


def masked(line):
    for pattern, instead in MASKS:
        line = pattern.sub(instead, line)
    return line.strip()


def commands(block):
    """[(command, expected lines)] of one block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1][0] += "\n" + line
        elif found:
            found[-1][1].append(line)
        else:
            raise AssertionError(f"a transcript begins with a command, not with {line!r}")
    return found


def pattern_of(expected):
    """A regular expression for the masked output."""
    parts = []
    for line in expected:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r"\ *".join(map(re.escape, masked(line).split(" "))).replace("…", ".*") + r"\n")
    return "".join(parts)


class Transcripts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="trainscope-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        programs = pathlib.Path(self.folder, "bin")
        programs.mkdir()
        (programs / "trainscope").symlink_to(BIN)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("TRAINSCOPE_", "SCOREP_"))}
        self.environment = {**kept, "HOME": self.folder, "XDG_CONFIG_HOME": self.folder, "TRAINSCOPE_HOME": os.path.join(self.folder, "runs"),
                            "PATH": f"{programs}:{kept['PATH']}", "LC_ALL": "C.UTF-8", "TRAINSCOPE_SOURCE": str(ROOT)}

    def shell(self, command, work):
        """stdout and stderr together, in their order. Variables that a command exports are set for the next ones."""
        script = f"{command}\ncode=$?; env -0 >{self.folder}/environment; exit $code"
        done = subprocess.run(["bash", "-c", script], cwd=work, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
        with open(f"{self.folder}/environment", encoding="utf-8") as file:
            self.environment = dict(item.split("=", 1) for item in file.read().split("\0") if item)
        return done.stdout.decode().replace("\r\n", "\n")

    def replay(self, page):
        work = pathlib.Path(self.folder, "work")
        work.mkdir()
        count = 0
        for setup, block in BLOCK.findall(page.read_text(encoding="utf-8")):
            for command in SETUP.findall(setup):
                self.shell(command, work)
            for command, expected in commands(block):
                count += 1
                shown = self.shell(command, work)
                got = "".join(masked(line) + "\n" for line in shown.splitlines())
                with self.subTest(page=page.name, command=command):
                    self.assertRegex(got, r"\A" + pattern_of(expected) + r"\Z", f"\nit printed\n{shown}")
        return count

    def test_readme_and_guides(self):
        counts = {}
        for page in PAGES:
            shutil.rmtree(os.path.join(self.folder, "work"), ignore_errors=True)
            shutil.rmtree(os.path.join(self.folder, "runs"), ignore_errors=True)
            counts[page.name] = self.replay(page)
        self.assertGreater(counts["README.md"], 0)
        self.assertGreater(counts["counters.md"], 0)

    def test_masking(self):
        self.assertEqual(masked("  6a2s039jer  x  2026-11-16 11:40:12  1.0 s  93%"), "ID x TIME N N")
        self.assertEqual(masked("took 1 h 13 min, 7.94e+03 KiBy"), masked("took 2.5 s, 12 KiBy"))
        self.assertNotEqual(masked("samples 93"), masked("rows 93"))
        self.assertRegex("a N\nb\nc\n", pattern_of(["a 1", "…", "c"]))
        self.assertNotRegex("a N\nb\nc\nd\n", r"\A" + pattern_of(["a 1", "…", "c"]) + r"\Z")
        self.assertRegex("from N to x\n", pattern_of(["from … x"]))


if __name__ == "__main__":
    main()
