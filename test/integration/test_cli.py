"""The command line as scripts and people meet it: usage errors before anything starts, settings and where
they come from, secrets, doctor, reference pages, completion in real shells."""
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

from trainscope_test import main, wait_until

BIN = os.path.abspath(os.environ.get("TRAINSCOPE_BIN", "build/trainscope"))
SECONDS = 60


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.work = self.top / "work"
        self.config = self.top / "config" / "trainscope"
        self.work.mkdir()
        self.config.mkdir(parents=True)
        self.home = self.top / "runs"
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("TRAINSCOPE_")}
        self.env.update(HOME=str(self.top), XDG_CONFIG_HOME=str(self.top / "config"),
                        TRAINSCOPE_HOME=str(self.home))

    def run_cli(self, *words, env=None, **more):
        return subprocess.run([BIN, *words], cwd=self.work, env={**self.env, **(env or {})}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, **more)

    def refused(self, *words, says, env=None):
        """A usage error: code 2, the words on stderr, nothing on stdout, no run and no job."""
        done = self.run_cli(*words, env=env)
        self.assertEqual(done.returncode, 2, done)
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse(self.home.exists() and any(self.home.iterdir()), "a run was made")

    def info(self, run="latest"):
        done = self.run_cli("info", run, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


def no_file_may_grow():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


class Usage(Case):
    def test_errors_come_before_anything_starts(self):
        mark = self.work / "started"
        job = ["--", "touch", str(mark)]
        for words, says in [
            (["rnu"], ["unknown command 'rnu'", "did you mean 'run'?"]),
            (["--verison"], ["--verison", "did you mean '--version'?"]),
            (["run", "--evry", "5s", *job], ["--evry", "did you mean '--every'?"]),
            (["run", "--every", "abc", *job], ["--every", "'abc'", "100ms"]),
            (["run", "--every", "0", *job], ["--every", "'0'"]),
            (["run", "--every", "100", *job], ["--every", "'100' is not a duration: a unit is missing"]),
            (["run", "--tag", "a=1", "--tag", "a=2", *job], ["--tag", "'a' is given twice"]),
            (["rename", "a", "b"], ["unknown command 'rename'", "trainscope edit RUN --name NAME"]),
            (["diff", "a", "b"], ["unknown command 'diff'", "trainscope compare A B"]),
            (["compare", "a"], ["two runs are needed", "trainscope compare latest~1 latest"]),
            (["edit"], ["RUN is required"]),
            (["edit", "latest"], ["nothing to change"]),
            (["edit", "latest", "--name", "a/b"], ["--name", "'a/b'"]),
            (["edit", "latest", "--tag", "x"], ["--tag", "'x'"]),
            (["list", "--status", "lost"], ["--status", "'lost'"]),
            (["list", "-n", "0"], ["-n", "'0'"]),
            (["sql"], ["SQL is required"]),
            (["sql", "latest"], ["'latest' is not a query"]),
            (["run", "--every", "10us", *job], ["'10us'", "1ms to 1h"]),
            (["run", "--every", "2h", *job], ["'2h'", "1ms to 1h"]),
            (["run", "--for", "-5", *job], ["--for", "'-5'"]),
            (["run", "--grace", "soon", *job], ["--grace", "'soon'"]),
            (["run", "--tag", "novalue", *job], ["--tag", "'novalue'", "key=value"]),
            (["run", "--repeat", "0", *job], ["--repeat", "'0'"]),
            (["run", "--name"], ["--name"]),
            (["run"], ["no command given"]),
            (["run", "--"], ["no command given"]),
            (["attach"], ["PID"]),
            (["attach", "zero"], ["'zero' is not a process id"]),
            (["attach", ""], ["is the job running?"]),
            (["attach", "4194303"], ["process 4194303 does not exist"]),
            (["completion", "tcsh"], ["tcsh"]),
            (["doctor", "extra"], ["unexpected argument 'extra'"]),
            (["demo", "--seconds", "0"], ["--seconds", "'0'"]),
        ]:
            with self.subTest(words=words):
                self.refused(*words, says=says)
        self.assertFalse(mark.exists(), "the job was started")

    def test_a_name_that_means_a_run_is_refused(self):
        mark = self.work / "started"
        job = ["--", "touch", str(mark)]
        for name in ("latest", "latest~2", "resnet~1", "a/b", "..", "res*", "0123456789"):
            self.refused("run", "--name", name, *job, says=["--name", f"'{name}'"])
            self.refused("run", *job, env={"TRAINSCOPE_NAME": name}, says=["TRAINSCOPE_NAME", f"'{name}'"])
        self.refused("import", "--from", "collect-logs", str(self.work), "--name", "latest", says="--name")
        self.refused("attach", str(os.getpid()), "--for", "1s", "--name", "latest", says="--name")
        (self.work / "trainscope.toml").write_text('name = "latest~1"\n')
        self.refused("run", *job, says=["trainscope.toml", "latest~1"])
        self.assertFalse(mark.exists())

    def test_help_shows_examples_first_and_version_is_one_line(self):
        for words in [["--help"], ["run", "--help"], ["doctor", "-h"]]:
            done = self.run_cli(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertLess(done.stdout.index("Examples:"), done.stdout.index("Usage: "))
        for word in ("--version", "version", "-v", "-V"):
            self.assertRegex(self.run_cli(word).stdout, r"\Atrainscope \d+\.\d+\.\d+\n\Z")
        self.assertEqual(self.run_cli("help").stdout, self.run_cli("--help").stdout)
        self.assertEqual(self.run_cli("help", "run").stdout, self.run_cli("run", "--help").stdout)
        self.assertEqual(self.run_cli("help", "rnu").returncode, 2)
        self.assertEqual(self.run_cli().returncode, 2)

    def test_help_works_beside_a_broken_settings_file(self):
        (self.work / "trainscope.toml").write_text("broken")
        self.assertEqual(self.run_cli("run", "--help").returncode, 0)
        self.refused("run", "--", "true", says="trainscope.toml:1")

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([BIN, "--help"], stdout=full, stderr=subprocess.PIPE, env=self.env, timeout=SECONDS)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"No space left", done.stderr)

    def test_a_reader_that_left_ends_it_quietly(self):
        read, write = os.pipe()
        os.close(read)
        for ignored in (False, True):
            done = subprocess.run([BIN, "--help"], stdout=write, stderr=subprocess.PIPE, env=self.env, timeout=SECONDS,
                                  restore_signals=not ignored)
            self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))
        os.close(write)


class Job(Case):
    def words_of_job(self, *words):
        show = [sys.executable, "-c", "import sys; print(sys.argv[1:])"]
        done = self.run_cli("run", "--quiet", *words[:-1], *show, *words[-1])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_the_jobs_words_are_its_own(self):
        words = ["[1,2]", "--", "--name", "x", "list", "++", "", "--help", "-h", "a b"]
        self.assertEqual(self.words_of_job("--", words), str(words))
        self.assertEqual(self.words_of_job("--every", "50ms", words), str(words))
        self.assertEqual(self.words_of_job("--every=50ms", "--tag", "a=1", "--tag", "b=[x]", words), str(words))

    def test_ends_as_the_job(self):
        for job, code in [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", -9), ("kill -SEGV $$", -11), ("kill $$", -15)]:
            done = self.run_cli("run", "--quiet", "--", "sh", "-c", job)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (code, "", ""), job)
        self.assertEqual(self.run_cli("run", "--quiet", "--", "/nowhere/x").returncode, 127)
        self.assertEqual(self.run_cli("run", "--quiet", "--", "/etc/passwd").returncode, 126)
        done = self.run_cli("run", "--quiet", "--for", "300ms", "--", "sleep", "30")
        self.assertEqual(done.returncode, 124, done.stderr)

    def test_a_command_that_cannot_be_executed_leaves_no_run(self):
        for words, code in ((["pyton", "x.py"], 127), (["/etc/passwd"], 126)):
            # In PATH there is no folder that may not be searched.
            done = self.run_cli("run", "--repeat", "2", "--", *words, env={"PATH": "/usr/bin:/bin"})
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (code, 1), done.stderr)
            self.assertIn(f"trainscope: cannot run {words[0]}: ", done.stderr)
        self.assertEqual(json.loads(self.run_cli("list", "--json").stdout)["runs"], [])
        self.assertEqual(list(self.home.iterdir()), [])
        # A file of the working directory is not in PATH.
        for name, instead in (("train.py", "python3 train.py"), ("train", "./train")):
            (self.work / name).write_text("")
            self.assertIn(f"try: trainscope run -- {instead}\n", self.run_cli("run", "--", name).stderr)

    def test_no_core_of_ours(self):
        most = resource.getrlimit(resource.RLIMIT_CORE)[1]
        if most == 0:
            self.skipTest("no process here may leave a core")
        done = self.run_cli("run", "--quiet", "--", "sh", "-c", "ulimit -c 0; kill -SEGV $$",
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)))
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.assertEqual([path.name for path in self.work.iterdir()], [])

    def test_a_home_that_cannot_be_made_is_125(self):
        blocked = self.top / "file"
        blocked.write_text("")
        done = self.run_cli("run", "--home", str(blocked / "x"), "--", "touch", "started")
        self.assertEqual(done.returncode, 125)
        self.assertIn("trainscope: ", done.stderr)
        self.assertFalse((self.work / "started").exists())

    def test_repeat_gives_the_first_failure_and_tags(self):
        job = 'n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; exit $n'
        done = self.run_cli("run", "--quiet", "--repeat", "3", "--name", "r", "--", "sh", "-c", job)
        self.assertEqual(done.returncode, 1)
        self.assertEqual((self.work / "n").read_text(), "3\n")
        runs = json.loads(self.run_cli("list", "--json").stdout)["runs"]
        tags = sorted(self.info(run["id"])["run"]["tags"]["repeat"] for run in runs)
        self.assertEqual(tags, ["1/3", "2/3", "3/3"])

    def test_repeat_stops_when_interrupted(self):
        done = self.run_cli("run", "--quiet", "--repeat", "5", "--", "sh", "-c", "echo x >> n; kill -INT $$")
        self.assertEqual(done.returncode, -signal.SIGINT)
        self.assertEqual((self.work / "n").read_text(), "x\n")

    def test_repeat_goes_on_after_the_time_limit(self):
        job = "echo x >> n; exec sleep 30"
        done = self.run_cli("run", "--quiet", "--repeat", "2", "--for", "1500ms", "--", "sh", "-c", job)
        self.assertEqual(done.returncode, 124)
        self.assertEqual((self.work / "n").read_text(), "x\nx\n")

    def test_an_interrupt_between_two_runs_stops_the_series(self):
        # Most of the time there is no job here that the signal could reach.
        def runs():
            return len(os.listdir(self.home)) if self.home.exists() else 0
        for number in (signal.SIGINT, signal.SIGTERM):
            before = runs()
            process = subprocess.Popen([BIN, "run", "--quiet", "--repeat", "5000", "--", "true"], cwd=self.work,
                                       env=self.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.addCleanup(process.stderr.close)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            wait_until(lambda before=before: runs() >= before + 3)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=SECONDS), -number)

    def test_a_duration_of_nothing_where_it_means_something(self):
        self.refused("run", "--every", "0s", "--", "true", says=["--every", "'0s'"])
        for nothing in ("0", "0s", "0ms"):
            job = "trap '' TERM; while :; do sleep 0.05; done"
            done = self.run_cli("run", "--quiet", "--for", "100ms", "--grace", nothing, "--", "sh", "-c", job)
            self.assertEqual(done.returncode, 124, done.stderr)
            done = self.run_cli("export", "latest", "--to", "csv", "--begin", nothing, "--metric", "job.process.count")
            self.assertEqual((done.returncode, done.stdout[:6]), (0, "time_s"), done.stderr)

    def test_export_replaces_only_the_file_it_was_given(self):
        self.assertEqual(self.run_cli("run", "--quiet", "--", "true").returncode, 0)
        export = ("export", "latest", "--to", "csv", "--metric", "job.process.count")
        whole = self.run_cli(*export).stdout
        old, other, link = self.work / "run.csv", self.work / "run.csv.new", self.work / "link.csv"
        link.symlink_to("run.csv")
        other.write_text("of somebody else")
        for name in ("run.csv", "link.csv"):
            old.write_text("old " * 100000)
            self.assertEqual(self.run_cli(*export, "-o", name).returncode, 2)
            done = self.run_cli(*export, "--force", "-o", name)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(old.read_text(), whole)
        self.assertEqual(other.read_text(), "of somebody else")
        self.assertEqual(sorted(os.listdir(self.work)), ["link.csv", "run.csv", "run.csv.new"])
        # A file that cannot be written in whole: only what the export created is removed.
        for name in ("run.csv", "link.csv"):
            done = self.run_cli(*export, "--force", "-o", name, preexec_fn=no_file_may_grow)
            self.assertEqual(done.returncode, 2, done)
            self.assertEqual(sorted(os.listdir(self.work)), ["link.csv", "run.csv", "run.csv.new"])

    def test_rm_leaves_the_folders_of_others(self):
        built = self.work / "dist"
        built.mkdir()
        (built / "manifest.json").write_text('{"index.html": {"file": "index.js"}}')
        for text in ("dist", str(built)):
            done = self.run_cli("rm", "--yes", text)
            self.assertEqual(done.returncode, 2, done)
            self.assertTrue((built / "manifest.json").exists())
        self.run_cli("run", "--quiet", "--name", "dist", "--", "true")
        self.assertEqual(self.run_cli("rm", "--yes", "dist").returncode, 0)
        self.assertTrue((built / "manifest.json").exists())
        self.assertEqual(json.loads(self.run_cli("list", "--json").stdout)["runs"], [])

    def test_summary_goes_to_stderr_without_colour(self):
        done = self.run_cli("run", "--name", "base", "--", "sh", "-c", "sleep 0.3; echo out")
        self.assertEqual((done.returncode, done.stdout), (0, "out\n"))
        self.assertNotIn("\x1b", done.stderr)
        run = json.loads(self.run_cli("list", "--json").stdout)["runs"][0]
        for part in ["duration", "exit code 0", "samples", f"trainscope info {run['id']}", "base"]:
            self.assertIn(part, done.stderr)

    def test_attach_leaves_the_job_alone(self):
        job = subprocess.Popen(["sleep", "30"])
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        done = self.run_cli("attach", str(job.pid), "--for", "400ms", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIsNone(job.poll())

    def test_id_file(self):
        self.run_cli("run", "--quiet", "--id-file", "id", "--", "true")
        self.assertEqual((self.work / "id").read_text().strip(), self.info()["run"]["id"])

    def test_id_file_that_is_a_descriptor(self):
        for path in ("/dev/stdout", "/dev/fd/1"):
            with self.subTest(path=path):
                done = self.run_cli("run", "--quiet", "--id-file", path, "--", "true")
                self.assertEqual(done.stdout.strip(), self.info()["run"]["id"])

    def test_a_flag_may_be_given_twice_and_takes_no_value(self):
        self.assertEqual(self.run_cli("run", "--quiet", "--quiet", "--", "true").returncode, 0)
        done = self.run_cli("run", "--quiet=false", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--quiet takes no value", done.stderr)

    def test_secrets_are_not_written_down(self):
        secret = "s3cr3t" + "word"
        header = f"Authorization: Bearer {secret}"
        self.run_cli("run", "--quiet", "--after", f"true --token={secret} -H '{header}'", "--", "true", f"--api-key={secret}",
                     "--token", secret, f"PASSWORD={secret}", f"s3://me:{secret}@host/x", "-H", header,
                     env={"TF_AUTH_TOKEN": secret, "TF_CPP_MIN_LOG_LEVEL": "2"})
        command = self.info()["job"]["command"]
        self.assertEqual(command, ["true", "--api-key=***", "--token", "***", "PASSWORD=***", "s3://me:***@host/x",
                                   "-H", "Authorization: ***"])
        after = [s["value"] for s in self.info()["settings"] if s["name"] == "after"]
        self.assertEqual(after, ["true --token=*** -H 'Authorization: ***'"])
        for path in self.home.rglob("*"):
            if stat.S_ISREG(path.stat().st_mode):
                self.assertNotIn(secret.encode(), path.read_bytes(), path)


class Settings(Case):
    def settings(self, *flags, env=None):
        done = self.run_cli("run", "--quiet", *flags, "--", "true", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {setting["name"]: (setting["value"], setting["from"]) for setting in self.info()["settings"]}

    def test_flag_environment_file_default(self):
        mine, here = self.config / "trainscope.toml", self.work / "trainscope.toml"
        self.assertEqual(self.settings()["every"], ("100ms", "default"))
        mine.write_text('every = "90ms"\nnote = "mine"\n')
        self.assertEqual(self.settings()["every"], ("90ms", f"file {mine}"))
        here.write_text('every = "80ms"\n')
        found = self.settings()
        self.assertEqual(found["every"], ("80ms", f"file {here}"))
        self.assertEqual(found["note"], ("mine", f"file {mine}"))
        variable = {"TRAINSCOPE_EVERY": "70ms"}
        self.assertEqual(self.settings(env=variable)["every"], ("70ms", "environment"))
        self.assertEqual(self.settings("--every", "60ms", env=variable)["every"], ("60ms", "flag"))
        counter = {"TRAINSCOPE_COUNTER": "a:/x+"}
        self.assertEqual(self.settings(env=counter)["counter"], ("a:/x+", "environment"))
        self.assertEqual(self.settings("--counter", "b:/y+", "--counter", "c:/z+", env=counter)["counter"],
                         ("b:/y+,c:/z+", "flag"))
        self.assertEqual(self.settings(env={"TRAINSCOPE_EVERY": ""})["every"], ("80ms", f"file {here}"))
        self.assertEqual(self.info()["sampling"]["period_s"], 0.08)

    def rows(self):
        """Settings as the reference has them: name, value as help writes it, variable, is it repeatable, may a
        trainscope.toml in the working directory set it."""
        self.assertEqual(self.run_cli("docs", "--out", "ref").returncode, 0)
        commands = (self.work / "ref" / "commands.md").read_text()
        for row in (self.work / "ref" / "settings.md").read_text().splitlines():
            found = re.match(r"\| `([a-z-]+)` \| `--\1` \| `(TRAINSCOPE_[A-Z_]+)` \|.*\| (.*) \|$", row)
            if found:
                name, variable, help_text = found.groups()
                value, repeats = re.search(rf"\| `--{name}(?: ([^ `]+))?( …)?` \|", commands).groups()
                yield name, value, variable, bool(repeats), "not from a" not in help_text

    def test_every_setting_by_flag_environment_and_file(self):
        values = {None: "true", "DURATION": "7s", "COMMAND": "true", "TEXT": "text", "KEY=VALUE": "k=v", "SPEC": "a:/x+",
                  "REGEX": r"(?<step>\d+)", "N": "2", "DIR": str(self.top / "x"), "PATH": str(self.top / "y"),
                  "FILE": str(self.top / "z"), "GLOB": "out/*.png"}
        rows = list(self.rows())
        self.assertIn("tensorboard", [row[0] for row in rows])
        for name, kind, variable, repeats, _ in rows:
            value = values[kind]
            literal = value if kind is None else json.dumps([value] if repeats else value)
            home = value if name == "home" else str(self.home)
            flag = [f"--{name}", *([value] if kind else [])]
            mine = self.config / "trainscope.toml"
            for words, variables, line, source in ((flag, {}, "", "flag"), ([], {variable: value}, "", "environment"),
                                                   ([], {}, f"{name} = {literal}\n", f"file {mine}")):
                with self.subTest(name=name, source=source):
                    mine.write_text(line)
                    env = {"TRAINSCOPE_HOME": "" if name == "home" else home, **variables}
                    done = self.run_cli("run", *words, "--", "true", env=env)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    done = self.run_cli("info", "latest", "--json", "--home", home)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    found = {s["name"]: (s["value"], s["from"]) for s in json.loads(done.stdout)["settings"]}
                    self.assertEqual(found[name], (value, source))
                    self.assertEqual(set(found), {row[0] for row in rows})

    def test_the_working_directory_sets_no_setting_that_leads_out_of_the_run(self):
        refused = []
        for name, kind, variable, _, may in self.rows():
            if may:
                continue
            refused.append(name)
            (self.work / "trainscope.toml").write_text(f"{name} = 'x'\n")
            self.refused("run", "--", "touch", "started", says=["trainscope.toml:1", f"'{name}'", f"--{name}", variable])
            self.assertFalse((self.work / "started").exists())
            self.assertIn(kind, {"DIR", "FILE", "PATH", "COMMAND", "SPEC", "GLOB"})
        self.assertEqual(sorted(refused), ["after", "counter", "data", "home", "id-file", "keep", "tensorboard"])

    def test_a_bad_value_names_where_it_is_from(self):
        self.refused("run", "--", "true", env={"TRAINSCOPE_EVERY": "x"}, says="TRAINSCOPE_EVERY: 'x'")
        (self.work / "trainscope.toml").write_text('quiet = "perhaps"\n')
        self.refused("run", "--", "true", says=["quiet in ", "trainscope.toml", "'perhaps'"])

    def test_the_working_directory_may_not_name_a_command(self):
        (self.work / "trainscope.toml").write_text('\nafter = "touch started"\n')
        self.refused("run", "--", "touch", "started", says=["trainscope.toml:2", "'after'", "cannot set it"])
        self.assertFalse((self.work / "started").exists())
        (self.work / "trainscope.toml").unlink()
        (self.config / "trainscope.toml").write_text('after = "touch started"\n')
        self.settings()
        self.assertTrue((self.work / "started").exists())

    def test_the_working_directory_may_not_name_a_path(self):
        """A stranger's folder must not show a stranger's runs as one's own, nor read files into a run."""
        for line, name in (('home = "/tmp/stranger"', "home"), ('counter = "x:int@/etc/passwd+"', "counter")):
            (self.work / "trainscope.toml").write_text(f"{line}\n")
            for words in (["list"], ["run", "--", "true"]):
                self.refused(*words, says=["trainscope.toml:1", f"'{name}'", f"use --{name}"])

    def test_secrets_are_not_kept(self):
        done = self.run_cli("run", "--quiet", "--tag", "api_key=hush", "--tag", "lr=1", "--note", "with token=hush",
                            "--after", "true --password hush", "--", "true", "--password", "-hush", "-u", "me:hush")
        self.assertEqual(done.returncode, 0, done.stderr)
        (folder,) = [path for path in pathlib.Path(self.info()["run"]["path"]).parent.iterdir() if path.is_dir()]
        for file in folder.iterdir():
            self.assertNotIn(b"hush", file.read_bytes(), file)
        self.assertEqual(self.info()["run"]["tags"], {"api_key": "***", "lr": "1"})

    def test_unknown_keys_and_syntax(self):
        (self.work / "trainscope.toml").write_text('# x\n\nevry = "1s"\n')
        self.refused("run", "--", "true", says=["trainscope.toml:3", "'evry'", "did you mean 'every'?"])
        (self.work / "trainscope.toml").write_text('name = "x\n')
        self.refused("run", "--", "true", says="trainscope.toml:1")


class Doctor(Case):
    def test_json(self):
        done = self.run_cli("doctor", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        document = json.loads(done.stdout)
        self.assertEqual(document["schema"], "trainscope.doctor/1")
        sources = {source["name"]: source for source in document["sources"]}
        for source in sources.values():
            self.assertLessEqual({"name", "status", "reason", "remedy", "metrics"}, set(source))
            self.assertIn(source["status"], {"ok", "partial", "unavailable"})
            self.assertEqual(source["status"] == "ok", source["reason"] is None, source)
            self.assertEqual(source["status"] == "unavailable", source["metrics"] == [], source)
        self.assertEqual(sources["cpu"]["status"], "ok")
        self.assertIn("system.cpu.time", sources["cpu"]["metrics"])
        self.assertEqual(sources["job"]["status"], "ok")
        self.assertEqual(document["machine"]["home"]["path"], str(self.home))
        self.assertFalse(self.home.exists(), "doctor made a folder")

    def test_text_names_every_source(self):
        text = self.run_cli("doctor").stdout
        for source in json.loads(self.run_cli("doctor", "--json").stdout)["sources"]:
            self.assertIn(source["name"], text)
        self.assertNotIn("\x1b", text)
        counts = re.fullmatch(r"(\d+) sources: (\d+) ok, (\d+) partial, (\d+) unavailable", text.splitlines()[-1])
        self.assertEqual(int(counts[1]), sum(int(counts[i]) for i in (2, 3, 4)))


class Demo(Case):
    def demo_without_workload(self, folder):
        folder.mkdir(parents=True)
        shutil.copy(BIN, folder / "trainscope")
        done = subprocess.run([folder / "trainscope", "demo"], env={**self.env, "PATH": "/usr/bin:/bin"}, text=True,
                              capture_output=True, timeout=SECONDS)
        self.assertEqual(done.returncode, 2)
        return done.stderr

    def alone_with(self, workload):
        """A folder with the program and, as the built-in job, this script."""
        alone = self.top / "alone"
        alone.mkdir()
        shutil.copy(BIN, alone / "trainscope")
        program = alone / "trainscope-workload"
        program.write_text(workload)
        program.chmod(0o755)
        return alone

    def test_in_a_source_tree_the_workload_can_be_built(self):
        (self.top / "tree" / "workload").mkdir(parents=True)
        (self.top / "tree" / "workload" / "CMakeLists.txt").touch()
        self.assertIn("make build", self.demo_without_workload(self.top / "tree" / "build"))

    def test_an_installed_program_names_a_job_that_works(self):
        told = self.demo_without_workload(self.top / "usr" / "bin")
        self.assertNotIn("make build", told)
        command = re.search(r"try a job without it: (trainscope run -- .*'), or", told)[1]
        done = subprocess.run(["sh", "-c", command], text=True, capture_output=True, timeout=SECONDS,
                              env={**self.env, "PATH": f"{self.top / 'usr' / 'bin'}:/usr/bin:/bin"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("50 from printed lines", done.stderr)

    def test_quiet_prints_no_status_and_no_summary(self):
        alone = self.alone_with("#!/bin/sh\nexit 3\n")
        for flags, says in (((), "training"), (("--quiet",), "")):
            done = subprocess.run([alone / "trainscope", "demo", *flags], env=self.env, text=True, capture_output=True, timeout=SECONDS)
            self.assertEqual(done.returncode, 3, done.stderr)
            if says:
                self.assertIn(says, done.stderr)
            else:
                self.assertEqual(done.stderr, "")


    def test_the_whole_story(self):
        alone = self.alone_with(f"#!{sys.executable}\n" + """
import os, sys, time
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
say = lambda text: os.write(pipe, f"{text} t={time.monotonic_ns()}\\n".encode())  # They may arrive together.
for step in range(1, 61):
    say("begin input"); time.sleep(0.06 if "--input" in sys.argv else 0.0005); say("end input")
    time.sleep(0.003)  # However busy the machine is, the wait is most of a step.
    say(f"step {step} loss={1 / step}")
""")
        for expected in ("report.html", r"report-[0-9a-z]{10}\.html"):
            done = subprocess.run([alone / "trainscope", "demo"], env=self.env, cwd=self.work, text=True, capture_output=True,
                                  timeout=SECONDS)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("input_bound", done.stderr)
            self.assertIn("faster", done.stderr)
            written = re.search(r"Open (\S+) in a browser", done.stderr)[1]
            self.assertRegex(os.path.basename(written), f"^{expected}$")
            self.assertTrue(os.path.exists(written))
        names = [run["name"] for run in json.loads(self.run_cli("list", "--json").stdout)["runs"]]
        self.assertEqual(names, 2 * ["demo-slow-input", "demo-fast-input"])
        self.assertNotIn("does not show", done.stderr)
        # The commands to type next work as they are printed.
        command = re.search(r"^  (\S+ diagnose \S+ --explain)", done.stderr, re.M)[1]
        self.assertEqual(subprocess.run(["sh", "-c", command], env=self.env, cwd=self.work, capture_output=True).returncode, 0)

    def test_without_a_record_there_is_no_second_run(self):
        alone = self.alone_with("#!/bin/sh\necho trained\n")
        done = subprocess.run([alone / "trainscope", "demo", "--home", "/sys/trainscope"], env=self.env, text=True,
                              capture_output=True, timeout=SECONDS)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "trained\n")
        self.assertIn("nothing was recorded", done.stderr)

    def test_a_comparison_that_shows_nothing_is_explained(self):
        alone = self.alone_with(f"#!{sys.executable}\n" + """
import os, sys, time
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
for step in range(1, 21):
    time.sleep(0.02 if any("slow" in word for word in sys.argv) else 0.06)  # what is called fast is not
    os.write(pipe, f"step {step} t={time.monotonic_ns()}\\n".encode())
""")
        done = subprocess.run([alone / "trainscope", "demo"], env=self.env, cwd=self.work, text=True, capture_output=True,
                              timeout=SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("does not show that it is faster", done.stderr)
        self.assertIn(f"{alone}/trainscope demo --seconds 36", done.stderr)


class Reference(Case):
    def test_pages_name_what_there_is(self):
        self.assertEqual(self.run_cli("docs", "--out", "ref").returncode, 0)
        pages = {path.name: path.read_text() for path in (self.work / "ref").iterdir()}
        self.assertEqual(sorted(pages), ["analyses.md", "commands.md", "exit-codes.md", "formats.md", "metrics.md", "settings.md"])
        self.assertIn("`--every DURATION`", pages["commands.md"])
        self.assertNotIn("complete-runs", pages["commands.md"])
        self.assertIn("| `step_time` | step time | `breakdown` |", pages["analyses.md"])
        self.assertIn("`system.cpu.utilization`", pages["metrics.md"])
        self.assertIn("`TRAINSCOPE_EVERY`", pages["settings.md"])
        self.assertIn("`csv`", pages["formats.md"])
        self.assertIn("| 124 |", pages["exit-codes.md"])
        self.assertNotIn(str(self.top), "".join(pages.values()))


class Completion(Case):
    def setUp(self):
        super().setUp()
        # A folder of its own for PATH: shells complete `trainscope`, and it must be this one.
        (self.top / "bin").mkdir()
        (self.top / "bin" / "trainscope").symlink_to(BIN)
        self.env["PATH"] = f"{self.top / 'bin'}:{self.env['PATH']}"
        self.evil = "$(touch evil)`touch evil`"
        for name in ["base line", self.evil]:
            self.assertEqual(self.run_cli("run", "--quiet", "--name", name, "--", "true").returncode, 0)

    def shell(self, name, script, *words):
        if not shutil.which(name):
            self.skipTest(f"{name} is not installed")
        done = subprocess.run([name, *words, script], cwd=self.work, env=self.env, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=SECONDS)
        return done.stdout

    def bash(self, *words):
        script = """source <(trainscope completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _trainscope 2>/dev/null; printf '%s\\n' "${COMPREPLY[@]}" """
        if not shutil.which("bash"):
            self.skipTest("bash is not installed")
        done = subprocess.run(["bash", "-c", script, "bash", "trainscope", *words], cwd=self.work, env=self.env,
                              text=True, capture_output=True, timeout=SECONDS)
        return done.stdout.splitlines()

    def fish(self, line):
        script = f"trainscope completion fish | source; complete -C '{line}'"
        return [row.split("\t")[0] for row in self.shell("fish", script, "-c").splitlines()]

    def zsh(self, line, *expected):
        """What zsh lists for a line, until these words are in it (in either order), by a terminal of its own: completion does
        not run without one, and lists nothing while keys are waiting."""
        pattern = "|".join("*".join(words) for words in itertools.permutations(expected))
        script = f"""zmodload zsh/zpty
zpty box zsh -f -i
zpty -w box "PS1=; PROMPT=; autoload -U compinit; compinit -u -d {self.top}/dump; source <(trainscope completion zsh)"
zpty -w box "zstyle ':completion:*' list-prompt ''; zstyle ':completion:*' menu no; LISTMAX=1000; stty cols 200"
zpty -w box 'bindkey "^I" list-choices; echo RE''ADY'
zpty -r box text '*READY*'
zpty -n -w box {line!r}$'\\t'
zpty -r box listed '*({pattern})*'
zpty -n -w box $'\\x15'"echo E''ND"$'\\n'
zpty -r box text '*END*'
print -r -- "$listed$text"
zpty -d box"""
        return self.shell("zsh", script, "-f", "-c")

    def test_bash(self):
        self.assertIn("run", self.bash("r"))
        self.assertEqual(self.bash("run", "--ev"), ["--every"])
        self.assertEqual(sorted(self.bash("completion", "")), ["bash", "fish", "zsh"])
        self.assertIn("base\\ line", self.bash("info", "b"))
        self.assertIn("latest", self.bash("info", ""))
        self.assertIn("true", self.bash("run", "--every", "5s", "--", "tru"))
        self.assertIn("true", self.bash("run", "--every", "=", "5s", "tru"))
        self.assertNotIn("complete-runs", self.bash("c"))
        (self.work / "data.txt").write_text("")
        self.assertEqual(self.bash("run", "cat", "da"), ["data.txt"])
        self.assertFalse((self.work / "evil").exists(), "a run's name was obeyed")

    def test_fish(self):
        self.assertIn("run", self.fish("trainscope r"))
        self.assertEqual(self.fish("trainscope run --ev"), ["--every"])
        self.assertEqual(sorted(self.fish("trainscope completion ")), ["bash", "fish", "zsh"])
        self.assertIn("base line", self.fish("trainscope info b"))
        self.assertIn("true", self.fish("trainscope run --every 5s -- tru"))
        self.assertNotIn("complete-runs", self.fish("trainscope c"))
        self.assertFalse((self.work / "evil").exists(), "a run's name was obeyed")

    def test_zsh(self):
        for line, word in (("trainscope r", "run a job and record it"), ("trainscope run --", "sampling period"),
                           ("trainscope completion ", "fish")):
            self.assertIn(word, self.zsh(line, word))
        listed = self.zsh("trainscope info ", "latest", "base")
        self.assertIn("latest", listed)
        self.assertIn("base", listed)
        self.assertFalse((self.work / "evil").exists(), "a run's name was obeyed")


if __name__ == "__main__":
    if not os.access(BIN, os.X_OK):
        print(f"skipped: there is no {BIN}")
        sys.exit(77)
    main()
