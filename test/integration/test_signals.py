"""A signal reaches the job once: sent to us alone, to the whole group, or typed; and the end is the bare job's end."""
import os
import signal
import subprocess
import time

from trainscope_test import Case, main, process_state, wait_until

# Counts what arrives, and tells it after a silence of half a second that begins with the first signal.
COUNT = """
import os, signal, sys, time
numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT]
got = []
last = [0.0]
def hit(number, frame):
    got.append(number); last[0] = time.monotonic()
for number in numbers: signal.signal(number, hit)
os.write(1, b"ready\\n")
until = time.monotonic() + 60
while time.monotonic() < until and not (last[0] and time.monotonic() - last[0] > 0.7): time.sleep(0.02)
os.write(1, repr([int(n) for n in got]).encode())
"""
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


class Signals(Case):
    def counted(self, send, *options, **keywords):
        """What the job got after send(process)."""
        process = self.start(COUNT, *options, start_new_session=True, **keywords)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        send(process)
        out, _ = process.communicate(timeout=90)
        self.assertEqual(process.returncode, 0)
        return eval(out)

    def test_to_us_alone_arrives_once(self):
        # One after the other and far enough apart, so that one job will do.
        def send(process):
            for number in FORWARDED:
                process.send_signal(number)
                time.sleep(0.3)
        self.assertEqual(self.counted(send), list(map(int, FORWARDED)))

    def test_to_the_whole_group_arrives_once(self):
        def send(process):
            for number in FORWARDED:
                os.killpg(process.pid, number)
                time.sleep(0.3)
        self.assertEqual(self.counted(send), list(map(int, FORWARDED)))

    def test_to_the_whole_group_while_the_recorder_is_stopped_arrives_once(self):
        def send(process):
            recorder = self.recorder()
            os.kill(recorder, signal.SIGSTOP)
            wait_until(lambda: process_state(recorder) == "T")
            os.killpg(process.pid, signal.SIGTERM)
        self.assertEqual(self.counted(send), [signal.SIGTERM])

    def test_without_a_recorder_arrives_once(self):
        def send(process):
            os.kill(self.recorder(), signal.SIGKILL)
            process.send_signal(signal.SIGTERM)
        self.assertEqual(self.counted(send), [signal.SIGTERM])

    def test_ignored_by_the_caller_but_asked_for_by_the_job(self):
        # A shell without job control starts what ends in & so; the job has its own handler all the same.
        def send(process):
            process.send_signal(signal.SIGINT)
        self.assertEqual(self.counted(send, restore_signals=False,
                                      preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)), [signal.SIGINT])

    def test_nohup(self):
        done = subprocess.run(["nohup", *self.run_words(["sh", "-c", "kill -HUP $$; kill -HUP $PPID; sleep 0.3; exit 3"])],
                              env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 3)

    def test_timeout_ends_the_job_as_bare(self):
        for job in (["sleep", "60"], ["sh", "-c", "trap 'exit 5' TERM; while :; do sleep 0.1; done"]):
            codes = [subprocess.run(["timeout", "--preserve-status", "1", *words], env=self.environment(),
                                    stdin=subprocess.DEVNULL, capture_output=True, timeout=60).returncode
                     for words in (job, self.run_words(job))]
            self.assertEqual(codes[1], codes[0], job)

    def test_the_end_is_the_jobs_own(self):
        for script in ("exit 0", "exit 7", "exit 255", *(f"kill -{n} $$" for n in ("KILL", "TERM", "INT", "SEGV", "ABRT", "HUP", "USR1", "PIPE"))):
            with self.subTest(script):
                bare = subprocess.run(["sh", "-c", script], stdin=subprocess.DEVNULL, capture_output=True, cwd=self.folder)
                done = self.record(["sh", "-c", script], check=False, cwd=self.folder)
                self.assertEqual(done.returncode, bare.returncode)
                job = self.info()["job"]
                if bare.returncode < 0:
                    self.assertEqual((job["ended_by"], job["signal"], job["exit_code"]), ("signal", -bare.returncode, None))
                else:
                    self.assertEqual((job["ended_by"], job["signal"], job["exit_code"]), ("exit", None, bare.returncode))

    def test_a_job_stopped_and_continued_by_others(self):
        process = self.start("""
import os, signal, time
os.write(1, b"%d\\n" % os.getpid())
end = time.monotonic() + 1.5
while time.monotonic() < end: time.sleep(0.05)
raise SystemExit(8)
""")
        pid = int(process.stdout.readline())
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.5)
        self.assertNotEqual(process_state(process.pid), "T", "the supervisor stopped with a job that another had stopped")
        os.kill(pid, signal.SIGCONT)
        self.assertEqual(process.wait(timeout=60), 8)
        self.assert_ticks_add_up()


if __name__ == "__main__":
    main()
