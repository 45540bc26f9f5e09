"""A signal reaches the job once: sent to us alone, to the whole group, or typed; and the end is the bare job's end."""
import os
import select
import shlex
import signal
import subprocess
import time

from trainscope_test import Case, end, main, process_state, python, total, wait_until

# Tells of each signal when it arrives, until its standard input is closed.
COUNT = """
import os, signal, sys
numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT]
for number in numbers: signal.signal(number, lambda number, frame: os.write(1, b"%d\\n" % number))
os.write(1, b"ready\\n")
while os.read(0, 1): pass
"""
SETTLING_S = 0.7  # a signal that arrives twice does so within this
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


class Signals(Case):
    def counted(self, send, *options, job=COUNT, **keywords):
        """What the job got after send(process), which is waited for, and what came after that."""
        process = self.start(job, *options, start_new_session=True, stdin=subprocess.PIPE, **keywords)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        got = [self.next_signal(process) for _ in send(process)]
        time.sleep(SETTLING_S)
        out, _ = process.communicate(timeout=90)
        self.assertEqual(process.returncode, 0)
        return got + [int(line) for line in out.split()]

    def next_signal(self, process):
        wait_until(lambda: select.select([process.stdout], [], [], 0)[0])
        return int(os.read(process.stdout.fileno(), 4))

    def test_to_us_alone_arrives_once(self):
        # One after the other, so that one job will do.
        def send(process):
            for number in FORWARDED:
                process.send_signal(number)
                yield number
        self.assertEqual(self.counted(send), list(map(int, FORWARDED)))

    def test_to_the_whole_group_arrives_once(self):
        def send(process):
            for number in FORWARDED:
                os.killpg(process.pid, number)
                yield number
        self.assertEqual(self.counted(send), list(map(int, FORWARDED)))

    def test_to_the_whole_group_arrives_once_at_a_job_that_left_it(self):
        def send(process):
            for number in FORWARDED:
                os.killpg(process.pid, number)
                yield number
        self.assertEqual(self.counted(send, job="import os; os.setpgid(0, 0)" + COUNT), list(map(int, FORWARDED)))

    def test_to_the_whole_group_is_not_for_a_job_in_another_session(self):
        def send(process):
            os.killpg(process.pid, signal.SIGTERM)
            process.send_signal(signal.SIGUSR1)
            yield signal.SIGUSR1
        self.assertEqual(self.counted(send, job="import os; os.setsid()" + COUNT), [signal.SIGUSR1])

    def test_to_the_whole_group_while_we_are_late_arrives_once(self):
        """The recorder sees it long before the supervisor, which is stopped as if the machine were busy."""
        def send(process):
            recorder = self.recorder()
            process.send_signal(signal.SIGSTOP)
            wait_until(lambda: process_state(process.pid) == "T")
            os.killpg(process.pid, signal.SIGTERM)
            wait_until(lambda: not self.waits(recorder, signal.SIGTERM))
            time.sleep(0.2)
            process.send_signal(signal.SIGCONT)
            yield signal.SIGTERM
        self.assertEqual(self.counted(send), [signal.SIGTERM])

    def waits(self, pid, number):
        with open(f"/proc/{pid}/status") as file:
            pending = next(line for line in file if line.startswith("ShdPnd:"))
        return int(pending.split()[1], 16) >> (number - 1) & 1

    def has_dealt_with(self, number, *pids):
        """Whether these processes have taken the signal and sleep: what its handler notes is noted, and no timer of theirs is over."""
        return not any(self.waits(pid, number) for pid in pids) and all(self.sleeps(pid) for pid in pids)

    def sleeps(self, pid):
        return all(process_state(f"{pid}/task/{thread}") == "S" for thread in os.listdir(f"/proc/{pid}/task"))

    def test_to_us_alone_after_one_to_the_whole_group_arrives_too(self):
        def send(process):
            recorder = self.recorder()
            os.killpg(process.pid, signal.SIGTERM)
            yield signal.SIGTERM
            wait_until(lambda: self.has_dealt_with(signal.SIGTERM, process.pid, recorder))
            time.sleep(0.2)  # at least: what comes sooner may be the same signal
            process.send_signal(signal.SIGTERM)
            yield signal.SIGTERM
        self.assertEqual(self.counted(send), 2 * [signal.SIGTERM])

    def test_to_us_alone_after_one_that_the_recorder_saw_late_arrives_too(self):
        def send(process):
            recorder = self.recorder()
            os.kill(recorder, signal.SIGSTOP)
            wait_until(lambda: process_state(recorder) == "T")
            os.killpg(process.pid, signal.SIGTERM)
            yield signal.SIGTERM
            wait_until(lambda: self.has_dealt_with(signal.SIGTERM, process.pid))
            time.sleep(0.2)  # at least: the supervisor waits for the recorder, but not that long
            wait_until(lambda: self.has_dealt_with(signal.SIGTERM, process.pid))
            os.kill(recorder, signal.SIGCONT)
            wait_until(lambda: self.has_dealt_with(signal.SIGTERM, recorder))
            process.send_signal(signal.SIGTERM)
            yield signal.SIGTERM
        self.assertEqual(self.counted(send), 2 * [signal.SIGTERM])

    def test_to_the_whole_group_while_the_recorder_is_stopped_arrives_once(self):
        def send(process):
            recorder = self.recorder()
            os.kill(recorder, signal.SIGSTOP)
            wait_until(lambda: process_state(recorder) == "T")
            os.killpg(process.pid, signal.SIGTERM)
            yield signal.SIGTERM
        self.assertEqual(self.counted(send), [signal.SIGTERM])

    def test_without_a_recorder_arrives_once(self):
        def send(process):
            os.kill(self.recorder(), signal.SIGKILL)
            process.send_signal(signal.SIGTERM)
            yield signal.SIGTERM
        self.assertEqual(self.counted(send), [signal.SIGTERM])

    def test_ignored_by_the_caller_but_asked_for_by_the_job(self):
        # A shell without job control starts what ends in & so; the job has its own handler all the same.
        def send(process):
            process.send_signal(signal.SIGINT)
            yield signal.SIGINT
        self.assertEqual(self.counted(send, restore_signals=False,
                                      preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)), [signal.SIGINT])

    def test_nohup(self):
        done = subprocess.run(["nohup", *self.run_words(["sh", "-c", "kill -HUP $$; kill -HUP $PPID; sleep 0.3; exit 3"])],
                              env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 3)

    def test_timeout_ends_the_job_as_bare(self):
        # Not a shell's trap: timeout sends its signal twice, and the second one ends dash now and then, bare too.
        handler = python("""
import os, signal
signal.signal(signal.SIGTERM, lambda *a: os._exit(5))
os.write(1, b"ready\\n")
while True: signal.pause()
""")
        for job in (["sh", "-c", "echo ready; exec sleep 60"], handler):
            codes = [self.code_after_timeout(words) for words in (job, self.run_words(job))]
            self.assertEqual(codes[1], codes[0], job)

    def code_after_timeout(self, words):
        """Its time is over, which is what SIGALRM tells it, as soon as the job is ready."""
        process = subprocess.Popen(["timeout", "--preserve-status", "600", *words], env=self.environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
        self.addCleanup(end, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGALRM)
        return process.wait(timeout=60)

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

    def test_children_that_were_there_before_are_not_the_jobs(self):
        # A shell that started something and then became us.
        burn = " ".join(map(shlex.quote, python("import time\nwhile time.process_time() < 0.8: pass")))
        stubborn = "trap '' TERM; while :; do sleep 0.5; done"  # uses hardly any time of its own
        script = f'{burn} >/dev/null 2>&1 & sleep 60 >/dev/null 2>&1 & echo $! > {self.path("pid")}; exec "$@"'
        done = subprocess.run(["sh", "-c", script, "sh", *self.run_words(["sh", "-c", stubborn], "--for", "2s", "--grace", "0s")],
                              env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 124, done)
        with open(self.path("pid")) as file:
            sleeper = int(file.read())
        self.assertNotIn(process_state(sleeper), ("", "Z"), "a process that is not the job's was killed")
        os.kill(sleeper, signal.SIGKILL)
        self.assertLess(total(self.info(), "job.cpu.time"), 0.5, "what is not the job's was counted")

    def test_daemons_of_one_run_are_not_the_next_runs(self):
        # The first job ends as soon as its daemon runs, the second one never does by itself.
        daemon = "trap '' TERM; echo $$ >> begun; while ! [ -e end ]; do sleep 0.05; done; echo $$ >> ended"
        job = 'trap "" TERM; n=$(cat begun 2> /dev/null | wc -l); sh -c "$0" > /dev/null 2>&1 & ' \
              "while [ $(cat begun 2> /dev/null | wc -l) -eq $n ] || [ $n -gt 0 ]; do sleep 0.05; done"
        done = self.record(["sh", "-c", job, daemon], "--repeat", "2", "--for", "8s", "--grace", "0s", check=False, cwd=self.folder)
        self.assertEqual(done.returncode, 124, done)
        with open(self.path("begun")) as begun:
            first, second = map(int, begun.read().split())
        # The daemon of the first run lives on; the second run's own was killed with its tree.
        wait_until(lambda: process_state(second) in ("", "Z"))
        self.assertNotIn(process_state(first), ("", "Z"))
        open(self.path("end"), "w").close()
        wait_until(lambda: process_state(first) in ("", "Z"))
        with open(self.path("ended")) as ended:
            self.assertEqual(list(map(int, ended.read().split())), [first])

    def test_a_job_stopped_and_continued_by_others(self):
        process = self.start("""
import os
os.write(1, b"%d\\n" % os.getpid())
os.read(0, 1)
raise SystemExit(8)
""", stdin=subprocess.PIPE)
        pid = int(process.stdout.readline())
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: process_state(pid) == "T")
        def events():
            found = self.trainscope("sql", "latest", "select text from events where kind = 'job' order by time_s")
            return found.stdout.decode().split("\r\n")[1:-1]

        wait_until(lambda: len(events()) == 1)
        self.assertNotEqual(process_state(process.pid), "T", "the supervisor stopped with a job that another had stopped")
        os.kill(pid, signal.SIGCONT)
        wait_until(lambda: len(events()) == 2)  # one that ends at once is not seen to go on
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 8)
        self.assert_ticks_add_up()
        self.assertEqual(events(), ["the job was stopped by signal 19 (Stopped (signal))", "the job was continued"])

    def test_a_job_stopped_by_the_signal_of_the_stop_key_and_continued_by_others(self):
        """We stop with it, as a shell expects, and go on with it, or nobody would pass on its output and its end."""
        job = """
import os
os.write(1, b"%d\\n" % os.getpid())
os.read(0, 1)
raise SystemExit(8)
"""
        def stopped(number):
            # In a group of its own with a parent outside: the kernel stops nobody so in an orphaned group, as the caller's may be.
            process = self.start(job, stdin=subprocess.PIPE, preexec_fn=os.setpgrp)
            pid = int(process.stdout.readline())
            os.kill(pid, signal.SIGTSTP)
            wait_until(lambda: process_state(pid) == "T" and process_state(process.pid) == "T")
            os.kill(pid, number)
            return process

        for number, status in ((signal.SIGCONT, 8), (signal.SIGKILL, -signal.SIGKILL)):
            with self.subTest(number):
                process = stopped(number)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, status)


if __name__ == "__main__":
    main()
