"""Planted jobs of truth.toml: `jobs.py CASE FORM SECONDS FOLDER [SIZES]`.

Each loads a batch and computes, again and again. FORM `phases` reports when it loads, over TRAINSCOPE_PIPE; `bare`
only prints steps. FOLDER keeps files between jobs. Workers have the name of PyTorch's. SIZES is a JSON object with
arguments of the case: seconds of CPU time per step, bytes, counts.
"""
import ctypes
import hashlib
import json
import mmap
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib

MB = 1 << 20
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
CORES = len(os.sched_getaffinity(0))


def burn(seconds):
    """CPU time, not wall time: a busy machine makes it longer, not smaller."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(2000))


class Reporter:
    def __init__(self, form, who=""):
        self.who = who and f" who={who}"
        self.pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY) if form == "phases" else None

    def say(self, line):
        if self.pipe is not None:
            os.write(self.pipe, f"{line}{self.who}\n".encode())

    def step(self, number):
        line = f"step {number} loss={1 / number:.4f}"
        self.say(line) if self.pipe is not None else print(line, flush=True)


def train(form, seconds, load, compute, after=None):
    reporter, end, number = Reporter(form), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        reporter.say("begin input")
        load(number)
        reporter.say("end input")
        compute(number)
        number += 1
        reporter.step(number)
        if after:
            after(number, reporter)


def kept_file(folder, name, size, compressible=False):
    path = os.path.join(folder, name)
    if not os.path.exists(path) or os.path.getsize(path) != size:
        block = bytes(range(256)) * 4096 if compressible else os.urandom(MB)
        with open(path, "wb") as file:
            for _ in range(size // MB):
                file.write(block[:MB])
            file.flush()
            os.fsync(file.fileno())
    return path


def direct_reader(path, size):
    """Reads past the page cache, as a cold file does."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    buffer = mmap.mmap(-1, size)
    places = os.path.getsize(path) // size
    return lambda k: os.preadv(fd, [buffer], (k * 7919 % places) * size)


class Encoded:
    """A sample in the page cache that takes `seconds` of CPU time to decode."""

    def __init__(self, folder, seconds):
        packed = zlib.compress(os.urandom(64 * 1024) * 4, 1)
        self.path = os.path.join(folder, f"encoded-{os.getpid()}")
        with open(self.path, "wb") as file:
            file.write(packed * 8)
        self.packed_size, self.seconds = len(packed), seconds

    def decode(self):
        end = time.thread_time() + self.seconds
        with open(self.path, "rb") as file:
            data = file.read()
        while time.thread_time() < end:
            zlib.decompress(data[:self.packed_size])


class Workers:
    """Processes that load in turn, at most `ahead` batches each before somebody takes them."""

    def __init__(self, count, work, ahead=2):
        self.readers, self.slots = [], []
        for index in range(count):
            reader, writer = os.pipe()
            slot_reader, slot_writer = os.pipe()
            os.write(slot_writer, b"." * ahead)
            if os.fork() == 0:
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
                ctypes.CDLL(None).prctl(PR_SET_NAME, b"pt_data_worker", 0, 0, 0)
                while os.read(slot_reader, 1):
                    work(index)
                    os.write(writer, b"b")
                os._exit(0)
            os.close(slot_reader)
            self.readers.append(reader)
            self.slots.append(slot_writer)

    def take(self, number):
        index = number % len(self.readers)
        os.read(self.readers[index], 1)
        os.write(self.slots[index], b".")


def threads_that_hash(count):
    """Other threads that compute outside Python's lock, and a function for the main thread."""
    block = bytes(4 * MB)

    def forever():
        while True:
            hashlib.sha256(block)

    for _ in range(count):
        threading.Thread(target=forever, daemon=True).start()
    blocks = block * 8  # once: copying holds Python's lock
    return lambda _: hashlib.sha256(blocks)


def input_disk(form, seconds, folder, size=20 * MB, compute=0.005):
    read = direct_reader(kept_file(folder, "cold", 512 * MB), size)
    train(form, seconds, read, lambda _: burn(compute))


def input_slow_mount(form, seconds, folder, size=2 * MB, compute=0.005):
    file = open(os.path.join(folder, "slow", "data"), "rb", buffering=0)
    train(form, seconds, lambda _: file.read(size), lambda _: burn(compute))


def input_decode_main(form, seconds, folder, decode=0.03, compute=0.004):
    sample = Encoded(folder, decode)
    train(form, seconds, lambda _: sample.decode(), lambda _: burn(compute))


def input_decode_workers(form, seconds, folder, decode=0.04, compute=0.003):
    sample = Encoded(folder, decode)
    workers = Workers(CORES, lambda _: sample.decode())
    train(form, seconds, workers.take, lambda _: burn(compute))


def input_slow_worker(form, seconds, folder, slow=0.05, fast=0.005, compute=0.003):
    samples = Encoded(folder, fast), Encoded(folder, slow)
    workers = Workers(2, lambda index: samples[index].decode(), ahead=1)
    train(form, seconds, workers.take, lambda _: burn(compute))


def input_few_workers(form, seconds, folder, decode=0.04, compute=0.01):
    sample = Encoded(folder, decode)
    workers = Workers(1, lambda _: sample.decode())
    train(form, seconds, workers.take, lambda _: burn(compute))


def small_files(folder, count=3000, size=3000):
    small = os.path.join(folder, "small")
    os.makedirs(small, exist_ok=True)
    for index in range(count):
        path = os.path.join(small, str(index))
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(os.urandom(size))

    def load(k, batch):
        for index in range(batch):
            with open(os.path.join(small, str((k * 401 + index * 7) % count)), "rb") as file:
                file.read()
    return load


def input_small_files(form, seconds, folder, batch=400, compute=0.003):
    load = small_files(folder)
    train(form, seconds, lambda k: load(k, batch), lambda _: burn(compute))


def cold_reader(folder, size):
    path = kept_file(folder, "epoch", 256 * MB)
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    return lambda k: os.pread(fd, size, k * size % (256 * MB))


def input_cold_cache(form, seconds, folder, size=4 * MB, compute=0.01):
    train(form, seconds, cold_reader(folder, size), lambda _: burn(compute))


def cpu_one_core(form, seconds, folder, compute=0.03):
    train(form, seconds, lambda _: None, lambda _: burn(compute))


def cpu_all_cores(form, seconds, folder):
    train(form, seconds, lambda _: None, threads_that_hash(CORES - 1))


def cpu_oversubscribed(form, seconds, folder, per_core=4):
    train(form, seconds, lambda _: None, threads_that_hash(per_core * CORES - 1))


def checkpoint_stalls(form, seconds, folder, size=96 * MB, every=10, compute=0.02):
    state = os.urandom(size)

    def save(number, reporter):
        if number % every:
            return
        reporter.say("begin checkpoint")
        with open(os.path.join(folder, "checkpoint"), "wb") as file:
            file.write(state)
            file.flush()
            os.fsync(file.fileno())
        reporter.say("end checkpoint")
    train(form, seconds, lambda _: None, lambda _: burn(compute), save)


def periodic_stalls(form, seconds, folder, stall=0.5, compute=0.02):
    train(form, seconds, lambda k: time.sleep(stall if k % 10 == 9 else 0), lambda _: burn(compute))


def memory_pressure(form, seconds, folder, size=512 * MB, compute=0.002):
    """Its cgroup allows a quarter of `size` (limits.py)."""
    with open(kept_file(folder, "mapped", size), "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    mapped.madvise(mmap.MADV_RANDOM)
    places = random.Random(1)

    def work(_):
        for _ in range(200):
            mapped[places.randrange(size // 4096) * 4096]
        burn(compute)
    train(form, seconds, lambda _: None, work)


def cpu_quota(form, seconds, folder, compute=0.03):
    """Its cgroup allows half a core (limits.py)."""
    train(form, seconds, lambda _: None, lambda _: burn(compute))


def noisy_neighbour(form, seconds, folder):
    train(form, seconds, lambda _: None, threads_that_hash(CORES - 1))


def sleeping(form, seconds, folder):
    time.sleep(seconds)


def rank(form, seconds, fd, compute, who):
    """Computes, and meets the other rank after each step. `who` is empty for the rank that reports steps."""
    reporter, other = Reporter(form, who), socket.socket(fileno=fd)
    end, number, is_last = time.monotonic() + seconds, 0, False
    while not is_last:
        reporter.say("begin forward")
        burn(compute)
        reporter.say("end forward")
        reporter.say("begin communication")
        is_over = time.monotonic() > end
        other.send(b"e" if is_over else b"g")
        is_last = other.recv(1) != b"g" or is_over
        reporter.say("end communication")
        number += 1
        if not who:
            reporter.step(number)


def ranks(form, seconds, compute, others_compute):
    mine, others = socket.socketpair()
    # Another program, as launchers start ranks: a fork is what a data-loader worker looks like.
    other = subprocess.Popen([sys.executable, "-B", __file__, "other_rank", form, str(seconds), "-",
                              json.dumps({"fd": others.fileno(), "compute": others_compute})],
                             pass_fds=[others.fileno()])
    others.close()
    rank(form, seconds, mine.detach(), compute, "")
    other.wait()


def other_rank(form, seconds, folder, fd, compute):
    rank(form, seconds, fd, compute, "rank1")


def ranks_straggler(form, seconds, folder, compute=0.02, factor=3, reporter_is_slow=False):
    slow, fast = factor * compute, compute
    ranks(form, seconds, *((slow, fast) if reporter_is_slow else (fast, slow)))


def clean_ranks(form, seconds, folder, compute=0.03):
    ranks(form, seconds, compute, compute)


def clean_prefetch(form, seconds, folder, decode=0.005, compute=0.03):
    sample = Encoded(folder, decode)
    workers = Workers(1, lambda _: sample.decode())
    train(form, seconds, workers.take, lambda _: burn(compute))


def clean_small_input(form, seconds, folder, wait=0.001, compute=0.02):
    train(form, seconds, lambda _: time.sleep(wait), lambda _: burn(compute))


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2], float(sys.argv[3]), sys.argv[4], **json.loads((sys.argv + ["{}"])[5]))
