"""`gaps`: memory of the server while a live run with very many gaps is followed.

The recorder, which takes 1,000 samples per second, is stopped for 5 ms about every 13 ms, which leaves some seventy gaps per second:
more in a minute than a busy machine makes in an hour at 10 Hz. Clients ask for what an open page asks for, several times per second: the
events of the run, charts of the last ten seconds, `info`, `marks`, `diagnosis` and the row of the table of runs. No browser is needed.
"""
import contextlib
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import threading
import time
import urllib.parse

from harness import Group, PROGRAM, children_of, load_text, scratch_home, table, verdict, verdict_text
from view import Server

STOPPED_S, BETWEEN_S = 0.005, 0.008
CHARTS, CHART, POINTS, SHOWN_S = 5, 12, 600, 10
MEASUREMENTS = 10
FIRST_SHARE = 0.1  # when every document has been asked for
FLAT = 1.1


def stop_often(recorder, is_over):
    draw = random.Random(1)
    with contextlib.suppress(OSError):
        while not is_over.is_set():
            os.kill(recorder, signal.SIGSTOP)
            time.sleep(STOPPED_S)
            os.kill(recorder, signal.SIGCONT)
            time.sleep(draw.uniform(0.5, 1.5) * BETWEEN_S)


def follow(server, run, is_over):
    stream = http.client.HTTPConnection(urllib.parse.urlsplit(server.address).netloc)
    stream.request("GET", f"/api/run/{run}/live", headers=server.headers)
    reply = stream.getresponse()
    while not is_over.is_set() and reply.fp.readline():
        pass


def ask_often(server, run, charts, place, is_over):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server.address).netloc)
    others = (f"/api/run/{run}/info", f"/api/run/{run}/marks", f"/api/run/{run}/diagnosis", f"/api/rows?runs={run}")
    end_s = 0
    while not is_over.is_set():
        chart = ",".join(map(str, charts[place % len(charts)]))
        window = f"&from={max(0, end_s - SHOWN_S)}&to={end_s}" if end_s else ""
        for path in (f"/api/run/{run}/columns?series={chart}&points={POINTS}{window}", others[place % len(others)]):
            connection.request("GET", path, headers=server.headers)
            content = connection.getresponse().read()
            if path.endswith("/info"):
                end_s = json.loads(content)["run"]["duration_s"]
        place += 1
        time.sleep(0.2)


def run(options, idle_machine):
    idle_machine.wait()
    before = load_text()
    rows, sizes, is_over = [], [], threading.Event()
    with scratch_home() as home, Group() as group, contextlib.ExitStack() as stack:
        id_file = home / "id"
        job = group.start([PROGRAM, "run", "--quiet", "--every", "1ms", "--id-file", id_file, "--", "sleep", 2 * options.gap_seconds + 600],
                          stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        time.sleep(4)
        name = id_file.read_text().strip()
        recorder = next(pid for pid in children_of(job.pid) if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "trainscope-rec")
        server = stack.enter_context(contextlib.closing(Server(home)))
        metrics = json.loads(server.ask(f"/api/run/{name}/info")[0])["metrics"]
        present = [i for i, metric in enumerate(metrics) if metric["status"] == "ok"][:CHARTS * CHART]
        charts = [present[i:i + CHART] for i in range(0, len(present), CHART)]
        threads = [threading.Thread(target=stop_often, args=(recorder, is_over)), threading.Thread(target=follow, args=(server, name, is_over)),
                   *(threading.Thread(target=ask_often, args=(server, name, charts, i, is_over)) for i in range(4))]
        for thread in threads:
            thread.daemon = True
            thread.start()
        begin = time.monotonic()
        for i in range(MEASUREMENTS):
            share = FIRST_SHARE + (1 - FIRST_SHARE) * i / (MEASUREMENTS - 1)
            time.sleep(max(0, begin + share * options.gap_seconds - time.monotonic()))
            sizes.append(sum(server.bytes() for _ in range(8) if not time.sleep(0.25)) / 8)
            sampling = json.loads(server.ask(f"/api/run/{name}/info")[0])["sampling"]
            gaps = len(sampling["gaps"]) + sampling.get("left_out_gaps", 0)
            rows.append([f"{time.monotonic() - begin:.0f}", sampling["samples"], gaps, f"{sizes[-1] / 1e6:.1f}"])
        peak = server.peak_bytes()
        is_over.set()
        for thread in threads:
            thread.join()
        with contextlib.suppress(OSError):
            os.kill(recorder, signal.SIGCONT)
    print(f"A live run with many gaps, followed; peak memory of the server {peak / 1e6:.1f} MB; {before}\n")
    table(["seconds", "samples", "gaps", "server, MB, mean of 2 s"], rows)
    flat = verdict(sizes[-1] / sizes[0], FLAT)
    print(verdict_text("memory of the server, end / begin", flat))
    return {"rows": rows, "server_bytes": sizes, "peak_bytes": peak, "verdicts": {"memory of the server": flat}}
