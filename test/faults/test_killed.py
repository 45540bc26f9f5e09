"""Recorder or supervisor killed at any moment: the job does not notice, the run opens, what is missing is told."""
# ctest-timeout: 1200
import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from trainscope_test import COUNTING_UNTIL_INPUT, LONG, Case, main, metric, process_state, processes, total, wait_until

RECORDER_KILLS = 200 if LONG else 25
SUPERVISOR_KILLS = 50 if LONG else 10
RESTART_LIMIT_S = 1.0
LOST_LIMIT_S = 0.15
SEED = int(os.environ.get("TRAINSCOPE_SEED", time.time_ns() % 1_000_000))

# Begins when it is told to.
COUNTING = """
import sys, time
sys.stdin.readline()
for i in range(30):
    print(i, flush=True); time.sleep(0.03)
sys.exit(9)
"""
LINES = b"".join(b"%d\n" % i for i in range(30))


class Killed(Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        print(f"(TRAINSCOPE_SEED={SEED})", end=" ", flush=True)

    def test_the_recorder_at_random_moments(self):
        described = 0
        for k in range(RECORDER_KILLS):
            process = self.start(COUNTING, "--every", "10ms", stdin=subprocess.PIPE)
            recorder = self.recorder()
            process.stdin.write(b"go\n")
            # From the very first instructions of the recorder to the end of the job.
            time.sleep(self.random.choice((0, 0.02, 0.2, 1)) * self.random.random())
            try:
                os.kill(recorder, signal.SIGKILL)
            except ProcessLookupError:
                pass  # the run was over
            out, _ = process.communicate(timeout=60)
            with self.subTest(kill=k):
                self.assertEqual((process.returncode, out), (9, LINES))
                info = self.assert_ticks_add_up()
                self.assertEqual(info["job"]["exit_code"], 9)
                self.assertLessEqual(info["sampling"]["restarts"], 1)
                described += info["host"]["cpu_model"] is not None
                if info["sampling"]["restarts"] == 0:  # it had taken everything, or had taken nothing yet
                    self.assertEqual([g for g in info["sampling"]["gaps"] if "killed" in g["reason"]], [])
        # Of the others the next recorder had hardly begun when the job ended.
        self.assertGreaterEqual(described, 0.8 * RECORDER_KILLS)

    def test_the_next_recorder_describes_the_host(self):
        process = self.start(COUNTING_UNTIL_INPUT, "--every", "10ms", stdin=subprocess.PIPE)
        os.kill(self.recorder(), signal.SIGKILL)
        wait_until(lambda: self.info()["host"]["cpu_model"] is not None)
        process.communicate(input=b"end\n", timeout=60)
        self.assertIsNotNone(self.info()["host"]["cpu_model"])

    def test_a_restart_costs_only_its_own_time(self):
        # Again until one is quick: a busy machine may be late, but what is slow or lossy is so each time.
        holes, lost = [], []
        while len(holes) < 10 and not (holes and min(holes) <= RESTART_LIMIT_S and min(lost) <= LOST_LIMIT_S):
            process = self.start(COUNTING_UNTIL_INPUT, "--every", "10ms", stdin=subprocess.PIPE)
            process.stdout.readline()
            time.sleep(0.3)
            before = self.recorder()
            killed = time.monotonic()
            os.kill(before, signal.SIGKILL)
            self.next_recorder(before)
            time.sleep(0.5)
            process.communicate(input=b"end\n", timeout=60)
            info = self.assert_ticks_add_up()
            self.assertEqual(info["sampling"]["restarts"], 1)
            self.assertTrue(any("killed by signal 9" in g["reason"] for g in info["sampling"]["gaps"]), info["sampling"]["gaps"])
            with open(os.path.join(info["run"]["path"], "manifest.json")) as file:
                killed -= json.load(file)["zero_monotonic_ns"] / 1e9
            times = [t for t, _ in self.series("system.cpu.time", "cpu=all;state=user")]
            holes.append(max(b - a for a, b in zip(times, times[1:])))
            lost.append(killed - max((t for t in times if t <= killed), default=0))
        self.assertLessEqual(min(holes), RESTART_LIMIT_S)
        # What was sampled before the kill was not on disk yet, and is there.
        self.assertLessEqual(min(lost), LOST_LIMIT_S)

    def test_counters_go_on_over_a_restart(self):
        # Children that nobody waits for are known from their last readings alone.
        process = self.start("""
import os, signal, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    while time.process_time() < 0.4: pass
    for _ in range(300): time.sleep(0.001)
    os.write(1, b"burnt\\n"); os.read(0, 1); os._exit(0)
while True:
    try: os.wait()
    except ChildProcessError: break
os.write(1, b"ended\\n")
os.read(0, 1)
""", "--every", "20ms", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"burnt\n")
        wait_until(lambda: self.last_on_disk("job.context_switches", type="voluntary") >= 300
                   and sum(self.last_on_disk("job.cpu.time", mode=mode) for mode in ("user", "system")) > 0.4)
        process.stdin.write(b"x")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"ended\n")
        gone = self.on_disk("job.cpu.time", mode="user")["samples"] + 1
        self.wait_for_samples(gone + 1, "job.cpu.time", mode="user")  # its end was seen
        killed = self.recorder()
        os.kill(killed, signal.SIGKILL)
        self.next_recorder(killed)
        process.communicate(input=b"x", timeout=60)
        self.assertEqual(process.returncode, 0)
        info = self.assert_ticks_add_up()
        self.assertEqual(info["sampling"]["restarts"], 1)
        self.assertGreaterEqual(total(info, "job.cpu.time"), 0.4)
        self.assertGreaterEqual(metric(info, "job.context_switches", type="voluntary")["last"], 300)
        for name, labels in (("job.cpu.time", "mode=user"), ("job.context_switches", "type=voluntary"),
                             ("job.io.bytes", "direction=read"), ("job.paging.faults", "type=minor"),
                             ("job.thread.time", "role=main;state=running"), ("job.thread.time", "role=main;state=blocked"),
                             ("recorder.bytes_written", "process=recorder"), ("recorder.missed_ticks", "process=recorder")):
            values = [v for _, v in self.series(name, labels)]
            self.assertEqual(values, sorted(values), f"{name} went back")

    def test_again_and_again(self):
        process = self.start(COUNTING_UNTIL_INPUT, "--every", "20ms", stdin=subprocess.PIPE)
        killed = set()
        for _ in range(4):
            recorder = self.next_recorder(*killed)
            killed.add(recorder)
            time.sleep(0.1)
            os.kill(recorder, signal.SIGKILL)
        out, _ = process.communicate(input=b"x", timeout=60)
        self.assertEqual((process.returncode, out.split()), (9, [b"%d" % i for i in range(len(out.split()))]))
        info = self.assert_ticks_add_up()
        self.assertEqual(info["sampling"]["restarts"], 4)

    def test_the_supervisor_at_random_moments(self):
        for k in range(SUPERVISOR_KILLS):
            mark = self.path(f"mark{k}")
            process = self.start(COUNTING.replace("sys.exit(9)", f"open({mark!r}, 'w')"), "--every", "10ms", stdin=subprocess.PIPE)
            process.stdin.write(b"go\n")
            begun = process.stdout.readline()  # the job has started
            time.sleep(self.random.random() * 0.7)
            process.kill()
            was_over = os.path.exists(mark)  # the machine let us sleep for longer than the job lasts
            out, _ = process.communicate(timeout=60)
            with self.subTest(kill=k):
                self.assertEqual(begun + out, LINES)
                self.assertTrue(os.path.exists(mark), "the job did not get to its end")
                info = wait_until(lambda: self.ended())
                if not was_over:
                    self.assertEqual((info["job"]["ended_by"], info["job"]["exit_code"]), ("unknown", None))
                self.assertGreater(info["run"]["duration_s"], 0.9)
                self.assert_ticks_add_up()
                wait_until(lambda: not processes("trainscope-rec", self.home))
                self.assertFalse(os.path.exists(os.path.join(info["run"]["path"], "progress")), "the FIFO was left")

    def ended(self):
        info = self.info()
        return info if info["job"]["ended_by"] else None

    def test_the_supervisor_while_the_reader_pauses(self):
        process = self.start("import os\nfor i in range(4000): os.write(1, b'%d\\n' % i * 50)")
        first = process.stdout.readline()
        time.sleep(0.3)  # pipes are full now
        process.kill()
        time.sleep(0.5)
        out = first + process.stdout.read()
        self.assertEqual(out, b"".join(b"%d\n" % i * 50 for i in range(4000)))

    def test_the_supervisor_of_a_job_that_leaves_a_daemon(self):
        told = self.path("told")
        daemon = f"(until [ -e {told} ]; do sleep 0.05; done; echo late) &"
        process = self.start(["sh", "-c", f"{daemon} echo early; read line"], stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"early\n")
        process.kill()
        process.stdin.write(b"end\n")
        wait_until(lambda: self.info()["job"]["ended_by"] == "unknown")
        open(told, "w").close()
        self.assertEqual(process.stdout.read(), b"late\n")
        wait_until(lambda: not processes("trainscope-rec", self.home))
        self.assertEqual(self.info()["job"]["ended_by"], "unknown")

    def test_the_steps_of_an_orphaned_run_are_counted(self):
        process = self.start("""
import os, sys
def report(steps):
    with open(os.environ["TRAINSCOPE_PIPE"], "w") as pipe:
        for step in steps: pipe.write(f"step {step}\\n")
report(range(1, 8)); print("begun", flush=True)
sys.stdin.readline()
report(range(8, 13))
""", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"begun\n")
        process.kill()
        process.wait()
        process.stdin.write(b"end\n")
        process.stdin.close()
        process.stdout.read()
        wait_until(lambda: not processes("trainscope-rec", self.home))
        listed = json.loads(self.trainscope("list", "--json").stdout)
        self.assertEqual([run["steps"] for run in listed["runs"] if run["status"] == "ended"], [12])

    def test_both(self):
        # Nobody is left to pass on: the job is told so by its next write. The run opens, up to the last second.
        process = self.start("import time\nwhile True: print(1, flush=True); time.sleep(0.05)")
        process.stdout.readline()
        recorder = self.recorder()
        self.wait_for_samples(6)
        process.kill()
        os.kill(recorder, signal.SIGKILL)
        process.wait()
        info = self.info()
        self.assertGreater(info["sampling"]["samples"], 5)
        self.assertIsNone(info["job"]["exit_code"])

    def test_a_recorder_that_was_stopped_is_left_alone_and_its_misses_are_counted(self):
        process = self.start(COUNTING_UNTIL_INPUT, "--every", "20ms", stdin=subprocess.PIPE)
        recorder = self.recorder()
        self.wait_for_samples(20)
        before = time.monotonic()
        os.kill(recorder, signal.SIGSTOP)
        wait_until(lambda: process_state(recorder) == "T")
        stopped = time.monotonic()
        time.sleep(6.5)  # more than a hang would be given
        self.assertEqual(process_state(recorder), "T", "a recorder that somebody stopped was killed")
        going = time.monotonic()
        os.kill(recorder, signal.SIGCONT)
        self.end_counting(process)
        after = time.monotonic()
        info = self.assert_ticks_add_up()
        self.assertEqual(info["sampling"]["restarts"], 0)
        gap = max(info["sampling"]["gaps"], key=lambda g: g["to_s"] - g["from_s"])
        self.assertIn("stopped", gap["reason"])
        length = gap["to_s"] - gap["from_s"]
        self.assert_between(going - stopped - 0.06, length, after - before, "gap")
        self.assertGreaterEqual(info["sampling"]["missed"], int((going - stopped) / 0.02) - 2)

    def end_counting(self, process):
        """Ends a job that counts; every line of it came through."""
        out, _ = process.communicate(input=b"end\n", timeout=60)
        numbers = list(map(int, out.split()))
        self.assertEqual((process.returncode, numbers), (9, list(range(len(numbers)))))

    @unittest.skipUnless(shutil.which("strace"), "strace is not here")
    def test_a_recorder_that_hangs_is_replaced(self):
        process = self.start(COUNTING_UNTIL_INPUT, "--every", "20ms", stdin=subprocess.PIPE)
        recorder = self.recorder()
        thread = wait_until(lambda: [t for t in os.listdir(f"/proc/{recorder}/task") if self.thread_name(recorder, t) == "ts-sample"])[0]
        # Its next reading of a file takes a minute.
        tracer = subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-e", "trace=pread64", "-e", "inject=pread64:delay_enter=60000000",
                                   "-p", thread], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        def replaced():
            found = processes("trainscope-rec", self.home)
            return found and recorder not in found
        wait_until(lambda: tracer.poll() is not None or replaced())
        tracer.kill()
        if b"not permitted" in tracer.communicate()[1]:
            self.skipTest("tracing is not permitted here")
        wait_until(replaced)
        self.wait_for_samples(self.on_disk()["samples"] + 20)
        self.end_counting(process)
        info = self.assert_ticks_add_up()
        self.assertEqual(info["sampling"]["restarts"], 1)
        hung = [g["to_s"] for g in info["sampling"]["gaps"] if "hung" in g["reason"]]
        self.assertTrue(hung, info["sampling"]["gaps"])
        self.assertLess(total(info, "job.cpu.time"), 1, "what the recorder used was counted as the job's")
        self.assertGreater(max(t for t, _ in self.series("system.cpu.time", "cpu=all;state=user")), max(hung))

    def thread_name(self, pid, thread):
        try:
            with open(f"/proc/{pid}/task/{thread}/comm") as file:
                return file.read().strip()
        except OSError:
            return ""

    def test_the_recorder_dies_before_the_job_when_memory_runs_out(self):
        # Whatever the job's own value; nobody needs a right to raise his own.
        for value in (0, 400, 900):
            def raise_own(value=value):
                with open("/proc/self/oom_score_adj", "w") as file:
                    file.write(str(value))
            process = self.start("import os, sys\nprint(os.getpid(), flush=True); sys.stdin.readline()", stdin=subprocess.PIPE,
                                 preexec_fn=raise_own)
            job, recorder = int(process.stdout.readline()), self.recorder()
            self.assertEqual(self.oom(job), value)
            self.assertEqual(self.oom(recorder), 1000)
            process.communicate(b"\n", timeout=60)
            wait_until(lambda: not processes("trainscope-rec", self.home))

    def oom(self, pid):
        with open(f"/proc/{pid}/oom_score_adj") as file:
            return int(file.read())

    def test_a_recorder_still_stopped_at_the_end_is_woken_to_finish(self):
        process = self.start(COUNTING_UNTIL_INPUT, "--every", "20ms", stdin=subprocess.PIPE)
        process.stdout.readline()
        recorder = self.recorder()
        os.kill(recorder, signal.SIGSTOP)
        wait_until(lambda: process_state(recorder) == "T")
        for _ in range(50):
            process.stdout.readline()
        out, _ = process.communicate(input=b"end\n", timeout=60)
        numbers = list(map(int, out.split()))
        self.assertEqual((process.returncode, numbers), (9, list(range(51, 51 + len(numbers)))))
        self.assert_ticks_add_up()


if __name__ == "__main__":
    main()
