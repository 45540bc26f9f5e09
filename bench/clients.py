"""`clients`: what 64 clients that follow a live run do to the recording and to the job.

One training with a recorder, at 100 Hz. 64 clients are connected to `trainscope view` and 64 to a server that only sends the same
bytes at the same pace (plain_events.py), all the time. Blocks come in pairs, in random order: in one of them `view` runs and the
other server is stopped, in the other one the reverse. So the comparison is with the same load without Trainscope. Step times
are compared as in slowdown.py; jitter and missed ticks are counted per kind of block from the times of all samples.
"""
import csv
import datetime
import math
import os
import random
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from harness import BackgroundLoad, Group, PROGRAM, ROOT, WORKLOAD, bootstrap, info, say, scratch_home, table
from slowdown import evaluate, pair_up, read_steps, steps_in_blocks

CLIENTS = 64
RATE = 100
MARGIN_S = 0.02  # at the edges of a block: a server that continues has to catch up, and the clocks differ by less
LATENESS = "recorder.lateness"
WARM_UP_S = 8


class Clients(threading.Thread):
    """Connections to one server that read what comes, and the time at which every event came."""

    def __init__(self, port, request):
        super().__init__(daemon=True)
        self.selector = selectors.DefaultSelector()
        self.times, self.bytes, self.closed = [], 0, 0
        self.last_event = b""
        self.stopping = False
        for _ in range(CLIENTS):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(request)
            self.selector.register(connection, selectors.EVENT_READ)
        self.start()

    def run(self):
        while not self.stopping:
            for key, _ in self.selector.select(0.5):
                content = key.fileobj.recv(65536)
                if not content:
                    self.closed += 1
                    self.selector.unregister(key.fileobj)
                    key.fileobj.close()
                    continue
                self.bytes += len(content)
                events = content.count(b"event: ")
                self.times += [time.monotonic()] * events
                if events:
                    self.last_event = content[content.rindex(b"event: "):]

    def stop(self):
        self.stopping = True
        self.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()


def follow_run(address, run):
    url = urllib.parse.urlsplit(address)
    token = urllib.parse.parse_qs(url.query)["token"][0]
    request = f"GET /api/run/{run}/live?token={token} HTTP/1.1\r\nHost: {url.netloc}\r\n\r\n"
    return Clients(url.port, request.encode())


def switch_blocks(view, plain, pairs, block_s, alive):
    """[(view runs, begin, end)] on CLOCK_MONOTONIC."""
    blocks, draw = [], random.Random(os.urandom(8))
    for _ in range(pairs):
        for view_runs in draw.sample([True, False], 2):
            if not alive():
                return blocks
            running, stopped = (view, plain) if view_runs else (plain, view)
            os.kill(stopped, signal.SIGSTOP)
            os.kill(running, signal.SIGCONT)
            begin = time.monotonic()
            time.sleep(block_s)
            blocks.append((view_runs, begin + MARGIN_S, time.monotonic()))
    for pid in (view, plain):
        os.kill(pid, signal.SIGCONT)
    return blocks


def read_samples():
    """[(seconds from the begin of the run, jitter in seconds)]."""
    out = subprocess.run([PROGRAM, "export", "latest", "--to", "csv", "--metric", LATENESS], check=True, capture_output=True, text=True).stdout
    rows = list(csv.reader(out.splitlines()))
    return [(float(row[0]), float(row[-1])) for row in rows[1:]]


def run_begin(known):
    """t = 0 of the run on CLOCK_MONOTONIC."""
    started = datetime.datetime.fromisoformat(known["run"]["started"].replace("Z", "+00:00")).timestamp()
    return started - time.time() + time.monotonic()


def sampling_in_blocks(samples, begin, blocks):
    """[(view runs, jitters, ticks that were due)], one per block."""
    ticks = [math.floor(t * RATE + 1e-6) for t, _ in samples]
    found, at = [], 0
    for view_runs, block_begin, block_end in blocks:
        first, end = math.ceil((block_begin - begin) * RATE), math.floor((block_end - begin) * RATE)
        jitters = []
        while at < len(ticks) and ticks[at] < end:
            if ticks[at] >= first:
                jitters.append(samples[at][1])
            at += 1
        found.append((view_runs, jitters, end - first))
    return found


def jitter_ratios(sampling):
    """Median over the pairs of the ratio of their median jitters, and its interval."""
    pairs = pair_up([(kind, jitters) for kind, jitters, _ in sampling])
    ratios = [statistics.median(on) / statistics.median(off) for on, off in pairs]
    return (statistics.median(ratios), *bootstrap(statistics.median, ratios))


def quantile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else math.nan


def events_per_s(times, blocks, view_runs):
    """Events per client and second in these blocks."""
    mine = [(begin, end) for kind, begin, end in blocks if kind == view_runs]
    seconds = sum(end - begin for begin, end in mine)
    return sum(any(begin <= t <= end for begin, end in mine) for t in times) / CLIENTS / seconds


def start_view(group):
    process = group.start([PROGRAM, "view", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return process, process.stdout.readline().decode().strip()


def start_plain(group, event):
    process = group.start([sys.executable, ROOT / "bench/plain_events.py", event.decode().replace("\n", "\\n")],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return process, int(process.stdout.readline())


def measure(options, folder):
    """Blocks, steps, samples and what the servers did."""
    log, id_file = os.path.join(folder, "steps"), os.path.join(folder, "id")
    seconds = 2 * options.client_pairs * options.block + WARM_UP_S + 7
    with Group() as job, Group() as view_group, Group() as plain_group:
        background = BackgroundLoad([job, view_group, plain_group])
        process = job.start([PROGRAM, "run", "--quiet", "--every", f"{1000 // RATE}ms", "--id-file", id_file, "--", WORKLOAD, "train",
                             "--model", "digits_cnn", "--threads", options.threads, "--seconds", seconds, "--step-log", log],
                            stdout=subprocess.DEVNULL)
        time.sleep(WARM_UP_S)  # data is loaded, caches are warm
        view, address = start_view(view_group)
        with open(id_file) as file:
            viewers = follow_run(address, file.read().strip())
        time.sleep(3)
        plain, port = start_plain(plain_group, viewers.last_event or b"event: now\ndata: {}\n\n")
        others = Clients(port, b"GET / HTTP/1.1\r\n\r\n")
        time.sleep(1)
        cpu = [group.cpu_s() for group in (view_group, plain_group)]
        blocks = switch_blocks(view.pid, plain.pid, options.client_pairs, options.block, lambda: process.poll() is None)
        cpu = [group.cpu_s() - before for group, before in zip((view_group, plain_group), cpu)]
        closed = viewers.closed + others.closed
        process.wait()
        cores = background.cores()
        begin = run_begin(info())
        for clients in (viewers, others):
            clients.stop()
    return {"blocks": blocks, "steps": read_steps(log), "samples": read_samples(), "begin": begin, "cpu": cpu, "closed": closed,
            "background_cores": cores, "times": {True: viewers.times, False: others.times}}


def run(options, idle_machine):
    if not WORKLOAD.exists():
        say("  skipped: trainscope-workload is not built (WORKLOAD=off?)")
        return None
    idle_machine.wait()
    with scratch_home(), tempfile.TemporaryDirectory() as folder:
        found = measure(options, folder)
    blocks = found["blocks"]
    steps = evaluate(pair_up(steps_in_blocks(found["steps"], blocks)))
    sampling = sampling_in_blocks(found["samples"], found["begin"], blocks)
    report = {"clients": CLIENTS, "threads": options.threads, "block_s": options.block, "closed": found["closed"],
              "background_cores": found["background_cores"], **steps}
    print(f"{CLIENTS} clients follow a training on {options.threads} thread(s) that is recorded at {RATE} Hz; {steps['pairs']} pairs of "
          f"{options.block:g} s blocks; background load {found['background_cores']:.2f} cores; {found['closed']} connections were closed.\n")
    rows = []
    for kind, (name, view_runs) in enumerate((("trainscope view", True), ("plain server", False))):
        mine = [(jitters, due) for running, jitters, due in sampling if running == view_runs]
        jitters, due = [jitter for block, _ in mine for jitter in block], sum(due for _, due in mine)
        seconds = sum(end - begin for running, begin, end in blocks if running == view_runs)
        side = {"jitter_p50_us": quantile(jitters, 0.5) * 1e6, "jitter_p99_us": quantile(jitters, 0.99) * 1e6,
                "missed": due - len(jitters), "due": due, "events_per_s": events_per_s(found["times"][view_runs], blocks, view_runs),
                "cpu_share": found["cpu"][kind] / seconds, "mean_ms": steps["mean_on_ms" if view_runs else "mean_off_ms"]}
        report[name] = side
        rows.append([name, f"{side['events_per_s']:.2f}", f"{100 * side['cpu_share']:.2f}", f"{side['jitter_p50_us']:.0f}",
                     f"{side['jitter_p99_us']:.0f}", f"{side['missed']} of {due}", f"{side['mean_ms']:.4f}"])
    table(["clients connected to", "events/s", "server, % of a core", "jitter p50, us", "p99", "missed", "mean step, ms"], rows)
    report["jitter_ratio"] = jitter_ratios(sampling)
    table(["view / plain server", "ratio", "95 % interval"],
          [[name, f"{ratio:.4f}", f"{low:.4f} to {high:.4f}"] for name, ratio, low, high in (
              ("mean step time", steps["ratio"], steps["low"], steps["high"]),
              ("median step time", steps["median_ratio"], steps["median_low"], steps["median_high"]),
              ("median jitter", *report["jitter_ratio"]))])
    return report
