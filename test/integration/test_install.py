"""`make install` puts programs, man pages, completions, clients and guides where PREFIX and DESTDIR say."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from trainscope_test import BIN, Case, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOAD = ROOT / "build/trainscope-workload"


def install(destdir, prefix, *more, **variables):
    return subprocess.run([ROOT / "scripts/install", destdir, prefix, *more], check=True, capture_output=True, text=True,
                          env={**os.environ, "TRAINSCOPE_BIN": BIN, **variables})


class Installed(Case):
    @classmethod
    def setUpClass(cls):
        cls.destdir = tempfile.mkdtemp(prefix="trainscope-install-")
        cls.addClassCleanup(shutil.rmtree, cls.destdir)
        cls.said = install(cls.destdir, "/opt/here").stderr
        cls.top = pathlib.Path(cls.destdir, "opt/here")

    def test_everything_is_below_the_prefix(self):
        self.assertEqual(os.listdir(self.destdir), ["opt"])
        self.assertEqual(sorted(os.listdir(self.top)), ["bin", "include", "share"])

    def test_programs_run(self):
        done = self.trainscope("--version", program=self.top / "bin/trainscope")
        self.assertTrue(done.stdout.startswith(b"trainscope "), done.stdout)
        self.assertTrue(os.access(self.top / "bin/trainscope-gpu", os.X_OK))
        self.assertEqual((self.top / "bin/trainscope-workload").exists(), WORKLOAD.exists())

    def test_completions_are_what_the_program_prints(self):
        for shell, path in (("bash", "bash-completion/completions/trainscope"), ("zsh", "zsh/site-functions/_trainscope"),
                            ("fish", "fish/vendor_completions.d/trainscope.fish")):
            printed = self.trainscope("completion", shell).stdout
            self.assertEqual((self.top / "share" / path).read_bytes(), printed)

    def test_the_clients_are_those_of_the_source_tree(self):
        for source in ("c/trainscope.h", "cpp/trainscope.hpp"):
            installed = self.top / "include" / os.path.basename(source)
            self.assertEqual(installed.read_bytes(), (ROOT / "clients" / source).read_bytes())
        folder = self.top / "share/trainscope/python"
        self.assertIn("add /opt/here/share/trainscope/python to PYTHONPATH", self.said)
        done = subprocess.run([sys.executable, "-B", "-c", "import trainscope, trainscope.torch; print(trainscope.__file__)"],
                              env={**os.environ, "PYTHONPATH": str(folder)}, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), str(folder / "trainscope/__init__.py"), done.stderr)

    def test_the_module_goes_where_python_searches_if_that_is_below_the_prefix(self):
        # An environment has its own folder of modules, and its python3 is the one that is found.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.path("venv")], check=True)
        said = install("", self.path("venv"), PATH=f"{self.path('venv/bin')}:{os.environ['PATH']}").stderr
        self.assertNotIn("PYTHONPATH", said)
        done = subprocess.run([self.path("venv/bin/python"), "-B", "-c", "import trainscope"], cwd=self.folder,
                              env=self.environment(PYTHONPATH=""), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_guides_name_pages_that_are_installed(self):
        doc = self.top / "share/doc/trainscope"
        named = 0
        for page in doc.rglob("*.md"):
            for path in re.findall(r"\b(?:docs/)?(?:guide|reference)/[\w-]+\.md", page.read_text()):
                self.assertTrue((doc / path).exists(), f"{page} names {path}")
                named += 1
        self.assertGreater(named, 5)
        self.assertEqual(sorted(p.name for p in (doc / "guide").iterdir()),
                         sorted(p.name for p in (ROOT / "docs/guide").iterdir()))


class ManPages(Case):
    @classmethod
    def setUpClass(cls):
        destdir = tempfile.mkdtemp(prefix="trainscope-install-")
        cls.addClassCleanup(shutil.rmtree, destdir)
        install(destdir, "/usr")
        cls.pages = {page.name: page for page in pathlib.Path(destdir, "usr/share/man/man1").iterdir()}

    def commands(self):
        text = self.trainscope("--help").stdout.decode()
        return re.findall(r"^  ([a-z-]+) ", text.split("Commands:")[1].split("Options:")[0], re.M)

    def test_there_is_one_for_each_command(self):
        expected = {"trainscope.1", *(f"trainscope-{command}.1" for command in self.commands())}
        if WORKLOAD.exists():
            expected.add("trainscope-workload.1")
        self.assertEqual(set(self.pages), expected)

    def test_docs_without_a_folder_is_a_usage_error(self):
        done = self.trainscope("docs", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--man DIR", done.stderr)

    def test_man_has_nothing_to_complain_about(self):
        if shutil.which("mandoc"):
            words, quiet = ["mandoc", "-T", "lint", "-W", "warning"], r"missing date"
        elif shutil.which("man"):
            words, quiet = ["man", "--warnings", "-E", "UTF-8", "-Tutf8", "-Z", "-l"], r"^$"
        else:
            self.skipTest("neither mandoc nor man is installed")
        for page in self.pages.values():
            done = subprocess.run([*words, page], capture_output=True, text=True, timeout=60)
            printed = done.stdout + done.stderr if words[0] == "mandoc" else done.stderr
            self.assertEqual([line for line in printed.splitlines() if not re.search(quiet, line)], [], page)

    def test_a_page_shows_what_the_help_shows(self):
        words = ["mandoc", "-T", "utf8"] if shutil.which("mandoc") else ["man", "-E", "UTF-8", "-l"]
        if not shutil.which(words[0]):
            self.skipTest("neither mandoc nor man is installed")
        done = subprocess.run([*words, self.pages["trainscope-run.1"]], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "MANWIDTH": "100", "MAN_KEEP_FORMATTING": "", "PAGER": "cat"})
        shown = re.sub(".\x08", "", done.stdout)  # bold and underlined, as for a line printer
        self.assertIn("trainscope run [OPTIONS] -- COMMAND…", shown)
        for option in re.findall(r"^  (--[a-z-]+)", self.trainscope("run", "--help").stdout.decode(), re.M):
            self.assertIn(option, shown)


if __name__ == "__main__":
    main()
