"""What a job prints arrives as from the bare job: the same bytes, in order, whatever stdout is and whoever reads it."""
import hashlib
import os
import signal
import socket
import subprocess
import threading
import time

from trainscope_test import Case, command, main, processes, wait_until

# 2,000 lines in turn on both descriptors, of uneven length.
IN_TURN = """
import os
for i in range(2000): os.write(1 + i % 2, b"%d:%s\\n" % (i, b"x" * (i * 37 % 300)))
"""
LINES = b"".join(b"%d:%s\n" % (i, b"x" * (i * 37 % 300)) for i in range(2000))
BYTES = "import sys\nfor i in range(50): sys.stdout.buffer.write(bytes(range(256)) * 4096)"


class Output(Case):
    def test_one_pipe_for_both_keeps_the_order(self):
        done = self.record(IN_TURN, capture_output=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.stdout, LINES)

    def test_one_file_for_both_keeps_the_order(self):
        for flags in (os.O_TRUNC, os.O_APPEND):
            fd = os.open(self.path("out"), os.O_CREAT | os.O_WRONLY | flags)
            os.write(fd, b"before\n")
            self.record(IN_TURN, capture_output=False, stdout=fd, stderr=fd)
            os.write(fd, b"after\n")
            os.close(fd)
            with open(self.path("out"), "rb") as file:
                self.assertEqual(file.read(), b"before\n" + LINES + b"after\n")
            os.unlink(self.path("out"))

    def test_one_socket_for_both_keeps_the_order(self):
        ours, theirs = socket.socketpair()
        process = subprocess.Popen(self.run_words(IN_TURN), env=self.environment(), stdin=subprocess.DEVNULL,
                                   stdout=theirs, stderr=theirs)
        theirs.close()
        with ours.makefile("rb") as file:
            self.assertEqual(file.read(), LINES)
        ours.close()
        self.assertEqual(process.wait(), 0)

    def test_a_fifo_opened_for_appending(self):
        os.mkfifo(self.path("fifo"))
        reader = os.open(self.path("fifo"), os.O_RDONLY | os.O_NONBLOCK)
        writer = os.open(self.path("fifo"), os.O_WRONLY | os.O_APPEND)
        self.record(["printf", r"a\nb"], capture_output=False, stdout=writer, stderr=writer)
        self.assertEqual(os.read(reader, 100), b"a\nb")

    def test_two_pipes_stay_two(self):
        done = self.record(IN_TURN)
        lines = LINES.splitlines(keepends=True)
        self.assertEqual((done.stdout, done.stderr), (b"".join(lines[::2]), b"".join(lines[1::2])))

    def test_null_device(self):
        done = self.record(IN_TURN + "raise SystemExit(9)", check=False, capture_output=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 9)

    def test_fifty_megabytes_through_a_slow_reader(self):
        process = self.start(BYTES)
        digest, size = hashlib.sha256(), 0
        while block := process.stdout.read(1 << 20):
            digest.update(block)
            size += len(block)
            time.sleep(0.01)
        self.assertEqual(process.wait(), 0)
        self.assertEqual(size, 50 << 20)
        self.assertEqual(digest.digest(), hashlib.sha256(bytes(range(256)) * (50 << 12)).digest())

    def test_a_reader_that_pauses_longer_than_we_wait_at_the_end_still_gets_everything(self):
        process = self.start("import os\nos.write(1, b'x' * 900000)")
        time.sleep(3.5)
        self.assertEqual(len(process.stdout.read()), 900000)
        self.assertEqual(process.wait(), 0)

    def test_steps_that_no_reader_has_taken_yet_are_counted(self):
        job = "import os, time\nfor i in range(1, 101):\n  os.write(1, b'step %d loss 1\\n' % i); time.sleep(.005)"
        process = self.start(job)
        self.assertEqual(process.wait(), 0)  # as subprocess.run() with a pipe that is read later
        self.assertEqual(process.stdout.read().count(b"step"), 100)
        steps = self.info()["steps"]
        self.assertEqual((steps["count"], steps["observed"]), (100, 100))

    def test_closed_descriptors_stay_closed(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"):
            with self.subTest(closed):
                report = self.path("report")
                job = f"import os; open({report!r}, 'w').write(repr([os.path.exists(f'/proc/self/fd/{{i}}') for i in (0, 1, 2)]))"
                seen = []
                for words in (command(job), self.run_words(job)):
                    done = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *words], env=self.environment(),
                                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
                    with open(report) as file:
                        seen.append((done.returncode, file.read()))
                self.assertEqual(seen[1], seen[0])
        self.assertTrue(self.info()["sampling"]["samples"])

    def test_writing_to_a_closed_stdout_fails_as_bare(self):
        job = "import os\ntry: os.write(1, b'x')\nexcept OSError as e: raise SystemExit(e.errno)"
        for words in (command(job), self.run_words(job)):
            done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *words], env=self.environment(), timeout=60)
            self.assertEqual(done.returncode, 9)

    def test_stdin_is_the_jobs(self):
        sent = os.urandom(3 << 20)
        done = self.record(["cat"], stdin=None, input=sent)
        self.assertEqual(done.stdout, sent)

    def test_a_reader_that_leaves_ends_the_job_as_bare(self):
        for words in (["yes"], self.run_words(["yes"])):
            process = subprocess.Popen(words, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.wait(timeout=60), -signal.SIGPIPE)
        info = self.info()
        self.assertEqual((info["job"]["ended_by"], info["job"]["signal"]), ("signal", signal.SIGPIPE))

    def test_a_reader_that_left_while_the_job_was_silent_is_noticed_at_the_next_write(self):
        # The job writes once more, a good while after the reader has left, and would not notice a second time.
        job = f"""
import os, time
os.write(1, b"ready\\n")
while not os.path.exists({self.path("left")!r}): time.sleep(0.01)
time.sleep(1)
os.write(1, b"nobody reads this\\n")
raise SystemExit(3)
"""
        for name, words in (("bare", ["env", "python3", "-c", job]), ("recorded", self.run_words(["env", "python3", "-c", job]))):
            with self.subTest(name):
                process = subprocess.Popen(words, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                process.stdout.readline()
                process.stdout.close()
                open(self.path("left"), "w").close()
                self.assertEqual(process.wait(timeout=60), 1)  # Python turns EPIPE into an exception
                os.unlink(self.path("left"))

    def test_a_daemon_left_behind_keeps_its_output(self):
        over = self.path("over")
        job = ["sh", "-c", f"(until [ -e {over} ]; do sleep 0.05; done; echo late) & echo early; exit 4"]
        process = self.start(job)
        self.assertEqual(process.wait(timeout=60), 4, "the run waited for a daemon")
        self.assertEqual(self.info()["job"]["exit_code"], 4)
        open(over, "w").close()
        self.assertEqual(process.stdout.read(), b"early\nlate\n")
        wait_until(lambda: not processes("trainscope-rly", self.home))

    def test_a_daemon_that_floods_the_output_does_not_hold_the_run(self):
        process = self.start(["sh", "-c", f"yes & echo $! > {self.path('pid')}; exit 4"])
        reader = threading.Thread(target=lambda: [None for _ in iter(lambda: process.stdout.read(1 << 16), b"")])
        reader.start()
        try:
            self.assertEqual(process.wait(timeout=60), 4)
        finally:
            with open(self.path("pid")) as file:
                os.kill(int(file.read()), signal.SIGKILL)
            process.kill()
            reader.join()

    def test_the_log_has_what_was_printed(self):
        self.record(["sh", "-c", "echo one; echo two >&2"])
        log = os.path.join(self.info()["run"]["path"], "output.log")
        with open(log) as file:
            self.assertEqual(sorted(file.read().split()), ["one", "two"])

    def test_nothing_of_ours_is_in_the_output_and_the_summary_is_on_stderr(self):
        done = self.trainscope("run", "--", "echo", "text")
        self.assertEqual(done.stdout, b"text\n")
        self.assertRegex(done.stderr.decode(), r"run \w+")

    def test_not_found_and_not_executable(self):
        self.assertEqual(self.record(["/nonexistent/program"], check=False).returncode, 127)
        self.assertEqual(self.record(["/etc/passwd"], check=False).returncode, 126)


if __name__ == "__main__":
    main()
