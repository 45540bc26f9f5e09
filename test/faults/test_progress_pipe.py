"""Senders that say too much or nonsense, a recorder that does not read: the job goes on, and all is accounted for."""
import json
import os
import signal
import sys
import time

from trainscope_test import LONG, Case, main, wait_until

# Sends `step` lines as fast as asked and never waits; says at its end what became of them.
SENDER = """
import json, os, sys, time
rate, seconds, dropping = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]  # a file to make at the first drop
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY | os.O_NONBLOCK)
sent = dropped = 0
longest = 0
begin = time.monotonic()
while (elapsed := time.monotonic() - begin) < seconds or (dropping and not dropped):
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
print(json.dumps({"sent": sent, "dropped": dropped, "longest_s": longest / 1e9}))
"""


class Pipe(Case):
    def send(self, rate, seconds, meanwhile=lambda: None, dropping=""):
        """What the sender says, and the run."""
        job = self.start([sys.executable, "-c", SENDER, str(rate), str(seconds), dropping])
        wait_until(lambda: os.listdir(self.home))
        meanwhile()
        out, _ = job.communicate(timeout=240)
        self.assertEqual(job.returncode, 0)
        return json.loads(out), self.info()

    def kept_and_refused(self, info):
        refused = sum(int(note.split()[0]) for note in info["run"]["notes"] if "could not be kept" in note)
        return info["steps"]["observed"] + refused

    def test_a_hundred_thousand_messages_a_second(self):
        told, info = self.send(100_000, 10 if LONG else 3)
        self.assertEqual(self.kept_and_refused(info), told["sent"])
        self.assert_ticks_add_up()
        self.assertEqual([n for n in info["run"]["notes"] if "understood" in n], [])

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
        self.assertTrue([note for note in info["run"]["notes"] if "could not be understood" in note])
        self.assertEqual(info["job"]["exit_code"], 0)

    def test_a_recorder_that_is_killed_loses_no_more_than_what_it_had_in_its_hands(self):
        def kill_it():
            recorder = self.recorder()
            time.sleep(1.5)
            os.kill(recorder, signal.SIGKILL)

        told, info = self.send(500, 5, kill_it)
        self.assertEqual(told["dropped"], 0)
        self.assertEqual(info["sampling"]["restarts"], 1)
        self.assertGreaterEqual(info["steps"]["observed"], told["sent"] - 100)
        steps = self.trainscope("sql", "latest", "select count(distinct step) as a, count(*) as b from steps").stdout.decode()
        distinct, rows = steps.split()[1].split(",")
        self.assertEqual(distinct, rows, "no step is there twice")


if __name__ == "__main__":
    main()
