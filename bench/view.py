"""`view`: how long the server takes for one chart of a long run, and its memory.

A run of 24 h with 300 series at 10 Hz is written by bench-reads. Charts of 16 series (processors: counters stored together;
temperatures: gauges; a mixture: of every source) are asked for over windows of all widths at places that are drawn at random
but are the same in each round. The first chart of a series over a wide window reads all its values; what it takes is printed,
and the goal is about every chart after it: whoever zooms and pans waits for those.
"""
import http.client
import json
import os
import random
import signal
import subprocess
import time
import urllib.parse

import reads
from harness import PROGRAM, scratch_home, table, verdict, verdict_text

SERIES, SECONDS, PERIOD_MS, STEPS = 300, 86_400, 100, 100_000
CHART = 16
POINTS = 1000
WIDTHS = {"24 h": 1, "12 h": 1 / 2, "6 h": 1 / 4, "3 h": 1 / 8, "1 h": 1 / 24, "45 min": 1 / 32, "10 min": 1 / 144, "1 min": 1 / 1440, "5 s": 5 / 86_400}
GOAL_S, GOAL_BYTES = 0.05, 100e6


class Server:
    def __init__(self, home):
        self.process = subprocess.Popen([PROGRAM, "view"], env={**os.environ, "TRAINSCOPE_HOME": str(home)},
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.address = self.process.stdout.readline().decode().strip()
        url = urllib.parse.urlsplit(self.address)
        token = urllib.parse.parse_qs(url.query)["token"][0]
        self.headers = {"Cookie": f"trainscope-{url.port}={token}"}
        self.connection = http.client.HTTPConnection("127.0.0.1", url.port, timeout=600)

    def ask(self, path):
        """The content, and seconds until all of it was there."""
        began = time.monotonic()
        self.connection.request("GET", path, headers=self.headers)
        reply = self.connection.getresponse()
        content = reply.read()
        if reply.status != 200:
            raise SystemExit(f"bench: {path}: {reply.status} {content[:200]}")
        return content, time.monotonic() - began

    def peak_bytes(self):
        return self.bytes("VmHWM")

    def bytes(self, field="VmRSS"):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


def charts(metrics):
    """Names of charts, and the numbers of their series."""
    present = [i for i, m in enumerate(metrics) if m["status"] == "ok" and not m["name"].startswith("train.")]
    named = {"processors": [i for i in present if metrics[i]["name"] == "system.cpu.time"],
             "temperatures": [i for i in present if metrics[i]["name"] == "hw.temperature"],
             "utilisation": [i for i in present if metrics[i]["name"] == "system.cpu.utilization"],
             "mixture": present[::max(1, len(present) // CHART)]}
    return {name: numbers[:CHART] for name, numbers in named.items() if numbers}


def measure(server, run, series, rounds):
    """Seconds of the first chart of the whole run, and {width: seconds of each chart after it}."""
    listed = ",".join(map(str, series))
    path = f"/api/run/{run}/columns?series={listed}&points={POINTS}"
    first = server.ask(path)[1]
    places = random.Random(1)
    found = {}
    for width, share in WIDTHS.items():
        length = SECONDS * share
        times = []
        for _ in range(rounds):
            begin = places.uniform(0, SECONDS - length)
            times.append(server.ask(f"{path}&from={begin}&to={begin + length}")[1])
        found[width] = times
    return first, found


def run(options, idle_machine):
    reads.build()
    idle_machine.wait()
    rounds = 3 if options.quick else 15
    with scratch_home() as home:
        folder = reads.make_run(home, SERIES, SECONDS, PERIOD_MS, STEPS)
        server = Server(home)
        name = os.path.basename(folder)[:10]
        head_s = server.ask(f"/api/run/{name}")[1]
        info, info_s = server.ask(f"/api/run/{name}/info")
        marks_s = server.ask(f"/api/run/{name}/marks")[1]
        results = {chart: measure(server, name, series, rounds) for chart, series in charts(json.loads(info)["metrics"]).items()}
        peak = server.peak_bytes()
        server.close()
    rows, slowest = [], 0
    for chart, (first, found) in results.items():
        median = {width: sorted(times)[len(times) // 2] for width, times in found.items()}
        slowest = max(slowest, *median.values())
        rows.append([chart, f"{1000 * first:.0f}", *(f"{1000 * median[w]:.0f} [{1000 * max(found[w]):.0f}]" for w in WIDTHS)])
    print(f"One chart of {CHART} series, {POINTS} points, of 24 h with {SERIES} series at 10 Hz: ms, median [largest] of {rounds}\n")
    table(["chart", "first, 24 h", *WIDTHS], rows)
    print(f"Manifest {1000 * head_s:.0f} ms, info {1000 * info_s:.0f} ms, marks {1000 * marks_s:.0f} ms\n")
    verdicts = {"slowest median": verdict(slowest, GOAL_S), "peak memory": verdict(peak, GOAL_BYTES)}
    print(verdict_text("slowest median of a chart", verdicts["slowest median"], "s"))
    print(verdict_text("peak memory", verdicts["peak memory"], "B"))
    return {"charts": {chart: {"first_s": first, "seconds": found} for chart, (first, found) in results.items()},
            "info_s": info_s, "peak_bytes": peak, "verdicts": verdicts}
