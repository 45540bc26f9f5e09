"""Attached to a job that runs: counted from 0, its children followed, the job left alone; a pid that was reused is not it."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

from trainscope_test import BIN, IS_ROOT, PATIENCE_S, Case, end, main, metric, process_state, processes, python, total, wait_until

# Burns and sleeps before it is attached to, waits for the word, then does what is known.
JOB = """
import json, os, resource, sys, time
def cpu(): return sum(resource.getrusage(w).ru_utime + resource.getrusage(w).ru_stime for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
def switches(): return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until: pass
for _ in range(500): time.sleep(0.0002)
burn(0.5)
null = os.open("/dev/null", os.O_WRONLY)
for _ in range(1000): os.write(null, bytes(65536))
print("ready", flush=True)
sys.stdin.readline()
before = cpu(), switches()
burn(0.3)
for _ in range(200): os.write(null, bytes(65536))
for _ in range(200): time.sleep(0.001)
pid = os.fork()
if pid == 0:
    burn(0.3); time.sleep(1.2); os._exit(0)
os.waitpid(pid, 0)
time.sleep(0.3)
print(json.dumps({"cpu": cpu() - before[0], "voluntary": switches() - before[1]}), flush=True)
sys.stdin.readline()
"""


class Attach(Case):
    def job(self, source=JOB, **variables):
        process = subprocess.Popen(python(source), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env={**os.environ, **variables})
        self.addCleanup(end, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def attach(self, pid, *options, **keywords):
        process = subprocess.Popen([BIN, "attach", str(pid), "--quiet", "--every", "20ms", *options], env=self.environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **keywords)
        self.addCleanup(end, process)
        self.wait_for_samples(1, "job.cpu.time", mode="user")
        self.wait_for_samples(1, "job.context_switches", type="voluntary")
        return process

    def assert_counts(self, truth):
        info = self.assert_ticks_add_up()
        self.assert_between(truth["cpu"] - 0.05, total(info, "job.cpu.time"), truth["cpu"] + 0.08, "job.cpu.time")
        self.assert_between(200 << 16, metric(info, "job.io.bytes", direction="write")["last"], (200 << 16) + 2000, "written")
        seen = metric(info, "job.context_switches", type="voluntary")["last"]
        self.assert_between(truth["voluntary"], seen, truth["voluntary"] + 80, "voluntary switches")
        for name, labels in (("job.cpu.time", "mode=user"), ("job.context_switches", "type=voluntary")):
            values = [v for _, v in self.series(name, labels)]
            self.assertEqual(values[0], 0, f"{name} did not begin at 0")
            self.assertEqual(values, sorted(values), f"{name} went back")
        for counter in info["metrics"]:
            if counter["name"].startswith("job.") and counter["kind"] == "counter" and counter["status"] == "ok":
                self.assertEqual(counter["delta"], counter["last"], counter["name"])
        return info

    def test_only_what_it_does_from_now_on_is_counted(self):
        job = self.job()
        recording = self.attach(job.pid)
        job.stdin.write(b"go\n")
        job.stdin.flush()
        truth = json.loads(job.stdout.readline())
        # What a process that others reap did after its last reading is known to nobody: it waits for that.
        wait_until(lambda: self.last_on_disk("job.context_switches", type="voluntary") >= truth["voluntary"])
        job.stdin.close()
        self.assertEqual(job.wait(), 0)
        self.assertEqual(recording.wait(timeout=60), 0)
        info = self.assert_counts(truth)
        self.assertEqual((info["job"]["ended_by"], info["job"]["exit_code"]), ("unknown", None))
        self.assertEqual(metric(info, "job.process.count")["max"], 2)

    def test_it_gets_a_verdict(self):
        job = self.job("print('ready', flush=True)\nwhile True: pass")
        recording = self.attach(job.pid, "--for", "4s")
        self.assertEqual(recording.wait(timeout=60), 0)
        answer = json.loads(self.trainscope("diagnose", "--json").stdout)
        # Whether others took the processor meanwhile is up to the machine.
        self.assertIn(answer["verdict"], ("cpu_bound", "contended", "quota_bound"), answer)
        self.assertGreater(answer["confidence"], 0.5)
        listed = json.loads(self.trainscope("list", "--json").stdout)["runs"][0]
        self.assertEqual(listed["verdict"], answer["verdict"], "stored when the recording ended")
        self.assertEqual((answer["stored"]["verdict"], answer["stored"]["differs"]), (answer["verdict"], False))

    def test_the_rank_is_the_jobs_and_the_machine_is_recorded(self):
        job = self.job(RANK="5", WORLD_SIZE="8", LOCAL_RANK="1")
        recording = self.attach(job.pid)
        recording.send_signal(signal.SIGINT)
        self.assertEqual(recording.wait(timeout=60), 0)
        info = self.info()
        self.assertEqual({key: info["run"][key] for key in ("rank", "world_size", "local_rank")},
                         {"rank": 5, "world_size": 8, "local_rank": 1})
        self.assertTrue(any(m["name"] == "system.cpu.time" for m in info["metrics"]))

    def test_what_was_done_up_to_the_moment_of_letting_go_is_counted(self):
        # Sources that are read every second or two are read once more then, and so is a period of an hour.
        for options, let_go in (((), signal.SIGINT), (("--every", "1h"), signal.SIGTERM)):
            with self.subTest(options=options):
                job = self.job()
                recording = self.attach(job.pid, *options)
                job.stdin.write(b"go\n")
                job.stdin.flush()
                truth = json.loads(job.stdout.readline())
                recording.send_signal(let_go)
                self.assertEqual(recording.wait(timeout=60), 0)
                self.assertEqual(self.assert_counts(truth)["job"]["ended_by"], "detached")

    def test_what_was_done_up_to_an_end_that_nobody_saw_is_unknown_and_not_nothing(self):
        job = self.job(JOB)
        recording = self.attach(job.pid, "--every", "1h")
        job.stdin.write(b"go\nend\n")
        job.stdin.flush()
        truth = json.loads(job.stdout.readline())
        self.assertEqual(job.wait(), 0)
        self.assertEqual(recording.wait(timeout=60), 0)
        info = self.info()
        # Read while it waited for its parent to reap it, or not at all since it was attached to.
        for counted, low in ((metric(info, "job.io.bytes", direction="write"), 200 << 16),
                             (metric(info, "job.context_switches", type="voluntary"), truth["voluntary"])):
            self.assertTrue(counted["delta"] is None or counted["delta"] >= low, counted)
        # How the kernel divides CPU time between the modes is its own affair.
        modes = [metric(info, "job.cpu.time", mode=mode)["delta"] for mode in ("user", "system")]
        self.assertTrue(None in modes or sum(modes) >= truth["cpu"] - 0.05, modes)

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_what_the_kernel_forbids_root_is_named(self):
        try:
            pathlib.Path("/proc/1/io").read_text()
            self.skipTest("root may read process 1 here")
        except PermissionError:
            pass
        done = self.trainscope("attach", "1", "--for", "1s", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"the kernel's ptrace rule forbids it", done.stderr)
        self.assertNotIn(b"another user", done.stderr)

    def test_counting_goes_on_when_the_recorder_is_restarted(self):
        job = self.job()
        recording = self.attach(job.pid)
        job.stdin.write(b"go\n")
        job.stdin.flush()
        truth = json.loads(job.stdout.readline())
        killed = self.recorder()
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: set(processes("trainscope-rec", self.home)) - {killed})
        recording.send_signal(signal.SIGINT)
        self.assertEqual(recording.wait(timeout=60), 0)
        info = self.assert_counts(truth)
        self.assertEqual(info["sampling"]["restarts"], 1)
        self.assertEqual(info["job"]["ended_by"], "detached")
        self.assertIsNone(job.poll(), "the job was not left alone")

    def test_the_job_is_described_and_not_the_one_who_attached(self):
        words = python("import time\nprint('ready', flush=True)\ntime.sleep(60)") + ["--api-key=hidden"]
        cpu = min(os.sched_getaffinity(0))
        job = subprocess.Popen(words, stdout=subprocess.PIPE, cwd=self.folder, env={**os.environ, "OMP_NUM_THREADS": "3"},
                               preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
        self.addCleanup(end, job)
        job.stdout.readline()
        self.assertEqual(self.attach(job.pid, "--for", "700ms").wait(timeout=60), 0)
        info = self.info()
        self.assertEqual(info["job"]["command"], [*words[:-1], "--api-key=***"])
        self.assertEqual(info["job"]["working_directory"], os.path.realpath(self.folder))
        self.assertEqual(info["host"]["environment"].get("OMP_NUM_THREADS"), "3")
        self.assertEqual(info["host"]["allowed_cpus"], 1)
        self.assertIsNotNone(info["host"]["software"]["python"])

    def test_signals_that_ask_for_an_end_let_go(self):
        job = self.job("import sys\nprint('ready', flush=True)\nsys.stdin.readline()")
        for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
            recording = self.attach(job.pid)
            recording.send_signal(number)
            self.assertEqual(recording.wait(timeout=PATIENCE_S), 0)
            self.assertEqual(self.info()["job"]["ended_by"], "detached")
            self.assertIsNone(job.poll())

    def test_the_stop_key_stops_us_and_not_the_recording(self):
        job = self.job("import sys\nprint('ready', flush=True)\nsys.stdin.readline()")
        # In a group of its own: the stop key means nothing to a group that no shell looks after.
        recording = self.attach(job.pid, preexec_fn=os.setpgrp)
        recording.send_signal(signal.SIGTSTP)
        wait_until(lambda: process_state(recording.pid) == "T")
        recording.send_signal(signal.SIGCONT)
        recording.send_signal(signal.SIGINT)
        self.assertEqual(recording.wait(timeout=PATIENCE_S), 0)

    def test_a_limit_lets_go(self):
        job = self.job("import sys\nprint('ready', flush=True)\nsys.stdin.readline()")
        recording = self.attach(job.pid, "--for", "700ms")
        self.assertEqual(recording.wait(timeout=60), 0)
        self.assertEqual(self.info()["job"]["ended_by"], "detached")
        self.assertIsNone(job.poll())
        self.assertEqual(process_state(job.pid), "S")

    def test_no_such_process(self):
        done = self.trainscope("attach", "4194303", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(os.listdir(self.home), [])


def in_pid_namespace(name):
    """Runs one test of this file as the first processes of a pid namespace, where pids can be chosen."""
    words = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-B", __file__, name]
    return subprocess.run(words, env={**os.environ, "TRAINSCOPE_TEST_INSIDE": "1"}, capture_output=True, text=True, timeout=240)


def choose_next_pid(pid):
    pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1))


@unittest.skipUnless(IS_ROOT, "a pid namespace needs root")
class ReusedPids(Case):
    def test_in_a_namespace(self):
        if os.environ.get("TRAINSCOPE_TEST_INSIDE"):
            self.skipTest("inside already")
        for name in ("Inside.child_and_its_successor_are_both_counted", "Inside.successor_of_the_attached_job_is_not_counted",
                     "Inside.successor_of_an_attached_child_is_not_counted"):
            with self.subTest(name):
                done = in_pid_namespace(name)
                if "unshare: " in done.stderr or "unshare failed" in done.stderr:
                    self.skipTest("no pid namespace here: " + done.stderr)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Inside(Case):
    """Run by ReusedPids only."""

    def child_and_its_successor_are_both_counted(self):
        done = self.record("""
import os, resource, time
def child(seconds):
    pid = os.fork()
    if pid == 0:
        while time.process_time() < seconds: pass
        os._exit(0)
    os.waitpid(pid, 0)
    return pid
for seconds in (0.25, 0.15, 0.05, 0.002, 0.002, 0.002, 0.1):
    pid = child(seconds)
    # The successor comes within the same tick as a rule, and has the same pid.
    open("/proc/sys/kernel/ns_last_pid", "w").write(str(pid - 1))
    assert child(seconds) == pid
used = resource.getrusage(resource.RUSAGE_CHILDREN); own = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime + own.ru_utime + own.ru_stime, flush=True)
""", "--every", "20ms")
        truth = float(done.stdout)
        info = self.assert_ticks_add_up()
        self.assert_between(truth - 0.04, total(info, "job.cpu.time"), truth + 0.06, "job.cpu.time")
        # The successor is seen, and not as a process beside its predecessor.
        self.assertEqual(metric(info, "job.process.count")["max"], 2)

    def successor_of_the_attached_job_is_not_counted(self):
        job = subprocess.Popen(python("import time; time.sleep(60)"))
        recording = subprocess.Popen([BIN, "attach", str(job.pid), "--quiet", "--every", "20ms"], env=self.environment())
        self.wait_for_samples(1, "job.cpu.time", mode="user")
        job.kill()
        job.wait()
        choose_next_pid(job.pid)
        other = subprocess.Popen(python("import time\nwhile time.process_time() < 1: pass"))
        self.assertEqual(other.pid, job.pid)
        self.assertEqual(recording.wait(timeout=60), 0)
        other.wait()
        self.assertLess(total(self.info(), "job.cpu.time"), 0.2)

    def successor_of_an_attached_child_is_not_counted(self):
        job = subprocess.Popen(python("""
import os, time
pid = os.fork()
if pid == 0: time.sleep(60)
print(pid, flush=True)
os.waitpid(pid, 0)
time.sleep(2)
"""), stdout=subprocess.PIPE)
        child = int(job.stdout.readline())
        recording = subprocess.Popen([BIN, "attach", str(job.pid), "--quiet", "--every", "100ms"], env=self.environment())
        self.wait_for_samples(1, "job.cpu.time", mode="user")
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: not process_state(child))
        choose_next_pid(child)
        other = subprocess.Popen(python("import time\nwhile time.process_time() < 0.8: pass"))
        self.assertEqual(other.pid, child)
        self.assertEqual(recording.wait(timeout=60), 0)
        other.wait()
        job.stdout.close()
        job.wait()
        self.assertLess(total(self.info(), "job.cpu.time"), 0.2)


if __name__ == "__main__":
    main()
