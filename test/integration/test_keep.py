"""run --keep: files that the job made are copied into the run, and nothing else is."""
import json
import os
import signal
import subprocess

from trainscope_test import Case, end, main, wait_until

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


class Keep(Case):
    def setUp(self):
        super().setUp()
        self.work = self.path("work")
        os.mkdir(self.work)

    def keep(self, job, *patterns, **keywords):
        options = [word for pattern in patterns for word in ("--keep", pattern)]
        return self.record(job, *options, cwd=self.work, **keywords)

    def kept(self):
        """{path as the job named it: bytes of the copy} of the newest run."""
        folder = os.path.join(self.info()["run"]["path"], "kept")
        with open(os.path.join(folder, "index.json")) as file:
            index = json.load(file)
        copies = {}
        for number, entry in enumerate(index["files"], 1):
            with open(os.path.join(folder, f"{number:04}"), "rb") as file:
                copies[entry["path"]] = file.read()
            self.assertEqual(len(copies[entry["path"]]), entry["bytes"])
        return copies

    def test_files_are_copied_after_the_job(self):
        job = f"""
            import os
            os.mkdir("out")
            open("out/late.png", "wb").write({PNG!r})
            open("out/other.txt", "w").write("not wanted")
            open("notes.txt", "w").write("wanted")
        """
        done = self.keep(job, "out/*.png", "notes.txt")
        self.assertEqual(done.stderr, b"")
        self.assertEqual(self.kept(), {"out/late.png": PNG, "notes.txt": b"wanted"})
        files = self.info()["files"]
        self.assertEqual([(f["index"], f["path"], f["bytes"], f["type"]) for f in files],
                         [(0, "out/late.png", len(PNG), "image/png"), (1, "notes.txt", 6, "text/plain")])
        text = self.trainscope("info").stdout.decode()
        self.assertIn("2 files", text)

    def test_what_the_command_after_the_job_made_is_kept_too(self):
        self.record(["true"], "--keep", "made", "--after", "echo x >made", cwd=self.work)
        self.assertEqual(self.kept(), {"made": b"x\n"})

    def test_the_exit_status_stays_the_jobs(self):
        done = self.keep(["sh", "-c", "echo x >a; exit 7"], "a", "nothing-*.png", check=False)
        self.assertEqual(done.returncode, 7)
        self.assertEqual(done.stderr.decode(), "trainscope: --keep 'nothing-*.png' matches no file\n")
        self.assertEqual(self.kept(), {"a": b"x\n"})

    def test_hostile_names_and_links(self):
        job = r"""
            import os
            for name in (b"\"><script>x", b"\xff\n", b"..x", b"-rf"):
                open(b"out-" + name, "w").write("x")
            os.symlink("/etc/passwd", "out-link")
            os.mkfifo("out-fifo")
        """
        done = self.keep(job, "out-*")
        self.assertIn(b"1 file of --keep was not kept: out-link: it is a symbolic link", done.stderr)
        self.assertEqual(len(self.kept()), 4)
        folder = os.path.join(self.info()["run"]["path"], "kept")
        self.assertEqual(sorted(os.listdir(folder)), ["0001", "0002", "0003", "0004", "index.json"])

    def test_limits_are_reported(self):
        job = "for i in range(300): open(f'f{i:03}', 'w').write('x')"
        done = self.keep(job, "f*")
        self.assertIn(b"44 files of --keep were not kept: f256: a run keeps at most 256 files (and others)", done.stderr)
        self.assertEqual(len(self.info()["files"]), 256)
        done = self.keep("open('big', 'wb').truncate(65 << 20)", "big")
        self.assertIn(b"64.0 MiB of files", done.stderr)
        self.assertEqual(self.info()["files"], [])

    def test_rm_removes_them(self):
        self.keep(["sh", "-c", "echo x >a"], "a")
        path = self.info()["run"]["path"]
        self.assertTrue(os.path.exists(path + "/kept/0001"))
        self.trainscope("rm", "latest", "--yes")
        self.assertFalse(os.path.exists(path))

    def test_without_the_option_nothing_is_kept(self):
        self.record(["sh", "-c", "echo x >a"], cwd=self.work)
        self.assertEqual(self.info()["files"], [])
        self.assertFalse(os.path.exists(self.info()["run"]["path"] + "/kept"))

    def test_a_pattern_that_names_no_file_is_refused(self):
        done = self.keep(["true"], "/", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--keep", done.stderr)

    def test_a_supervisor_that_was_killed(self):
        job = "import sys\nopen('made', 'w').write('x')\nprint('ready', flush=True); sys.stdin.readline()"
        process = self.start(job, "--keep", "made", cwd=self.work, stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        os.kill(process.pid, signal.SIGKILL)
        process.stdin.close()
        process.stdin = None
        end(process)
        wait_until(lambda: self.info()["files"])
        self.assertEqual(self.kept(), {"made": b"x"})


if __name__ == "__main__":
    main()
