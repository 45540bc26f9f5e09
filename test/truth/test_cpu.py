"""The CPU time of a job is what the kernel says of it, whoever of its processes used it and whoever reaped them."""
import json
import os
import sys

from trainscope_test import SEEN, Case, main, total, metric

# Every job measures itself and prints what is true as its last line.
BURN = """
import json, os, resource, signal, sys, time
def cpu(who=resource.RUSAGE_SELF):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until: pass
def end(**truth):
    print(json.dumps(truth), flush=True)
    os._exit(0)
""" + SEEN
SLACK_S = 0.035  # ends of processes, and what the kernel rounds to ticks


class CpuTime(Case):
    def record_truth(self, job, *options):
        done = self.record(BURN + job, "--every", "20ms", *options)
        return json.loads(done.stdout.splitlines()[-1]), self.info()

    def record_seen_truth(self, job, *options):
        """The same of a job that waits until it was seen."""
        lines = self.record_seen(BURN + job, "--every", "20ms", *options)
        return json.loads(lines[-1]), self.info()

    def assert_cpu(self, info, expected, more=0.0):
        self.assert_between(expected - SLACK_S, total(info, "job.cpu.time"), expected + SLACK_S + more, "job.cpu.time")

    def test_user_and_system_time_are_told_apart(self):
        truth, info = self.record_truth("""
burn(0.5)
zero = open("/dev/zero", "rb", buffering=0); block = bytearray(1 << 20)
while resource.getrusage(resource.RUSAGE_SELF).ru_stime < 0.4: zero.readinto(block)
used = resource.getrusage(resource.RUSAGE_SELF)
end(user=used.ru_utime, system=used.ru_stime)
""")
        for mode in ("user", "system"):
            seen = metric(info, "job.cpu.time", mode=mode)["last"]
            self.assert_between(truth[mode] - SLACK_S, seen, truth[mode] + SLACK_S, mode)

    def test_a_job_shorter_than_a_period_is_counted_whole(self):
        done = self.record(BURN + "burn(0.03)\nend(cpu=cpu())", "--every", "1s")
        info = self.info()
        self.assert_cpu(info, json.loads(done.stdout)["cpu"])
        self.assertAlmostEqual(total(info, "job.cpu.time", "delta"), total(info, "job.cpu.time"))

    def test_threads_are_counted(self):
        truth, info = self.record_truth("""
import hashlib, threading
data = bytes(1 << 22)
threads = [threading.Thread(target=lambda: [hashlib.sha256(data) for _ in range(20)]) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
end(cpu=cpu())
""")
        self.assert_cpu(info, truth["cpu"])

    def test_a_thousand_short_children_are_counted_through_their_reaping(self):
        truth, info = self.record_truth("""
for _ in range(1000): os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
end(cpu=cpu() + cpu(resource.RUSAGE_CHILDREN))
""")
        self.assert_cpu(info, truth["cpu"])

    def test_children_of_children_are_counted_once(self):
        truth, info = self.record_truth("""
def grow(depth):
    for _ in range(2 if depth else 0):
        pid = os.fork()
        if pid == 0:
            grow(depth - 1); burn(0.05); os._exit(0)
        os.waitpid(pid, 0)
grow(3)
end(cpu=cpu() + cpu(resource.RUSAGE_CHILDREN))
""")
        self.assert_cpu(info, truth["cpu"])

    def test_children_that_nobody_waits_for_are_kept_from_their_last_reading(self):
        truth, info = self.record_seen_truth("""
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
read_end, write_end = os.pipe()
gate, key = os.pipe()  # they end together
for _ in range(3):
    if os.fork() == 0:
        os.close(key); burn(0.2)
        os.write(write_end, b"%f\\n" % cpu()); os.close(write_end); os.read(gate, 1); os._exit(0)
os.close(write_end)
truth = sum(float(line) for line in os.fdopen(read_end))
seen()
os.close(key)
try: os.wait()  # for all of them, as nobody reaps them
except ChildProcessError: pass
end(cpu=cpu() + truth)
""")
        self.assert_cpu(info, truth["cpu"], more=0.03)

    def test_zombies_are_counted_once(self):
        truth, info = self.record_seen_truth("""
read_end, write_end = os.pipe()
gate, key = os.pipe()  # they end together
pids = []
for _ in range(3):
    pids.append(os.fork())
    if pids[-1] == 0:
        os.close(key); burn(0.15)
        os.write(write_end, b"%f\\n" % cpu()); os.close(write_end); os.read(gate, 1); os._exit(0)
os.close(write_end)
truth = sum(float(line) for line in os.fdopen(read_end))
seen()  # alive
os.close(key)
for pid in pids: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
seen()  # as zombies
end(cpu=cpu() + truth)
""")
        self.assert_cpu(info, truth["cpu"], more=0.03)
        self.assertEqual(metric(info, "job.process.count")["max"], 4)

    def test_daemons_are_followed_while_the_job_runs(self):
        truth, info = self.record_seen_truth("""
read_end, write_end = os.pipe()
gate, key = os.pipe()  # one of them stays until the job ends
for stays in (False, True):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.close(key); burn(0.25); os.write(write_end, b"%f\\n" % cpu()); os.close(write_end)
            if stays: os.read(gate, 1)
            os._exit(0)
        os._exit(0)
    os.wait()
os.close(write_end)
truth = sum(float(line) for line in os.fdopen(read_end))
seen()
end(cpu=cpu() + cpu(resource.RUSAGE_CHILDREN) + truth)
""")
        self.assert_cpu(info, truth["cpu"], more=0.03)

    def test_data_loader_workers_are_counted(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                script = self.path("job.py")
                with open(script, "w") as file:
                    file.write(BURN + f"""
import multiprocessing
def work(results, leave):
    burn(0.15); results.put(cpu()); leave.wait()
if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    results, leave = context.SimpleQueue(), context.Event()
    workers = [context.Process(target=work, args=(results, leave)) for _ in range(3)]
    [w.start() for w in workers]
    truth = sum(results.get() for _ in workers)
    seen(); leave.set()
    [w.join() for w in workers]
    print(json.dumps(cpu() + truth), flush=True)
""")
                lines = self.record_seen([sys.executable, script], "--every", "20ms")
                info = self.info()
                # Beyond the workers: their interpreters' ends, and the server that forks them.
                self.assert_cpu(info, json.loads(lines[-1]), more=0.5)
                self.assertGreaterEqual(metric(info, "job.process.count")["max"], 4)

    def test_utilisation_is_the_share_of_the_cpus_the_job_may_use(self):
        for cpus in (sorted(os.sched_getaffinity(0)), [min(os.sched_getaffinity(0))]):
            with self.subTest(cpus=cpus):
                self.record(BURN + "burn(0.4); time.sleep(0.4)", "--every", "20ms",
                            preexec_fn=lambda: os.sched_setaffinity(0, cpus))
                used = {}
                for t, _, value in self.rows("job.cpu.time"):
                    used[t] = used.get(t, 0) + value
                times = sorted(used)
                expected = [(b, (used[b] - used[a]) / (b - a) / len(cpus)) for a, b in zip(times, times[1:])]
                seen = self.series("job.cpu.utilization")
                self.assertEqual([t for t, _ in seen], [t for t, _ in expected])
                for (t, share), (_, value) in zip(expected, seen):
                    self.assertAlmostEqual(share, value, places=4, msg=f"at {t}")
                self.assertGreater(max(value for _, value in seen), 0.05)


if __name__ == "__main__":
    main()
