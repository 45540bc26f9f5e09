"""Memory, I/O, page faults, context switches and processes of a job are what the job itself knows of them."""
import json
import unittest

from trainscope_test import LONG, SEEN, Case, main, metric

JOB = """
import json, os, resource, signal, sys, time
def faults():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_minflt for u in used)
def io():
    return {k: int(v) for k, v in (line.split(": ") for line in open("/proc/self/io"))}
def end(**truth):
    print(json.dumps(truth), flush=True)
    os._exit(0)
""" + SEEN


class Usage(Case):
    def record_truth(self, job, *options):
        done = self.record(JOB + job, "--every", "20ms", *options)
        return json.loads(done.stdout.splitlines()[-1]), self.info()

    def record_seen_truth(self, job):
        """The same of a job that waits until it was seen."""
        lines = self.record_seen(JOB + job, "--every", "20ms")
        return json.loads(lines[-1]), self.info()

    def assert_io(self, info, truth):
        """truth: rchar, wchar, syscr, syscw as the kernel has them. What the job prints at its end comes on top."""
        for name, direction, key, slack in (("job.io.bytes", "read", "rchar", 2000), ("job.io.bytes", "write", "wchar", 2000),
                                            ("job.io.calls", "read", "syscr", 8), ("job.io.calls", "write", "syscw", 8)):
            self.assert_between(truth[key], metric(info, name, direction=direction)["last"], truth[key] + slack,
                                f"{name} {direction}")

    def test_memory_is_the_resident_set(self):
        truth, info = self.record_truth("""
block = bytearray(150 << 20); block[::4096] = b"x" * len(block[::4096])
time.sleep(1.5)
pages = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
end(resident=pages)
""")
        self.assert_between(truth["resident"] - (1 << 20), metric(info, "job.memory.usage")["max"],
                            truth["resident"] + (1 << 20), "job.memory.usage")
        pss = metric(info, "job.memory.pss")
        # Read every ten seconds: perhaps before the block was there, never of nothing.
        self.assertTrue(pss["status"] == "absent" or 0 < pss["max"] <= truth["resident"] + (1 << 20), pss)

    def test_before_it_begins_and_after_it_ends_a_job_has_no_gauges(self):
        self.record(["sleep", "1"], "--every", "20ms")
        info = self.info()
        for name in ("job.memory.usage", "job.process.count", "job.thread.count"):
            self.assertGreater(metric(info, name)["min"], 0, name)
        for name in ("job.process.count", "job.thread.count"):
            self.assertGreaterEqual(metric(info, name)["mean"], 1, name)

    def test_the_overhead_of_a_short_job_is_no_ratio(self):
        self.record(["true"])
        text = self.trainscope("info", "latest").stdout.decode()
        if self.info()["run"]["duration_s"] >= 1:
            self.skipTest("the machine is so busy that `true` took a second")
        self.assertIn(" of CPU time", text)
        self.assertNotIn("% of one CPU", text)

    @unittest.skipUnless(LONG, "takes 15 s: TRAINSCOPE_LONG=1")
    def test_shared_memory_counts_once_in_pss_and_for_each_process_in_rss(self):
        truth, info = self.record_truth("""
block = bytearray(100 << 20); block[::4096] = b"x" * len(block[::4096])
pids = [os.fork() for _ in range(1)]
if pids[0] == 0:
    time.sleep(12); os._exit(0)
os.wait()
end()
""")
        self.assert_between(200 << 20, metric(info, "job.memory.usage")["max"], 260 << 20, "job.memory.usage")
        self.assert_between(100 << 20, metric(info, "job.memory.pss")["max"], 140 << 20, "job.memory.pss")

    @unittest.skipUnless(LONG, "takes 45 s: TRAINSCOPE_LONG=1")
    def test_pss_is_read_anew_when_pages_stop_being_shared(self):
        _, info = self.record_truth("""
block = bytearray(100 << 20); block[::4096] = b"x" * len(block[::4096])
pid = os.fork()
if pid == 0:
    time.sleep(32)  # readings at 10, 20 and 30 s: the first has news, the others have not
    block[::4096] = b"y" * len(block[::4096])  # every page copied: as many resident pages as before
    time.sleep(11); os._exit(0)
os.wait()
end()
""")
        pss = metric(info, "job.memory.pss")
        self.assert_between(200 << 20, pss["max"], 240 << 20, "job.memory.pss")

    def test_bytes_and_calls_are_counted_to_the_last_one(self):
        truth, info = self.record_truth(f"""
file = os.open({self.path("data")!r}, os.O_CREAT | os.O_RDWR)
block = bytes(65536)
before = io()
for _ in range(577): os.write(file, block)
os.lseek(file, 0, 0)
for _ in range(301): os.read(file, 65536)
after = io()
assert after["wchar"] - before["wchar"] == 577 * 65536 and after["rchar"] - before["rchar"] >= 301 * 65536
end(**io())
""")
        self.assert_io(info, truth)
        self.assertGreaterEqual(metric(info, "job.io.bytes", direction="write")["last"], 577 * 65536)

    def test_io_of_children_counts_once_however_they_end(self):
        _, info = self.record_seen_truth(f"""
def write(mib):
    name = {self.path("data.")!r} + str(os.getpid())
    file = os.open(name, os.O_CREAT | os.O_WRONLY)
    for _ in range(mib * 16): os.write(file, bytes(65536))
    os.unlink(name)
def child(mib, stays=False, daemon=False):
    pid = os.fork()
    if pid: return pid
    if daemon:
        os.setsid()
        if os.fork(): os._exit(0)
    write(mib)
    if stays: seen()
    os.write(told, b"x")
    os._exit(0)
def settle():                         # for three samples the parent is asked for what an ended child has used
    for _ in range(4): seen()
tells, told = os.pipe()
os.waitpid(child(10), 0)              # reaped at once
os.waitpid(child(10, stays=True), 0)  # reaped after a reading
os.waitpid(child(10, daemon=True), 0) # an orphan, reaped by the supervisor
for _ in range(3): os.read(tells, 1)
settle()
os.waitid(os.P_PID, child(10), os.WEXITED | os.WNOWAIT)  # never reaped while the job lives
seen()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
try: os.waitpid(child(10, stays=True), 0)  # never reaped by anybody
except ChildProcessError: pass
settle()                              # what is written now is not taken for that child's
write(10)
end()
""")
        written = metric(info, "job.io.bytes", direction="write")["last"] / 2**20
        self.assert_between(60, written, 60.1, "MiB written")
        calls = metric(info, "job.io.calls", direction="write")["last"]
        self.assert_between(960, calls, 980, "write calls")

    def test_io_of_children_that_end_together_counts_once(self):
        _, info = self.record_truth(f"""
def child(pause):
    pid = os.fork()
    if pid: return pid
    file = os.open({self.path("data.")!r} + str(os.getpid()), os.O_CREAT | os.O_WRONLY)
    for _ in range(160): os.write(file, bytes(65536))
    while time.process_time() < 0.008: pass  # less than a tick: the parent's counters never show it
    time.sleep(pause); os._exit(0)
for pid in [child(1.0 - i / 10) for i in range(6)][::-1]: os.waitpid(pid, 0)
for pid in [child(0.7) for i in range(6)]: os.waitpid(pid, 0)
time.sleep(0.5)
end()
""")
        written = metric(info, "job.io.bytes", direction="write")["last"] / 2**20
        self.assert_between(120, written, 120.1, "MiB written")

    def test_page_faults_are_the_kernels(self):
        truth, info = self.record_truth("""
block = bytearray(40 << 20); block[::4096] = b"x" * len(block[::4096])
for _ in range(20):
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
end(minor=faults())
""")
        seen = metric(info, "job.paging.faults", type="minor")["last"]
        self.assert_between(truth["minor"], seen, truth["minor"] + 200, "minor faults")

    def test_voluntary_context_switches_are_the_sleeps(self):
        truth, info = self.record_truth("""
def switches(): return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
before = switches()
for _ in range(700): time.sleep(0.0005)
assert switches() - before >= 350  # one that is preempted on its way to sleep counts as involuntary
end(voluntary=switches(), involuntary=resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw)
""")
        seen = metric(info, "job.context_switches", type="voluntary")
        self.assert_between(truth["voluntary"], seen["last"], truth["voluntary"] + 20, "voluntary switches")
        # Counted from before its first instruction on, though the source has a thread of its own.
        self.assertEqual(self.series("job.context_switches", "type=voluntary")[0][1], 0)
        self.assertEqual(seen["delta"], seen["last"])
        self.assert_between(truth["involuntary"], metric(info, "job.context_switches", type="involuntary")["last"],
                            truth["involuntary"] + 20, "involuntary switches")

    def test_context_switches_of_children_that_ended_count_once(self):
        # One was there for long enough to be read, one was not.
        truth, info = self.record_truth("""
for pause in (1.5, 0):
    pid = os.fork()
    if pid == 0:
        for _ in range(500): time.sleep(0.0005)
        time.sleep(pause)
        os._exit(0)
    os.waitpid(pid, 0)
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
end(voluntary=sum(u.ru_nvcsw for u in used))
""")
        seen = metric(info, "job.context_switches", type="voluntary")["last"]
        self.assert_between(truth["voluntary"] - 20, seen, truth["voluntary"] + 20, "voluntary switches")

    def test_every_process_and_thread_of_a_tree_is_seen(self):
        _, info = self.record_seen_truth("""
import threading
there, here = os.pipe()                          # each says that it is there
gate, key = os.pipe()                            # and stays until the gate is shut
def stay():
    os.write(here, b"x"); os.close(key); os.read(gate, 1); os._exit(0)
def grow(depth):
    for _ in range(3 if depth else 0):
        if os.fork() == 0:
            if depth == 1: os.setsid()
            grow(depth - 1)
            stay()
parent = os.fork()
if parent == 0:
    if os.fork() == 0: stay()                    # an orphan
    os._exit(0)
os.waitpid(parent, 0)                            # its parent is gone before the others come
grow(2)                                          # 3 + 9, nine of them in sessions of their own
if os.fork() == 0:
    os.write(here, b"x"); os.close(key); os.dup2(gate, 0); os.execv("/bin/cat", ["cat"])
leave = threading.Event()
threads = [threading.Thread(target=leave.wait) for _ in range(5)]
[t.start() for t in threads]
count = 0
while count < 14: count += len(os.read(there, 14))
seen()
os.close(key); leave.set(); [t.join() for t in threads]
end()
""")
        self.assertEqual(metric(info, "job.process.count")["max"], 1 + 12 + 1 + 1)
        self.assertEqual(metric(info, "job.thread.count")["max"], 1 + 12 + 1 + 1 + 5)


if __name__ == "__main__":
    main()
