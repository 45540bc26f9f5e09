"""Jobs that a probe changes, on a clock of their own: time passes only where the job says so, and each run of a test sees the
same steps. The lease is held by a process of the test's."""
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

from instrumented_job import FAKES, InstrumentedCase

# Before torch is imported, and so before the modules look for a clock.
CLOCK = """
import os, sys, time
_now = [1000000000]
sleep_really = time.sleep
def spend(ms):
    _now[0] += int(ms * 1000000)
time.monotonic_ns = lambda: _now[0]
time.sleep = lambda s: spend(1000 * s)
import torch
"""
# A loader with `workers` that take `load` ms for each batch, and the queue that PyTorch gives them; the job then
# computes for `compute` ms.
PIPELINE = """
class Data:
    def __init__(self, count, load, workers=0, queue=2, make=None):
        self.count, self.load, self.workers, self.queue = count, load, workers, queue * workers
        self.make = make or (lambda i: {"x": torch.Tensor(i)})
    def __len__(self):
        return self.count
    def __iter__(self):
        freed, ready = [], []  # when a place in the queue became free, when a batch was ready
        begun = _now[0]
        for i in range(self.count):
            if not self.workers:
                spend(self.load)
            else:
                while len(ready) < min(self.count, i + self.queue):
                    k = len(ready)
                    free = freed[k - self.queue] if k >= self.queue else begun
                    last = ready[k - self.workers] if k >= self.workers else begun
                    ready.append(max(free, last) + int(self.load * 1000000))
                _now[0] = max(_now[0], ready[i])
                freed.append(_now[0])
            yield self.make(i)

def train(data, epochs, compute, each=lambda step, batch: None, batches=1):
    "Returns how many batches each epoch had."
    optimizer, counts, step = torch.optim.SGD(), [], 0
    iterators = torch.utils.data.dataloader._BaseDataLoaderIter
    iterators._num_workers, iterators._prefetch_factor = data.workers, data.queue // max(1, data.workers)
    for epoch in range(epochs):
        counts.append(0)
        for batch in torch.utils.data.DataLoader(data):
            each(step, batch)
            spend(compute)
            counts[-1] += 1
            if counts[-1] % batches == 0:
                optimizer.step()
                step += 1
    return counts
"""
# A GPU: it computes in the background what was launched, in order; the host is at most 40 launches ahead of it. A step of
# DEVICE_JOB is launched in `host` ms and computed in `device` ms. Jobs wait for the device where their name says.
DEVICE = """
from collections import deque
class Device:
    def __init__(self):
        self.ends = deque([0], maxlen=40)
    def launch(self, host, device):
        spend(host)
        if len(self.ends) == 40:
            _now[0] = max(_now[0], self.ends[0])
        self.ends.append(max(_now[0], self.ends[-1]) + int(device * 1000000))
    def wait(self):
        _now[0] = max(_now[0], self.ends[-1])
device = Device()
torch.cuda.is_initialized = lambda: True
torch.cuda.Event.query = lambda self: True
torch.cuda.synchronize = device.wait

def train_on_device(waits, host, busy, steps=2500):
    torch.autograd.work.append(lambda: [device.launch(host / 10, busy / 10) for _ in range(6)])
    optimizer = torch.optim.SGD()
    for batch in torch.utils.data.DataLoader(Data(steps, 0)):
        if waits == "copy":
            device.wait()
        for _ in range(3):
            device.launch(host / 10, busy / 10)
        if waits == "loss":
            device.wait()
        torch.Tensor(0.5).backward()
        optimizer.step(lambda: device.launch(host / 10, busy / 10))
        if waits == "item":
            device.wait()
"""
BLOCK = re.compile(r"^mark probe what=(\S+) changed=(\d) pair=(\d+) steps=(\d+)-(\d+) discarded=(\d+) duration=(\S+) "
                    r"slept=(\S+) sleep=(\S+) given=(\S+) cpu=(\S+) queued=(\S+) device=(\d) ")


class ProbedBlock:
    def __init__(self, match):
        self.what, self.is_changed, self.pair = match[1], match[2] == "1", int(match[3])
        self.first, self.last, self.discarded = int(match[4]), int(match[5]), int(match[6])
        self.duration_s, self.slept_s, self.sleep_share = float(match[7]), float(match[8]), float(match[9])
        self.given_s = float(match[10])

    def mean_s(self):
        return self.duration_s / (self.last - self.first + 1)


class DrainedFifo:
    """What comes out of the pipe meanwhile: a job of thousands of steps would fill it."""

    def __init__(self, fifo):
        self._fifo, self.bytes = fifo, b""
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def _read(self):
        while not self._is_over.wait(0.01):
            self.bytes += self._fifo.bytes()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()
        self.bytes += self._fifo.bytes()


class ProbedCase(InstrumentedCase):
    def setUp(self):
        super().setUp()
        self.supervisor = self.start_supervisor()
        self.write_lease(self.supervisor.pid)

    def start_supervisor(self):
        process = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def write_lease(self, pid, until_ns=1 << 62, key="job", ranks=1, for_ns=0):
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
        ticks = stat.rpartition(")")[2].split()[19]
        pathlib.Path(self.path("instrument"), "probe").write_text(
            f"key {key}\nranks {ranks}\npid {pid}\nstart_ticks {ticks}\nuntil_ns {until_ns}\n"
            f"for_ns {for_ns}\n", encoding="ascii")

    def probed(self, source, *arguments, **environment):
        """The blocks that a job on its own clock reports; `lines` are all of its lines, `job` is the finished process."""
        with DrainedFifo(self.fifo) as drained:
            self.job = self.run_job(sys.executable, CLOCK + PIPELINE + source, *arguments, python_path=FAKES,
                                    **environment)
        self.lines = drained.bytes.decode().split("\n")
        return [ProbedBlock(match) for match in map(BLOCK.match, self.lines) if match]

    def ratios(self, blocks, what):
        """Of the mean step times of each pair, changed over unchanged."""
        found = []
        for a, b in zip(blocks, blocks[1:]):
            if a.what == b.what == what and a.pair == b.pair:
                changed, usual = (a, b) if a.is_changed else (b, a)
                found.append(changed.mean_s() / usual.mean_s())
        return found

    def marks(self):
        return [line[5:] for line in self.lines if line.startswith("mark probe ")]

    def assert_ratio(self, blocks, what, expected, within=0.01, pairs=6):
        ratios = self.ratios(blocks, what)
        self.assertGreaterEqual(len(ratios), pairs, self.marks()[:20])
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        self.assertAlmostEqual(mean, expected, delta=within, msg=f"{what}: {ratios}")


KILL_SUPERVISOR = """
def kill_supervisor(pid):
    os.kill(pid, %d)
    while open("/proc/%%d/stat" %% pid).read().rpartition(")")[2].split()[0] != "Z":
        sleep_really(0.001)
""" % signal.SIGKILL
CPUS = os.sched_getaffinity(0)
