"""Senders that say too much or nonsense, a recorder that does not read: the job goes on, and all is accounted for."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from trainscope_test import BIN, LONG, PATIENCE_S, Case, main, process_state, wait_until

# Sends `step` lines as fast as asked and never waits; says at its end what became of them.
SENDER = """
import json, os, sys, time
rate, seconds = int(sys.argv[1]), float(sys.argv[2])
dropping, over = sys.argv[3:]  # a file to make at the first drop, one to wait for
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY | os.O_NONBLOCK)
sent = dropped = 0
longest = 0
begin = time.monotonic()
while (elapsed := time.monotonic() - begin) < seconds or (dropping and not dropped) or (over and not os.path.exists(over)):
    for _ in range(max(0, int(elapsed * rate) - sent - dropped)):
        number = sent + dropped + 1
        before = time.monotonic_ns()
        try:
            os.write(pipe, b"step %d loss=0.5 t=%d\\n" % (number, before))
            sent += 1
        except BlockingIOError:
            dropped += 1
            if dropping and dropped == 1: open(dropping, "w").close()
        longest = max(longest, time.monotonic_ns() - before)
    time.sleep(0.001)
while dropping:  # the last one arrives: what was dropped before it is seen
    try:
        os.write(pipe, b"step %d loss=0.5 t=%d\\n" % (sent + dropped + 1, time.monotonic_ns()))
        sent += 1
        break
    except BlockingIOError: time.sleep(0.001)
print(json.dumps({"sent": sent, "dropped": dropped, "longest_s": longest / 1e9}))
"""


GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/progress.md"
SHELLS = [shell for shell in ("dash", "bash", "zsh", "sh") if shutil.which(shell)]


def shell_clients():
    """The lines of the guide by which a shell reports a step, with $i as its number."""
    lines = [line.strip() for line in GUIDE.read_text().splitlines() if line.startswith("    ")]
    plain = [line for line in lines if line.startswith("echo ") and "TRAINSCOPE_PIPE" in line]
    function = [line for line in lines if line.startswith("report()")]
    return [line.replace("step 5", "step $i") for line in plain] + [line + "; report step $i" for line in function]


class Pipe(Case):
    def send(self, rate, seconds, meanwhile=lambda: None, dropping="", over=""):
        """What the sender says, and the run."""
        job = self.start([sys.executable, "-c", SENDER, str(rate), str(seconds), dropping, over])
        wait_until(lambda: os.listdir(self.home))
        meanwhile()
        out, _ = job.communicate(timeout=240)
        self.assertEqual(job.returncode, 0)
        return json.loads(out), self.info()

    def kept_and_refused(self, info):
        refused = sum(int(note.split()[0]) for note in info["run"]["notes"] if "progress messages were lost" in note)
        return info["steps"]["observed"] + refused

    def test_a_hundred_thousand_messages_a_second(self):
        told, info = self.send(100_000, 10 if LONG else 3)
        self.assertEqual(self.kept_and_refused(info), told["sent"])
        self.assert_ticks_add_up()
        self.assertEqual([n for n in info["run"]["notes"] if "parsed" in n], [])

    def test_a_recorder_that_is_stopped(self):
        pause_s = 60 if LONG else 5
        stopped = []

        def stop_and_continue():
            recorder = self.recorder()
            time.sleep(1)
            os.kill(recorder, signal.SIGSTOP)
            stopped.append(time.monotonic())
            time.sleep(pause_s)
            os.kill(recorder, signal.SIGCONT)

        told, info = self.send(400, pause_s + 3, stop_and_continue)
        self.assertEqual(told["dropped"], 0, "the pipe holds 25,000 messages")
        self.assertEqual(info["steps"]["count"], told["sent"])
        # Their times are the sender's own, so the steps are even though nobody read them for a while.
        self.assertLess(info["steps"]["p99_s"], 0.5)
        self.assertTrue(info["sampling"]["gaps"])

    def test_what_does_not_fit_is_dropped_by_the_sender_and_the_rest_is_kept(self):
        def stop_and_continue():
            recorder = self.recorder()
            os.kill(recorder, signal.SIGSTOP)
            wait_until(lambda: os.path.exists(self.path("dropping")))
            os.kill(recorder, signal.SIGCONT)

        told, info = self.send(50_000, 3, stop_and_continue, self.path("dropping"))
        self.assertGreater(told["dropped"], 0)
        self.assertEqual(self.kept_and_refused(info), told["sent"])
        # It is the sender who numbers them: what was dropped is seen.
        self.assertEqual(info["steps"]["count"], told["sent"] + told["dropped"])

    def test_garbage(self):
        job = ("import os\n"
               "pipe = os.open(os.environ['TRAINSCOPE_PIPE'], os.O_WRONLY)\n"
               "os.write(pipe, b'step 1\\n')\n"
               "for _ in range(500): os.write(pipe, os.urandom(2000) + b'\\n')\n"
               "os.write(pipe, b'x' * 200_000 + b'\\n')\n"
               "os.write(pipe, b'step 2\\n')\n")
        self.record([sys.executable, "-c", job])
        info = self.info()
        self.assertEqual(info["steps"]["count"], 2)
        self.assertTrue([note for note in info["run"]["notes"] if "could not be parsed" in note])
        self.assertEqual(info["job"]["exit_code"], 0)

    def steps_on_disk(self):
        done = self.trainscope("info", "latest", "--json", check=False)
        return (json.loads(done.stdout)["steps"]["count"] or 0) if done.returncode == 0 else 0

    def test_a_recorder_that_is_killed_loses_no_more_than_what_it_had_in_its_hands(self):
        def kill_it():
            recorder = self.recorder()
            wait_until(lambda: self.steps_on_disk() >= 200)
            os.kill(recorder, signal.SIGKILL)
            self.next_recorder(recorder)
            over.touch()

        over = pathlib.Path(self.path("over"))
        told, info = self.send(500, 5, kill_it, over=str(over))
        self.assertEqual(told["dropped"], 0)
        self.assertEqual(info["sampling"]["restarts"], 1)
        self.assertGreaterEqual(info["steps"]["observed"], told["sent"] - 100)
        steps = self.trainscope("sql", "latest", "select count(distinct step) as a, count(*) as b from steps").stdout.decode()
        distinct, rows = steps.split()[1].split(",")
        self.assertEqual(distinct, rows, "no step is there twice")


class Shell(Case):
    """What the guide tells a shell to do, word for word."""

    def test_the_guide_has_a_line_and_a_function(self):
        self.assertEqual(len(shell_clients()), 2, shell_clients())

    def test_every_step_arrives_and_none_is_needed(self):
        for shell in SHELLS:
            for client in shell_clients():
                with self.subTest(shell=shell, client=client):
                    script = f"set -eu; i=0; while [ $i -lt 50 ]; do i=$((i + 1)); {client}; done; echo all"
                    done = self.record([shell, "-c", script])
                    self.assertEqual(done.stdout, b"all\n")
                    self.assertEqual(self.info()["steps"]["count"], 50)
                    bare = subprocess.run([shell, "-c", script], env={"PATH": os.environ["PATH"]}, capture_output=True,
                                          timeout=PATIENCE_S, check=False)
                    self.assertEqual((bare.returncode, bare.stdout, bare.stderr), (0, b"all\n", b""))

    def test_a_run_folder_that_is_gone_fails_nothing(self):
        client = shell_clients()[1]
        # The recorder may create a file while rm looks at the folder, which is then not empty.
        script = f'set -eu; i=1; until rm -rf "$(dirname "$TRAINSCOPE_PIPE")"; do :; done; {client}; echo all'
        done = self.record(["sh", "-c", script], check=False)
        self.assertEqual((done.returncode, done.stdout), (0, b"all\n"))

    def test_nobody_is_left_who_reads(self):
        """Supervisor and recorder are killed; the job sends more than any pipe holds: 1.3 MB."""
        for client in shell_clients():
            with self.subTest(client=client):
                self.send_to_nobody(client)

    def test_send_arrives_and_never_fails(self):
        script = f"set -eu; i=0; while [ $i -lt 20 ]; do i=$((i + 1)); {BIN} send step $i loss=-0.$i; done; {BIN} send; echo all"
        done = self.record(["sh", "-c", script], stderr=subprocess.STDOUT, capture_output=False, stdout=subprocess.PIPE)
        self.assertIn(b"nothing to send", done.stdout)
        self.assertTrue(done.stdout.endswith(b"all\n"), done.stdout)
        self.assertEqual(self.info()["steps"]["count"], 20)
        for pipe in ({}, {"TRAINSCOPE_PIPE": "/nonexistent"}, {"TRAINSCOPE_PIPE": self.folder}):
            bare = subprocess.run([BIN, "send", "step", "5"], env=pipe, capture_output=True, timeout=PATIENCE_S, check=False)
            self.assertEqual((bare.returncode, bare.stdout, bare.stderr), (0, b"", b""))

    def test_send_waits_neither_for_a_reader_nor_for_room(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        words = [BIN, "send", "step", "5"]
        keywords = {"env": {"TRAINSCOPE_PIPE": fifo}, "timeout": PATIENCE_S, "check": True}
        subprocess.run(words, **keywords)  # nobody reads
        fd = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, fd)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(fd, b"x" * 4096)
        subprocess.run(words, **keywords)  # there is no room

    def send_to_nobody(self, client):
        ready, go, done = (self.path(name) for name in ("ready", "go", "done"))
        script = (f"echo $$ > {ready}.new; mv {ready}.new {ready}; until [ -e {go} ]; do sleep 0.05; done; "
                  f"i=0; while [ $i -lt 120000 ]; do i=$((i + 1)); {client}; done; touch {done}")
        supervisor = self.start(["sh", "-c", script], stdout=subprocess.DEVNULL)
        wait_until(lambda: os.path.exists(ready))
        job = int(pathlib.Path(ready).read_text())
        self.addCleanup(self.kill, job)
        recorder = self.recorder()
        # The supervisor first: it would start another recorder.
        for pid in (supervisor.pid, recorder):
            os.kill(pid, signal.SIGKILL)
        supervisor.wait()
        wait_until(lambda: process_state(recorder) in ("", "Z"))
        pathlib.Path(go).touch()
        wait_until(lambda: os.path.exists(done), 10 * PATIENCE_S)
        wait_until(lambda: process_state(job) in ("", "Z"))
        for name in (ready, go, done):
            os.unlink(name)

    def kill(self, pid):
        if process_state(pid) not in ("", "Z") and self.home in pathlib.Path(f"/proc/{pid}/environ").read_text():
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
