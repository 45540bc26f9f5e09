"""Running, waiting and blocked time of a job's main thread and of its workers is what the job itself knows of them."""
import json
import subprocess

from trainscope_test import BIN, Case, end, main, metric, python, wait_until

# Burns 60 % of its steps and sleeps 40 %, in several processes; each reports its own schedstat and how long it has lived.
JOB = """
import json, os, sys, time
def burn(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until: pass
def name(text):
    with open("/proc/self/comm", "w") as file: file.write(text)
def times():
    with open("/proc/self/schedstat") as file: run, wait, _ = map(int, file.read().split())
    with open("/proc/self/stat") as file: began = int(file.read().rpartition(")")[2].split()[19])
    lived = time.clock_gettime(time.CLOCK_BOOTTIME) - began / os.sysconf("SC_CLK_TCK")
    return {"running": run / 1e9, "runnable": wait / 1e9, "blocked": lived - (run + wait) / 1e9}
def train(steps):
    for _ in range(steps):
        burn(0.06)
        time.sleep(0.04)
def report(**truth): print(json.dumps(truth), flush=True)
"""
STATES = ("running", "runnable", "blocked")
# A tick of the kernel, by which a running thread's count and a start time may be old; CPU time that a process takes to
# report and to end.
TICK_S, END_CPU_S = 0.01, 0.15


class Threads(Case):
    def times(self, info, role, key="last"):
        return {state: metric(info, "job.thread.time", role=role, state=state)[key] for state in STATES}

    def assert_times(self, truth, seen, info):
        """All that the job knows was seen, and nothing that is longer than the run."""
        for state in STATES:
            self.assertGreaterEqual(seen[state], truth[state] - 2 * TICK_S, f"{state}: {seen} of {truth}")
        self.assert_between(sum(truth.values()) - 2 * TICK_S, sum(seen.values()), info["run"]["duration_s"] + TICK_S,
                            f"{seen} of {truth}")
        self.assert_between(truth["running"] - TICK_S, seen["running"], truth["running"] + END_CPU_S, "running")

    def test_main_thread_runs_and_sleeps_as_the_job_says(self):
        done = self.record(JOB + "train(30); report(**times()); os._exit(0)", "--every", "100ms")
        truth, info = json.loads(done.stdout.splitlines()[-1]), self.info()
        seen = self.times(info, "main")
        self.assert_times(truth, seen, info)
        for state, grown in self.times(info, "main", "delta").items():
            self.assertAlmostEqual(seen[state], grown, places=9)
        # Sleeping is not waiting for a disk. What is not divided is the time since it was last seen asleep.
        split = [metric(info, "job.thread.blocked", on=on, role="main")["last"] for on in ("disk", "other")]
        self.assertLessEqual(sum(split), seen["blocked"] + 1e-5)
        values = [value for _, value in self.series("job.thread.time", "role=main;state=running")]
        self.assertEqual(values[0], 0)
        self.assertEqual(values, sorted(values))

    def test_sleep_is_blocked_time_that_is_not_the_disks(self):
        self.record(["sleep", "2.5"])
        info = self.info()
        seen = self.times(info, "main")
        self.assertGreaterEqual(seen["blocked"], 2.4)
        self.assertEqual(metric(info, "job.thread.blocked", on="disk", role="main")["last"], 0)
        rows = self.series("job.thread.blocked", "on=other;role=main")
        self.assertEqual(rows[0][1], 0)
        if len(rows) > 2: self.assertGreater(rows[-1][1], 0, rows)  # it was seen asleep

    def test_worker_is_a_role_of_its_own(self):
        # Both wait until the last value on disk includes what they did: a reaped process is known to its last reading.
        process = self.start(JOB + """
gate, key = os.pipe()
if os.fork() == 0:
    os.close(key)
    name("pt_data_worker")
    burn(1.5); report(worker=times())
    os.read(gate, 1); os._exit(0)
train(10); report(main=times())
sys.stdin.read(1); os.close(key); os.wait(); os._exit(0)
""", stdin=subprocess.PIPE)
        truth = {}
        for _ in range(2): truth.update(json.loads(process.stdout.readline()))
        wait_until(lambda: self.last_on_disk("job.thread.time", role="worker0", state="running")
                   >= truth["worker"]["running"] - TICK_S)
        process.communicate(input=b"x", timeout=60)
        info = self.info()
        worker, seen = self.times(info, "worker0"), self.times(info, "main")
        self.assert_between(truth["worker"]["running"] - TICK_S, worker["running"], truth["worker"]["running"] + END_CPU_S)
        self.assertGreaterEqual(seen["running"], truth["main"]["running"] - TICK_S)
        self.assertLess(seen["running"], truth["main"]["running"] + END_CPU_S)  # without the worker's 1.5 s
        self.assertGreaterEqual(seen["blocked"], truth["main"]["blocked"] - 3 * TICK_S)

    def test_worker_of_an_older_pytorch_has_no_name_but_hands_over_memory(self):
        """As PyTorch passes the storage of a tensor to the process that reads from the loader."""
        process = self.start(JOB + """
import multiprocessing
from multiprocessing.resource_sharer import DupFd
def work(results, gate):
    results.put(DupFd(os.memfd_create("batch")))
    burn(1.5); report(worker=times())
    gate.wait()
results, gate = multiprocessing.SimpleQueue(), multiprocessing.Event()
worker = multiprocessing.get_context("fork").Process(target=work, args=(results, gate))
worker.start()
os.close(results.get().detach())
train(10)
sys.stdin.read(1); gate.set(); worker.join()
""", stdin=subprocess.PIPE)
        truth = json.loads(process.stdout.readline())
        wait_until(lambda: self.last_on_disk("job.thread.time", role="worker0", state="running")
                   >= truth["worker"]["running"] - TICK_S)
        process.communicate(input=b"x", timeout=60)
        running = self.times(self.info(), "worker0")["running"]
        self.assert_between(truth["worker"]["running"] - TICK_S, running, truth["worker"]["running"] + END_CPU_S)

    def test_pool_has_no_workers_that_load_data(self):
        process = self.start(JOB + """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    pool.map_async(burn, [0.5] * 1000)
    sys.stdin.read(1)
""", stdin=subprocess.PIPE)
        # One of them does what there is to do; the first process waits.
        wait_until(lambda: (self.last_on_disk("job.thread.time", role="main", state="running") or 0) > 1)
        process.communicate(input=b"x", timeout=60)
        roles = {one["labels"]["role"] for one in self.info()["metrics"] if one["name"] == "job.thread.time"}
        self.assertFalse({role for role in roles if role.startswith("worker")}, roles)

    def test_main_is_the_program_and_not_the_shell_in_front_of_it(self):
        program = python(JOB + "train(20); report(**times()); sys.stdin.read(1); os._exit(0)")
        process = self.start(["bash", "-c", '"$@"; exit $?', "bash", *program], stdin=subprocess.PIPE)
        truth = json.loads(process.stdout.readline())
        # Up to its last reading: the shell reaps it. It waits now, so later readings differ only in the blocked time.
        for state in ("running", "blocked"):
            wait_until(lambda: self.last_on_disk("job.thread.time", role="main", state=state) >= truth[state] - TICK_S)
        process.communicate(input=b"x", timeout=60)
        seen = self.times(self.info(), "main")
        self.assert_between(truth["running"] - TICK_S, seen["running"], truth["running"] + END_CPU_S, "running")

    def test_busiest_other_thread_has_a_role(self):
        process = self.start(JOB + """
import threading
told = threading.Event()
def work():
    while not told.is_set(): burn(0.05)
    report(running=time.thread_time())
thread = threading.Thread(target=work)
thread.start()
sys.stdin.read(1); told.set(); thread.join(); os._exit(0)
""", stdin=subprocess.PIPE)
        # What it did before it was first read is not known.
        wait_until(lambda: self.last_on_disk("job.thread.time", role="busiest", state="running") > 0)
        truth = json.loads(process.communicate(input=b"x", timeout=60)[0])
        info = self.info()
        self.assertLessEqual(self.times(info, "busiest")["running"], truth["running"] + TICK_S)
        self.assertLess(self.times(info, "main")["running"], END_CPU_S)  # it only waits

    def test_attached_job_counts_from_now_on(self):
        job = subprocess.Popen(python(JOB + """
burn(0.5); report(); sys.stdin.readline()
before = times(); burn(0.6); after = times()
report(running=after["running"] - before["running"]); sys.stdin.read()
"""), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(end, job)
        job.stdout.readline()
        recording = subprocess.Popen([BIN, "attach", str(job.pid), "--quiet"], env=self.environment(),
                                     stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(end, recording)
        self.wait_for_samples(1, "job.thread.time", role="main", state="running")
        job.stdin.write(b"go\n")
        job.stdin.flush()
        truth = json.loads(job.stdout.readline())
        wait_until(lambda: self.last_on_disk("job.thread.time", role="main", state="running") >= truth["running"] - TICK_S)
        job.stdin.close()
        self.assertEqual((job.wait(), recording.wait(timeout=60)), (0, 0))
        values = [value for _, value in self.series("job.thread.time", "role=main;state=running")]
        self.assertEqual(values[0], 0)
        self.assert_between(truth["running"] - TICK_S, values[-1], truth["running"] + END_CPU_S, "running")


if __name__ == "__main__":
    main()
