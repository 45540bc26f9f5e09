"""Runs, files and names that others made: what they hold reaches no terminal and no shell, and nothing of it is obeyed."""
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess

from trainscope_test import BIN, Case, main

# Escape sequences (a colour that we use too, CSI, OSC), a C1 control, a turn of the writing direction, a carriage return, a
# backspace, a newline.
EVIL = "a\x1b[31m\x1b[2J\x1b]0;owned\x07\x9b31m\u202eb\rc\x08d\u2066\x7fe"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class HostileRun(Case):
    """A run folder whose manifest was written by an enemy."""

    def setUp(self):
        super().setUp()
        self.record(["true"], "--name", "plain")
        self.run_path = self.only_run()

    def only_run(self):
        (found,) = pathlib.Path(self.home).iterdir()
        return found

    def poison(self, **fields):
        path = self.run_path / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest.update(fields)
        path.write_text(json.dumps(manifest))
        return manifest

    def poison_all(self):
        """Every text of the manifest but those that say what the file is."""
        path = self.run_path / "manifest.json"
        def evil(value, key=""):
            if isinstance(value, dict):
                return {k: evil(v, k) for k, v in value.items()}
            if isinstance(value, list):
                return [evil(v, key) for v in value] or ([EVIL] if key in ("notes", "command") else [])
            kept = key in ("schema", "ended_by", "started", "ended", "kind")
            return EVIL + value if isinstance(value, str) and not kept else value
        manifest = evil(json.loads(path.read_text()))
        manifest["notes"] = [EVIL]
        manifest["tags"] = {EVIL: EVIL}
        manifest["command"] = [EVIL, "x\ny"]
        path.write_text(json.dumps(manifest))

    def assert_harmless(self, *words, codes=(0, 1, 2)):
        done = self.trainscope(*words, check=False)
        self.assertIn(done.returncode, codes, f"{words} {done.stderr}")
        for name, text in (("stdout", done.stdout), ("stderr", done.stderr)):
            found = OBEYED.search(text.decode())  # and it is UTF-8
            self.assertIsNone(found, f"{words}: {name}: {text!r}")
        return done

    def test_no_text_for_people_is_obeyed(self):
        self.poison_all()
        run = str(self.run_path)
        for words in (["list"], ["list", "--json"], ["info", run], ["info", run, "--all"], ["info", run, "--json"],
                      ["diagnose", run, "--explain"], ["diagnose", run, run], ["compare", run, run],
                      ["sql", run, "select * from nothing"], ["export", run, "--to", EVIL.replace("\0", "")],
                      ["complete-runs"], ["rm", run], ["rm", EVIL], ["info", EVIL], ["info", EVIL + "/x"],
                      ["import", EVIL], ["import", "--from", EVIL, run], [EVIL], ["list", "--" + EVIL],
                      ["run", "--every", EVIL, "--", "true"], ["run", "--counter", EVIL, "--", "true"], ["run", "--", EVIL]):
            done = self.assert_harmless(*words, codes=range(128))
            if "--json" in words:
                json.loads(done.stdout)

    def test_an_imported_format_is_text(self):
        self.poison(imported_format=EVIL, imported_path=EVIL)
        self.assert_harmless("list")
        self.assert_harmless("info", str(self.run_path))

    def test_a_damaged_manifest_is_told_of_harmlessly(self):
        (self.run_path / "manifest.json").write_bytes(f'{{"schema": "{EVIL}\x1b[31m", "x": \x1b[0m'.encode())
        self.assert_harmless("list")
        self.assert_harmless("info", str(self.run_path))

    def test_json_says_exactly_what_the_run_says(self):
        self.poison(name=EVIL)
        document = json.loads(self.assert_harmless("list", "--json").stdout)
        self.assertEqual(document["runs"][0]["name"], EVIL)

    def test_file_names_and_settings(self):
        folder = pathlib.Path(self.path(EVIL.replace("/", "")))
        folder.mkdir()
        (folder / "trainscope.toml").write_text("x = \n")
        done = self.trainscope("list", check=False, cwd=folder)
        self.assertIsNone(OBEYED.search(done.stderr.decode()), done.stderr)
        self.assert_harmless("list", "--home", str(folder))
        self.assert_harmless("import", str(folder))

    def test_completion_offers_nothing_that_a_shell_obeys(self):
        for name in ("$(touch x)", "`touch x`", "a;b", "a|b", EVIL, "-rf", "*"):
            self.poison(name=name, id=name)
            self.assertEqual(self.assert_harmless("complete-runs").stdout, b"latest\n", name)

    def test_the_notes_that_a_terminal_shows(self):
        """Data is exact in a pipe and harmless on a terminal."""
        self.poison(name=EVIL, notes=[EVIL])
        text = read_terminal([BIN, "info", str(self.run_path)], self.environment(TERM="xterm"))
        self.assertIn("\x1b[1m", text)  # our own styles are there
        rest = re.sub("\x1b\\[(0|1|2|31|32|33)m", "", text).replace("\r\n", "\n")
        self.assertIsNone(OBEYED.search(rest), repr(rest))


def read_terminal(words, environment):
    """What a program writes to a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            part = b""
        if not part:
            break
        parts.append(part)
    process.wait(timeout=120)
    os.close(ours)
    return b"".join(parts).decode()


class OtherHosts(Case):
    """Runs that another host records into a shared home."""

    def setUp(self):
        super().setUp()
        self.record(["true"])
        self.wait_for_settled_runs()
        (self.run_path,) = pathlib.Path(self.home).iterdir()

    def foreign(self, silent_for_s):
        """The run as another host left it: no end recorded, nothing written for so long."""
        path = self.run_path / "manifest.json"
        manifest = {**json.loads(path.read_text()), "boot_id": "another", "host_name": "node7", "ended": None,
                    "ended_by": None, "exit_code": None, "duration_s": None}
        path.write_text(json.dumps(manifest))
        tail = self.run_path / "tail"
        tail.touch()
        now = tail.stat().st_mtime
        os.utime(tail, (now - silent_for_s, now - silent_for_s))

    def status(self):
        return json.loads(self.trainscope("list", "--json").stdout)["runs"][0]["status"]

    def test_a_silent_run_of_another_host_is_not_removed(self):
        for silent_for_s, status in ((40, "running"), (5000, "ended")):
            self.foreign(silent_for_s)
            self.assertEqual(self.status(), status)
            done = self.trainscope("rm", "--yes", str(self.run_path), check=False)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(b"--force", done.stderr)
            self.assertTrue((self.run_path / "manifest.json").exists())
        done = self.trainscope("rm", "--yes", "--older-than", "1ms")
        self.assertTrue(self.run_path.exists())
        self.assertIn(b"--force", done.stderr)
        self.trainscope("rm", "--yes", "--force", str(self.run_path))
        self.assertFalse(self.run_path.exists())

    def test_what_this_kernel_records_is_never_removed(self):
        """Also when the supervisor's number means nothing here, as in another container."""
        shutil.rmtree(self.run_path)
        job = self.start(["sleep", "60"])
        self.recorder()
        (self.run_path,) = pathlib.Path(self.home).iterdir()
        done = self.trainscope("rm", "--yes", "--force", str(self.run_path), check=False)
        self.assertEqual(done.returncode, 2, done)
        if shutil.which("unshare") and os.geteuid() == 0:
            words = ["unshare", "--pid", "--fork", "--mount-proc", BIN, "rm", "--yes", "--force", str(self.run_path)]
            done = subprocess.run(words, env=self.environment(), capture_output=True, timeout=60, check=False)
            if b"unshare" not in done.stderr:
                self.assertIn(b"is being recorded", done.stderr)
        self.assertTrue((self.run_path / "manifest.json").exists())
        job.terminate()
        job.wait(timeout=60)


if __name__ == "__main__":
    main()
