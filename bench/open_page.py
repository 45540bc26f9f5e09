"""`open_page`: memory of a page that stays open on a live run, and of the server, scaled in time.

Eight hours at 10 Hz are 288,000 ticks of the recorder and 28,800 events for the page. Here the recorder takes 500 samples per second and
the page lives SPEED times as fast: its clock, by which it decides when to read the verdict and the metrics again, and the
events of the server (bench/web/hurry.js). What can grow with the recording or with the events grows as it would. The page follows the
last ten seconds, so every event moves and redraws all its charts. Memory is measured after a garbage collection. A plain
uPlot page that moves ten charts as often stays open in the same browser.
"""
import contextlib
import subprocess
import tempfile
import time

import browser
from harness import Group, PROGRAM, info, load_text, scratch_home, table, verdict, verdict_text
from view import Server

SPEED = 40
PERIOD_MS = 2
FOLLOWED_S = 10
TICKS_PER_HOUR = 36_000  # at 10 Hz
PLAIN_CHARTS, PLAIN_POINTS = 10, 600
POINTS = 5  # number of measurements
FLAT = 1.1


def run(options, idle_machine):
    node = browser.find_node()
    if node is None:
        return None
    idle_machine.wait()
    before = load_text()
    server_bytes = []
    with tempfile.TemporaryDirectory() as site, scratch_home() as home, Group() as group, contextlib.ExitStack() as stack:
        browser.write_plain_pages(site, None)
        address = stack.enter_context(browser.serve(site))
        id_file = home / "id"
        group.start([PROGRAM, "run", "--quiet", "--every", f"{PERIOD_MS}ms", "--id-file", id_file, "--", "sleep", 2 * options.page_seconds + 600],
                    stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        time.sleep(FOLLOWED_S + 2)
        server = stack.enter_context(contextlib.closing(Server(home)))
        run_id = id_file.read_text().strip()
        pages = {"trainscope": f"{browser.origin(server.address)}/#/run/{run_id}?from=2&to={FOLLOWED_S + 2}&follow=1",
                 "uplot": f"{address}/uplot.html#live={PLAIN_POINTS},1,{1000 // SPEED},{PLAIN_CHARTS}"}
        found = browser.measure(node, "stay", {"pages": pages, "cookies": browser.cookies(server.address), "hurried": "trainscope",
                                               "speed": SPEED, "seconds": options.page_seconds, "points": POINTS},
                                lambda: server_bytes.append(server.bytes()))
        sampling = info(run_id)["sampling"]
    samples, ticks = sampling["samples"], found[-1]["trainscope"]["ticks"]
    print(f"A page that stays open: {ticks} events ({ticks / 3600:.1f} h at one per second) and {samples} samples "
          f"({samples / TICKS_PER_HOUR:.1f} h at 10 Hz) in {found[-1]['seconds']:.0f} s; {before}\n")
    rows = [[f"{row['seconds']:.0f}", row["trainscope"]["ticks"], f"{row['trainscope']['heap'] / 1e6:.2f}", row["trainscope"]["nodes"],
             row["trainscope"]["listeners"], f"{row['uplot']['heap'] / 1e6:.2f}", f"{row['trainscope']['heap'] / row['uplot']['heap']:.1f}",
             f"{rss / 1e6:.1f}"] for row, rss in zip(found, server_bytes)]
    table(["seconds", "events", "page, MB", "nodes", "listeners", "plain uPlot page, MB", "page / plain", "server, MB"], rows)
    first, last = found[0], found[-1]
    verdicts = {"memory of the page": verdict(last["trainscope"]["heap"] / first["trainscope"]["heap"], FLAT),
                "nodes of the page": verdict(last["trainscope"]["nodes"] / first["trainscope"]["nodes"], FLAT),
                "memory of the server": verdict(server_bytes[-1] / server_bytes[0], FLAT)}
    for name, one in verdicts.items():
        print(verdict_text(f"{name}, end / begin", one))
    print(f"  the plain uPlot page, end / begin: {last['uplot']['heap'] / first['uplot']['heap']:.3g}\n")
    return {"speed": SPEED, "samples": samples, "ticks": ticks, "points": found, "server_bytes": server_bytes,
            "verdicts": verdicts}
