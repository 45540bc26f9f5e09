"""Looking runs up and changing what a person wrote: RUN arguments, list and its filters, edit, rm, info --events."""
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import termios

from test_cli import BIN, Case
from trainscope_test import main, wait_until


class Lookup(Case):
    def test_rm_of_a_name_shows_all_of_them_first(self):
        for name in ("a", "a", "a2", "b"):
            self.run_cli("run", "--quiet", "--name", name, "--", "true")
        runs = self.listed()
        named = [run["id"] for run in runs if run["name"] == "a"]
        self.assertEqual(self.run_cli("rm", "a").returncode, 2)  # nobody can be asked
        done = self.answered(b"n\n", "rm", "a")
        self.assertEqual(done[0], 1)
        for run in named:
            self.assertIn(run, done[1])
        self.assertIn("remove 2 runs", done[1])
        rows = [line.split()[0] for line in done[1].splitlines() if line.strip()]  # one line per run
        self.assertEqual(sorted(row for row in rows if row in named), sorted(named), done[1])
        self.assertEqual(len(self.listed()), 4)
        done = self.run_cli("rm", "--yes", "a")
        self.assertEqual(done.returncode, 0, done.stderr)
        for run in named:
            self.assertIn(run, done.stderr)
        self.assertEqual([run["name"] for run in self.listed()], ["a2", "b"])
        self.assertEqual(self.run_cli("rm", "--yes", "a*").returncode, 0)
        self.assertEqual([run["name"] for run in self.listed()], ["b"])

    def listed(self, *words):
        done = self.run_cli("list", "--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["runs"]

    def answered(self, typed, *words, columns=80):
        """(exit code, everything on the terminal) of a command whose question is answered so."""
        pid, master = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 33, columns, 0, 0))
            os.chdir(self.work)
            os.execve(BIN, [BIN, *words], self.env)
        os.write(master, typed)
        shown = b""
        while True:
            try:
                shown += os.read(master, 65536)
            except OSError:
                break
        os.close(master)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()

    def test_without_a_run_the_newest_is_meant(self):
        self.run_cli("run", "--quiet", "--name", "first", "--", "true")
        self.run_cli("run", "--quiet", "--name", "second", "--", "true")
        self.assertEqual(json.loads(self.run_cli("info", "--json").stdout)["run"]["name"], "second")
        self.assertEqual(self.run_cli("show").stdout, self.run_cli("info", "latest").stdout)
        self.assertEqual(self.run_cli("export", "--to", "csv").stdout, self.run_cli("export", "latest", "--to", "csv").stdout)
        self.assertEqual(self.run_cli("sql", "select 1 as a").stdout, "a\r\n1\r\n".replace("\r\n", "\n"))
        self.assertEqual(self.run_cli("sql", "first", "select 1 as a").returncode, 0)
        self.assertEqual(self.run_cli("ls").stdout, self.run_cli("list").stdout)

    def test_runs_before_the_newest_of_a_name_and_by_pattern(self):
        for name in ("base", "other", "base"):
            self.run_cli("run", "--quiet", "--name", name, "--", "true")
        ids = [run["id"] for run in self.listed()]
        for text, expected in (("base", 2), ("base~1", 0), ("b*", 2), ("b*~1", 0), ("o*", 1)):
            self.assertEqual(self.info(text)["run"]["id"], ids[expected], text)
        done = self.run_cli("info", "base~2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("only 2 runs have the name 'base'", done.stderr)

    def test_list_shows_the_runs_that_are_asked_for(self):
        self.run_cli("run", "--quiet", "--name", "a", "--tag", "lr=0.1", "--note", "cold cache", "--", "sh", "-c", "exit 3")
        self.run_cli("run", "--quiet", "--name", "ab", "--tag", "lr=0.2", "--", "true")
        names = lambda *words: [run["name"] for run in self.listed(*words)]  # noqa: E731
        self.assertEqual(names("-n", "1"), ["ab"])
        self.assertEqual(names("--name", "a"), ["a"])
        self.assertEqual(names("--name", "a*"), ["a", "ab"])
        self.assertEqual(names("--tag", "lr=0.2"), ["ab"])
        self.assertEqual(names("--command", "EXIT"), ["a"])
        self.assertEqual(names("--status", "failed"), ["a"])
        self.assertEqual(names("--status", "running"), [])
        self.assertEqual(names("--newer-than", "1d"), ["a", "ab"])
        self.assertEqual(names("--older-than", "1d"), [])
        run = self.listed("--name", "a")[0]
        self.assertEqual((run["tags"], run["note"], run["rank"], run["group"]), ({"lr": "0.1"}, "cold cache", None, None))
        shown = self.run_cli("list").stdout
        self.assertIn("lr=0.1", shown)
        self.assertRegex(shown, r"\d\d:\d\d:\d\d ")
        done = self.run_cli("list", "--name", "nothing")
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_list_shows_the_columns_that_fit(self):
        self.run_cli("run", "--quiet", "--name", "base", "--tag", "lr=0.1", "--", "sh", "-c", "true " + "x" * 100)
        for columns, seconds, tags in ((60, False, False), (80, True, False), (200, True, True)):
            shown = self.answered(b"", "list", columns=columns)[1].replace("\r", "")
            for line in shown.splitlines():
                self.assertLessEqual(len(re.sub(r"\x1b\[\d+m", "", line)), columns)
            self.assertEqual(bool(re.search(r" \d\d:\d\d:\d\d ", shown)), seconds, shown)
            self.assertEqual("lr=0.1" in shown, tags, shown)

    def test_a_rank_of_a_launcher_has_a_group(self):
        self.run_cli("run", "--quiet", "--", "true", env={"RANK": "2", "WORLD_SIZE": "4"})
        run = self.listed()[0]
        job = run["group"]["job"]
        self.assertRegex(job, "^ranks-[0-9a-f]{8}$")
        self.assertEqual((run["rank"], run["group"]), (2, {"job": job, "rank": 2, "world_size": 4, "restart": 0}))
        self.assertEqual(self.info()["group"], run["group"])

    def test_ranks_are_not_compared_as_repeats(self):
        """However they are named: they wait for each other, so two of them are no evidence about a configuration."""
        for job in ("x", "y"):
            for rank in ("1", "0"):
                env = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": job}
                self.run_cli("run", "--quiet", "--name", f"job-{job}", "--", "true", env=env)
        self.run_cli("run", "--quiet", "--name", "job-alone", "--", "true")
        id_of = {(run["name"], run["rank"]): run["id"] for run in self.listed()}
        x, y, alone = id_of["job-x", 0], id_of["job-y", 0], id_of["job-alone", None]
        for a, b, runs in (("job-x*", "job-y*", [[x], [y]]),
                           (f"{id_of['job-x', 1]},{x}", "torchrun-y", [[x], [y]]),
                           ("job-*", "job-alone", [[x, y, alone], [alone]])):
            done = self.run_cli("compare", a, b, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            document = json.loads(done.stdout)
            self.assertEqual([sorted(document[side]["runs"]) for side in "ab"], [sorted(side) for side in runs], done.stderr)
            self.assertEqual(document["about"], "these_runs")
            self.assertIn("2 ranks of the job torchrun-x; the first is compared", done.stderr)
            self.assertIn("2 ranks of the job torchrun-y; the first is compared", done.stderr)

    def test_edit_changes_what_a_person_wrote_and_nothing_else(self):
        self.run_cli("run", "--quiet", "--name", "a", "--tag", "lr=0.1", "--tag", "x=1", "--note", "n", "--", "true")
        before = self.info()
        manifest = pathlib.Path(before["run"]["path"], "manifest.json")
        fields = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({**fields, "of_a_later_version": [1]}))
        secret = "s3cr3t" + "word"
        done = self.run_cli("edit", "a", "--name", "b", "--tag", "lr=0.2", "--tag", f"token={secret}", "--remove-tag", "x",
                            "--note", f"PASSWORD={secret}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(before["run"]["id"], done.stdout)
        changed = {"name": "b", "tags": {"lr": "0.2", "token": "***"}, "note": "PASSWORD=***"}
        self.assertEqual(json.loads(manifest.read_text()), {**fields, "of_a_later_version": [1], **changed})
        after = self.info("b")
        self.assertEqual({**after, "run": None}, {**before, "run": None})
        self.run_cli("edit", "b", "--name", "", "--note", "")
        self.assertEqual((self.info()["run"]["name"], self.info()["run"]["note"]), (None, None))
        done = self.run_cli("edit", "latest", "--remove-tag", "y")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no tag 'y'", done.stderr)

    def test_edit_refuses_a_run_that_is_being_recorded(self):
        job = subprocess.Popen([BIN, "run", "--quiet", "--", "sleep", "60"], cwd=self.work, env=self.env)
        self.addCleanup(job.wait)
        self.addCleanup(job.terminate)
        wait_until(lambda: self.home.exists() and self.listed())
        done = self.run_cli("edit", "latest", "--name", "x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is being recorded; nothing was changed", done.stderr)

    def test_info_shows_events_and_refused_progress(self):
        secret = "s3cr3t" + "word"
        job = f"trainscope send mark half way; trainscope send 'stepp 5 token={secret}'"
        path = f"{os.path.dirname(BIN)}:{os.environ['PATH']}"
        self.run_cli("run", "--quiet", "--", "sh", "-c", job, env={"PATH": path})
        shown = self.run_cli("info").stdout
        self.assertIn("`trainscope info` shows the first", shown)
        self.assertRegex(shown, r"progress +malformed line .*stepp 5 token=\*\*\*")
        events = self.run_cli("info", "--events").stdout
        self.assertRegex(events, r"\d s +mark +half way")
        self.assertNotIn("system.cpu", events)
        document = json.loads(self.run_cli("info", "--events", "--json").stdout)
        self.assertIn(("mark", "half way"), [(event["kind"], event["text"]) for event in document["events"]])
        self.assertIsNone(self.info()["events"])

    def test_info_shows_the_stored_verdict(self):
        self.run_cli("run", "--quiet", "--", "true")
        run = self.info()["run"]
        file = pathlib.Path(run["path"]) / "manifest.json"
        manifest = json.loads(file.read_text())
        self.assertNotIn("verdict", self.run_cli("info").stdout)
        manifest["verdict"] = {"verdict": "input_bound", "cause": "few_workers", "confidence": 0.53, "rules": 1}
        file.write_text(json.dumps(manifest))
        self.assertRegex(self.run_cli("info").stdout,
                         rf"verdict +input_bound \(few_workers\), confidence 53 %; see: trainscope diagnose {run['id']}\n")

    def test_diagnose_says_when_the_stored_verdict_differs(self):
        self.run_cli("run", "--quiet", "--", "true")
        file = pathlib.Path(self.info()["run"]["path"]) / "manifest.json"
        manifest = json.loads(file.read_text())

        def diagnosed(stored):
            file.write_text(json.dumps({**manifest, "verdict": stored}))
            return self.run_cli("diagnose").stdout, json.loads(self.run_cli("diagnose", "--json").stdout)

        text, document = diagnosed({"verdict": "input_bound", "cause": "few_workers", "confidence": 0.53, "rules": 1})
        self.assertEqual(document["verdict"], "unknown")
        self.assertEqual(document["stored"], {"verdict": "input_bound", "cause": "few_workers", "confidence": 0.53,
                                              "rules": 1, "differs": True})
        self.assertRegex(text, r"(?m)^  stored    input_bound \(few_workers\) at the end of the run, by version 1 of the rules")
        text, document = diagnosed({"verdict": "unknown", "cause": None, "confidence": 0, "rules": 1})
        self.assertFalse(document["stored"]["differs"])
        self.assertNotIn("  stored", text)
        text, document = diagnosed(None)
        self.assertIsNone(document["stored"])

    def test_info_counts_what_nothing_can_be_done_about(self):
        self.run_cli("run", "--quiet", "--", "true")
        absent = [m for m in self.info()["metrics"] if m["status"] == "absent"]
        hopeless = {m["name"] for m in absent if not m["remedy"]}
        self.assertTrue(hopeless)
        shown, whole = (self.run_cli("info", *words).stdout for words in ([], ["--all"]))
        self.assertIn(f"  {len(hopeless)} metrics that this machine or job does not have: ", shown)
        for metric in absent:
            self.assertIn(metric["reason"], whole)
            self.assertEqual(metric["remedy"] is not None and metric["remedy"] in shown, metric["remedy"] is not None)

    def test_the_command_after_the_job_is_a_phase_everywhere(self):
        done = self.run_cli("run", "--after", "sleep 0.2", "--", "sleep", "0.1")
        self.assertRegex(done.stderr, r"--after +\d")
        self.assertEqual([phase["name"] for phase in self.info()["phases"]], ["job", "after"])
        self.assertRegex(self.run_cli("info").stdout, r"phases +job \d.*, after \d")
        rows = self.run_cli("sql", "select name, to_s > from_s from phases").stdout.splitlines()
        self.assertEqual(rows[1:], ["job,1", "after,1"])
        self.assertIn("phases(name, who, from_s, to_s)", self.run_cli("sql", "--help").stdout)

    def test_attach_takes_what_pgrep_prints(self):
        job = subprocess.Popen(["sh", "-c", "sleep 30 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        child = job.stdout.readline().strip()
        self.addCleanup(subprocess.run, ["kill", child], check=False)
        for words in ([child, str(job.pid)], [f"{job.pid}\n{child}\n"]):
            done = self.run_cli("attach", *words, "--for", "300ms")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("still running when the recording ended", done.stderr)
            self.assertEqual(self.info()["job"]["command"][0], "sh")
        other = subprocess.Popen(["sleep", "30"])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        done = self.run_cli("attach", child, str(other.pid), "--for", "300ms")
        self.assertEqual(done.returncode, 2)
        self.assertIn("belong to different jobs", done.stderr)


if __name__ == "__main__":
    main()
