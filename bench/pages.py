"""`pages`: how fast the page of a run is in Chromium, compared with a plain uPlot page and a TensorBoard-style ECharts page.

First paint and zoom: a run of 100 series x 100,000 points, one chart per series, written by bench-reads. The plain pages draw the
same 100 charts from one file that already contains what Trainscope's page gets from its server: mean, min and max of each
window. They compute nothing else, have no legend and no other parts. Every page is opened in a new context, in changing order, in
a window of usual height (Trainscope's page draws the charts that are near it, the others all) and in one so high that
all 100 charts are in view. The time counts from the navigation, and from the event of the key that zooms, to the paint of the
last chart. After a zoom Trainscope's page draws twice: what it has, and what it then loads for the new range.

Live tick: a run that records 100 numbers from a file at 50 Hz; the page gets about one event per second. The time is the CPU time of
the main thread in each second, everything included; the plain pages replace 50 of 1,000 values in 100 charts per second.
"""
import array
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import browser
import reads
from harness import Group, PROGRAM, ROOT, load_text, scratch_home, table, verdict, verdict_text
from view import Server

sys.path.insert(0, str(ROOT / "test/support"))
from columns_reader import decode_columns  # noqa: E402

SERIES, POINTS, PERIOD_MS = 100, 100_000, 1000
CHART_POINTS = 600  # windows that a chart of 674 px is given
METRIC = "hw.gpu.utilization"
USUAL, ALL = "1280 x 900", "all in view"
VIEWPORTS = {USUAL: [1280, 900], ALL: [1280, 19_000]}
LIVE_PERIOD_MS, LIVE_POINTS, TICK_MS = 20, 1000, 1000
PAINT_RATIO, ZOOM_MS, TICK_GOAL_MS = 1.5, 150, 40

# Writes as many random numbers into one line of a file, many times per second.
JOB = """
import os, random, sys, time
path, count = sys.argv[1], int(sys.argv[2])
file = os.open(path, os.O_WRONLY)
while True:
    os.pwrite(file, " ".join(f"{random.random():.6f}" for _ in range(count)).encode() + b"\\n", 0)
    time.sleep(0.02)
"""


def write_data(path, server, run):
    """What the page of a run shows, as the file that plain.js reads."""
    metrics = json.loads(server.ask(f"/api/run/{run}/info")[0])["metrics"]
    series = [i for i, metric in enumerate(metrics) if metric["name"] == METRIC and metric["status"] == "ok"]
    columns = []
    for first in range(0, len(series), 50):
        listed = ",".join(map(str, series[first:first + 50]))
        columns += decode_columns(server.ask(f"/api/run/{run}/columns?series={listed}&points={CHART_POINTS}")[0])["columns"]
    times = columns[0]["time"]
    assert len(columns) == SERIES and all(column["time"] == times for column in columns)
    numbers = array.array("d", [len(columns), len(times)])
    numbers.extend(times)
    for column in columns:
        for name in ("mean", "max", "min"):
            numbers.extend(column[name])
    with open(path, "wb") as file:
        numbers.tofile(file)


def measure_opening(node, site, plain, rounds, zooms):
    with scratch_home() as home:
        folder = reads.make_run(home, SERIES, POINTS * PERIOD_MS // 1000, PERIOD_MS, 0, "gpus")
        run = os.path.basename(folder)[:10]
        with contextlib.closing(Server(home)) as server:
            write_data(os.path.join(site, "data.bin"), server, run)
        # Another server, whose caches are empty.
        with contextlib.closing(Server(home)) as server, browser.serve(site) as address:
            pages = {"trainscope": f"{browser.origin(server.address)}/#/run/{run}", **{name: f"{address}/{name}.html" for name in plain}}
            found = browser.measure(node, "open", {"pages": pages, "cookies": browser.cookies(server.address), "viewports": VIEWPORTS,
                                                   "rounds": rounds, "zooms": zooms})
    return found


def measure_live(node, site, plain, warm_s, seconds):
    with scratch_home() as home, Group() as group, browser.serve(site) as address, contextlib.ExitStack() as stack:
        numbers, id_file = home / "numbers", home / "id"
        draw = random.Random(1)
        numbers.write_text(" ".join(f"{draw.random():.6f}" for _ in range(SERIES)) + "\n")
        counters = [word for i in range(SERIES) for word in ("--counter", f"c{i:03}:double@{numbers}+c={i}")]
        group.start([PROGRAM, "run", "--quiet", "--every", f"{LIVE_PERIOD_MS}ms", "--id-file", id_file, *counters, "--", sys.executable,
                     "-c", JOB, numbers, SERIES], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        time.sleep(warm_s)
        replaced = TICK_MS // LIVE_PERIOD_MS
        run = id_file.read_text().strip()
        server = stack.enter_context(contextlib.closing(Server(home)))
        pages = {"trainscope": f"{browser.origin(server.address)}/#/run/{run}",
                 **{name: f"{address}/{name}.html#live={LIVE_POINTS},{replaced},{TICK_MS},{SERIES}" for name in plain}}
        found = browser.measure(node, "live", {"pages": pages, "cookies": browser.cookies(server.address), "viewports": VIEWPORTS,
                                               "seconds": seconds})
    return found


def spread_ms(values):
    return f"{statistics.median(values):.0f} [{min(values):.0f}-{max(values):.0f}]" if len(values) > 1 else f"{values[0]:.0f}"


def opening_rows(found, plain):
    """Rows of the table, and the medians by (viewport, page, what)."""
    rows, medians = [], {}
    for viewport in VIEWPORTS:
        here = [one for one in found if one["viewport"] == viewport]
        for name in ("trainscope", *plain):
            mine = [one for one in here if one["name"] == name]
            zooms = [zoom for one in mine for zoom in one["zooms"]]
            # The first round of Trainscope has a server without caches; it is printed, and not part of the median.
            later = [one for one in mine if one["round"] > 0] or mine
            times = {"first round": [mine[0]["paint"]["first"]], "paint": [one["paint"]["first"] for one in later],
                     "zoom": [zoom["first"] for zoom in zooms], "zoom, loaded": [zoom["last"] for zoom in zooms]}
            for what, values in times.items():
                medians[viewport, name, what] = statistics.median(values)
            shown = max(one["paint"]["charts"] for one in mine)
            rows.append([viewport, name, shown, *map(spread_ms, times.values())])
    for row in rows:
        viewport, name = row[:2]
        for what in ("paint", "zoom"):
            row.append(f"{medians[viewport, name, what] / medians[viewport, 'uplot', what]:.2f}")
    return rows, medians


def live_rows(found):
    rows, medians = [], {}
    for one in found:
        medians[one["viewport"], one["name"]] = statistics.median(one["busy"])
        longest = max(one["longTasks"], default=0)
        rows.append([one["viewport"], one["name"], one["charts"], spread_ms(one["busy"]),
                     len(one["longTasks"]), f"{longest:.0f}" if longest else "-"])
    for row, one in zip(rows, found):
        row.append(f"{medians[one['viewport'], one['name']] / medians[one['viewport'], 'uplot']:.2f}")
    return rows, medians


def run(options, idle_machine):
    node = browser.find_node()
    if node is None:
        return None
    reads.build()
    idle_machine.wait()
    with tempfile.TemporaryDirectory() as site, tempfile.TemporaryDirectory() as packages:
        plain = browser.write_plain_pages(site, browser.fetch_echarts(node, packages))
        before = load_text()
        opened = measure_opening(node, site, plain, options.page_rounds, 1 if options.quick else 2)
        print(f"Pages of {SERIES} charts x {POINTS} points in Chromium, ms: median [smallest-largest]; {before}\n")
        rows, medians = opening_rows(opened, plain)
        table(["window", "page", "charts", "first round", "painted", "zoom", "zoom, loaded", "painted / uplot", "zoom / uplot"], rows)
        before = load_text()
        live = measure_live(node, site, plain, 5 if options.quick else LIVE_POINTS * LIVE_PERIOD_MS / 1000, options.tick_seconds)
        print(f"A live run, ms of CPU time of the main thread per second with one tick; {before}\n")
        rows, ticks = live_rows(live)
        table(["window", "page", "canvases", "per tick", "tasks > 50 ms", "longest", "/ uplot"], rows)
    verdicts = {"first paint": verdict(medians[ALL, "trainscope", "paint"] / medians[ALL, "uplot", "paint"], PAINT_RATIO),
                "zoom": verdict(medians[ALL, "trainscope", "zoom"], ZOOM_MS),
                "live tick": verdict(ticks[USUAL, "trainscope"], TICK_GOAL_MS),
                "live tick, all in view": verdict(ticks[ALL, "trainscope"], TICK_GOAL_MS)}
    print(verdict_text("first paint / plain uPlot page, 100 charts in view", verdicts["first paint"]))
    print(verdict_text("zoom of 100 charts in view", verdicts["zoom"], " ms"))
    print(verdict_text("live tick of 100 charts, those near a window of usual height drawn", verdicts["live tick"], " ms"))
    print(verdict_text("live tick of 100 charts in view", verdicts["live tick, all in view"], " ms"))
    return {"opened": opened, "live": live, "verdicts": verdicts}
