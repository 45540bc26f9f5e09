"""Planted jobs of truth.toml: `jobs.py CASE FORM SECONDS FOLDER`.

Each loads a batch and computes, again and again. FORM `phases` reports when it loads, over TRAINSCOPE_PIPE; `bare`
only prints steps. FOLDER keeps files between jobs. Workers have the name of PyTorch's.
"""
import ctypes
import hashlib
import mmap
import os
import signal
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
    def __init__(self, form):
        self.pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY) if form == "phases" else None

    def say(self, line):
        if self.pipe is not None:
            os.write(self.pipe, (line + "\n").encode())

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
    """A sample in the page cache that takes about `seconds` of CPU time to decode."""

    def __init__(self, folder, seconds):
        data = os.urandom(64 * 1024) * 4
        packed = zlib.compress(data, 1)
        began = time.thread_time()
        for _ in range(20):
            zlib.decompress(packed)
        once = (time.thread_time() - began) / 20
        self.path = os.path.join(folder, f"encoded-{os.getpid()}")
        with open(self.path, "wb") as file:
            file.write(packed * 8)
        self.packed_size, self.times = len(packed), max(1, round(seconds / once))

    def decode(self):
        with open(self.path, "rb") as file:
            data = file.read()
        for _ in range(self.times):
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
    return lambda _: hashlib.sha256(block * 8)


def input_disk(form, seconds, folder):
    read = direct_reader(kept_file(folder, "cold", 512 * MB), 20 * MB)
    train(form, seconds, read, lambda _: burn(0.005))


def input_decode_main(form, seconds, folder):
    sample = Encoded(folder, 0.03)
    train(form, seconds, lambda _: sample.decode(), lambda _: burn(0.004))


def input_decode_workers(form, seconds, folder):
    sample = Encoded(folder, 0.04)
    workers = Workers(CORES, lambda _: sample.decode())
    train(form, seconds, workers.take, lambda _: burn(0.003))


def input_slow_worker(form, seconds, folder):
    slow, fast = Encoded(folder, 0.05), Encoded(folder, 0.005)
    workers = Workers(2, lambda index: (slow if index else fast).decode(), ahead=1)
    train(form, seconds, workers.take, lambda _: burn(0.003))


def input_few_workers(form, seconds, folder):
    sample = Encoded(folder, 0.04)
    workers = Workers(1, lambda _: sample.decode())
    train(form, seconds, workers.take, lambda _: burn(0.01))


def input_small_files(form, seconds, folder):
    small = os.path.join(folder, "small")
    os.makedirs(small, exist_ok=True)
    for index in range(3000):
        path = os.path.join(small, str(index))
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(os.urandom(3000))

    def load(k):
        for index in range(400):
            with open(os.path.join(small, str((k * 401 + index * 7) % 3000)), "rb") as file:
                file.read()
    train(form, seconds, load, lambda _: burn(0.003))


def input_cold_cache(form, seconds, folder):
    path = kept_file(folder, "epoch", 256 * MB)
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    train(form, seconds, lambda k: os.pread(fd, 4 * MB, k * 4 * MB % (256 * MB)), lambda _: burn(0.01))


def cpu_one_core(form, seconds, folder):
    train(form, seconds, lambda _: None, lambda _: burn(0.03))


def cpu_all_cores(form, seconds, folder):
    train(form, seconds, lambda _: None, threads_that_hash(CORES - 1))


def cpu_oversubscribed(form, seconds, folder):
    train(form, seconds, lambda _: None, threads_that_hash(4 * CORES - 1))


def checkpoint_stalls(form, seconds, folder):
    state = os.urandom(96 * MB)

    def save(number, reporter):
        if number % 10:
            return
        reporter.say("begin checkpoint")
        with open(os.path.join(folder, "checkpoint"), "wb") as file:
            file.write(state)
            file.flush()
            os.fsync(file.fileno())
        reporter.say("end checkpoint")
    train(form, seconds, lambda _: None, lambda _: burn(0.02), save)


def periodic_stalls(form, seconds, folder):
    train(form, seconds, lambda k: time.sleep(0.5 if k % 10 == 9 else 0), lambda _: burn(0.02))


def noisy_neighbour(form, seconds, folder):
    train(form, seconds, lambda _: None, threads_that_hash(CORES - 1))


def sleeping(form, seconds, folder):
    time.sleep(seconds)


def clean_prefetch(form, seconds, folder):
    sample = Encoded(folder, 0.005)
    workers = Workers(1, lambda _: sample.decode())
    train(form, seconds, workers.take, lambda _: burn(0.03))


def clean_small_input(form, seconds, folder):
    train(form, seconds, lambda _: time.sleep(0.001), lambda _: burn(0.02))


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2], float(sys.argv[3]), sys.argv[4])
