"""Packages for machines without a compiler (scripts/package): the same bytes twice, and a job is recorded from each.

Only for the architecture of this machine; scripts/check-packages tries them on a bare one.
"""
import base64
import csv
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from trainscope_test import BIN, Case, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
JOB = "import trainscope\nfor i in range(1, 6): trainscope.step(i, loss=0.5)\nprint(trainscope.__file__)"


def build(out, **variables):
    """The packages by their extension."""
    done = subprocess.run([ROOT / "scripts/package", "--out", out, BIN], capture_output=True, text=True,
                          env={**os.environ, "TRAINSCOPE_BIN": BIN, **variables})
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return {path.name.rpartition(".")[2]: path for path in pathlib.Path(out).iterdir()}


class Packages(Case):
    @classmethod
    def setUpClass(cls):
        cls.out = tempfile.mkdtemp(prefix="trainscope-packages-")
        cls.addClassCleanup(shutil.rmtree, cls.out)
        cls.packages = build(os.path.join(cls.out, "first"))
        cls.version = subprocess.run([BIN, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]

    def output(self, *words, **keywords):
        done = subprocess.run([*map(str, words)], capture_output=True, timeout=300, cwd=self.folder,
                              env=self.environment(), **keywords)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout} {done.stderr}")
        return done.stdout.decode()

    def record_with(self, program, python, module_folder=None):
        """Records a job that uses the module; returns where it found it."""
        variables = {"PYTHONPATH": str(module_folder)} if module_folder else {}
        done = self.trainscope("run", "--", python, "-B", "-c", JOB, program=program, cwd=self.folder,
                               env=self.environment(**variables))
        self.assertIn(b"duration", done.stderr)
        steps = self.info()["steps"]
        self.assertEqual((steps["count"], steps["source"]), (5, "pipe"))
        sources = json.loads(self.trainscope("doctor", "--json", program=program).stdout)["sources"]
        gpu = next(source for source in sources if source["name"] == "gpu")
        self.assertNotIn("trainscope-gpu", gpu["reason"] or "", "the GPU program was not found or not loaded")
        return done.stdout.decode().strip()

    def test_two_builds_have_the_same_bytes(self):
        git = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
        commit_time = int(git.stdout) if git.returncode == 0 else 315532800
        again = build(os.path.join(self.out, "second"), SOURCE_DATE_EPOCH=str(commit_time), TZ="Asia/Tokyo", LC_ALL="C")
        self.assertEqual({path.name for path in again.values()}, {path.name for path in self.packages.values()})
        for kind, path in self.packages.items():
            same = path.read_bytes() == again[kind].read_bytes()
            self.assertTrue(same, f"{path.name} has other bytes")  # assertEqual would print megabytes
        with tarfile.open(self.packages["gz"]) as tar:
            self.assertEqual({entry.mtime for entry in tar}, {commit_time})

    def test_programs_do_not_name_the_folder_of_the_build(self):
        for name in (BIN, os.path.join(os.path.dirname(BIN), "trainscope-gpu")):
            self.assertNotIn(str(ROOT).encode(), pathlib.Path(name).read_bytes(), name)

    def test_the_wheel_is_consistent(self):
        self.assertRegex(self.packages["whl"].name, r"^trainscope-[\d.]+-py3-none-manylinux2014_(\w+)\.musllinux_1_1_\1\.whl$")
        with zipfile.ZipFile(self.packages["whl"]) as wheel:
            info = f"trainscope-{self.version}.dist-info/"
            record = {row[0]: row for row in csv.reader(io.StringIO(wheel.read(info + "RECORD").decode()))}
            self.assertEqual(set(record), set(wheel.namelist()))
            for name, hashed, size in (row for row in record.values() if row[1]):
                digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=")
                self.assertEqual((hashed, size), (f"sha256={digest.decode()}", str(wheel.getinfo(name).file_size)), name)
            tags = [line for line in wheel.read(info + "WHEEL").decode().splitlines() if line.startswith("Tag: ")]
            self.assertEqual(len(tags), 2)
            self.assertIn(f"Version: {self.version}\n", wheel.read(info + "METADATA").decode())

    def test_the_wheel_installs_programs_and_module(self):
        if subprocess.run([sys.executable, "-c", "import ensurepip, venv"], capture_output=True).returncode != 0:
            self.skipTest("python3-venv is not installed")
        venv = pathlib.Path(self.path("venv"))
        self.output(sys.executable, "-m", "venv", venv)
        self.output(venv / "bin/python", "-m", "pip", "install", "--no-index", "--disable-pip-version-check", self.packages["whl"])
        module = self.record_with(venv / "bin/trainscope", venv / "bin/python")
        self.assertTrue(module.startswith(f"{venv}/lib"), module)
        self.assertTrue((venv / "share/man/man1/trainscope-run.1").exists())
        doc = venv / "share/doc/trainscope"
        named = set(re.findall(r"`((?:guide|reference)/[\w./-]*)`", (doc / "README.md").read_text()))
        self.assertIn("guide/progress.md", named)
        for page in named:
            self.assertTrue((doc / page).exists(), f"README.md names {page}")
        self.assertIn(self.version, self.output(venv / "bin/python", "-m", "pip", "show", "trainscope"))

    @unittest.skipUnless(shutil.which("dpkg-deb"), "dpkg-deb is not installed")
    def test_the_deb_has_everything_in_its_place(self):
        deb = self.packages["deb"]
        fields = dict(line.split(": ", 1) for line in self.output("dpkg-deb", "-f", deb).splitlines() if line[0] != " ")
        self.assertEqual((fields["Package"], fields["Version"]), ("trainscope", self.version))
        self.assertIn("libc6 (>= 2.34)", fields["Recommends"])
        self.assertNotIn("Depends", fields)
        listed = [line.split(None, 5) for line in self.output("dpkg-deb", "-c", deb).splitlines()]
        self.assertEqual({owner for _, owner, *_ in listed}, {"root/root"})
        modes = {line[5]: line[0] for line in listed}
        self.assertEqual(modes["./usr/bin/trainscope"], "-rwxr-xr-x")
        for path in ("bin/trainscope-gpu", "include/trainscope.h", "include/trainscope.hpp", "share/man/man1/trainscope.1.gz",
                     "share/man/man1/trainscope-run.1.gz", "share/bash-completion/completions/trainscope",
                     "share/zsh/site-functions/_trainscope", "share/fish/vendor_completions.d/trainscope.fish",
                     "share/doc/trainscope/copyright", "share/doc/trainscope/changelog.gz",
                     "share/doc/trainscope/guide/progress.md", "share/doc/trainscope/licenses/libsqlite3-dev.txt"):
            self.assertIn(f"./usr/{path}", modes)
        self.output("dpkg-deb", "-x", deb, self.path("deb"))
        folder = pathlib.Path(self.path("deb/usr"))
        modules = folder / "lib/python3/dist-packages"
        self.assertTrue(self.record_with(folder / "bin/trainscope", sys.executable, modules).startswith(str(modules)))

    def test_the_tar_runs_where_it_is_unpacked(self):
        with tarfile.open(self.packages["gz"]) as tar:
            self.assertEqual({(entry.uid, entry.gid) for entry in tar}, {(0, 0)})
            self.assertEqual([entry.name for entry in tar], sorted((entry.name for entry in tar), key=lambda n: n.split("/")))
        self.output("tar", "-xzf", self.packages["gz"])
        top = next(pathlib.Path(self.folder).glob("trainscope-*-linux-*"))
        note = (top / "INSTALL").read_text()
        for part in ("bin/trainscope", "bin/trainscope-gpu", "include", "share/trainscope/python", "share/man",
                     "share/doc/trainscope", "share/bash-completion"):
            self.assertIn(part, note)
            self.assertTrue((top / part).exists(), part)
        modules = top / "share/trainscope/python"
        self.assertTrue(self.record_with(top / "bin/trainscope", sys.executable, modules).startswith(str(modules)))


if __name__ == "__main__":
    main()
