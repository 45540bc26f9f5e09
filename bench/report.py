"""Writing a report of a long run: size of the file, time and memory; and how long Chromium takes to open it."""
import os
import statistics

import browser
import reads
from harness import PROGRAM, scratch_home, verdict, verdict_text

SERIES, DURATION, PERIOD_MS = 300, "24 h", 100
SHORT = "1 h"  # of --quick
LIMIT_BYTES, LIMIT_S, LIMIT_OPEN_S = 6e6, 10, 1
OPENED = 4  # times


def seconds_to_open(file):
    """From the navigation to the paint of the last chart near the window, each time; [] without a browser."""
    node = browser.find_node()
    if node is None:
        return []
    found = browser.measure(node, "open", {"pages": {"report": f"file://{file}"}, "cookies": [], "viewports": {"usual": [1280, 900]},
                                           "rounds": OPENED, "zooms": 0})
    return [one["paint"]["first"] / 1000 for one in found]


def run(options, idle_machine):
    reads.build()
    idle_machine.wait()
    duration = SHORT if options.quick else DURATION
    with scratch_home() as home:
        folder = reads.make_run(home, SERIES, reads.SECONDS[duration], PERIOD_MS)
        file = os.path.join(home, "report.html")
        used = min((reads.run_command([PROGRAM, "report", folder, "--force", "-o", file]) for _ in range(options.read_rounds)),
                   key=lambda each: each["time"])
        size = os.path.getsize(file)
        opened = seconds_to_open(file)
    verdicts = {"size": verdict(size / 1e6, LIMIT_BYTES / 1e6), "time": verdict(used["time"], LIMIT_S)}
    print(f"A report of {SERIES} series x {duration} at {1000 // PERIOD_MS} Hz; {used['bytes'] / 1e6:.0f} MB of memory at peak.\n")
    print(verdict_text("size of the file", verdicts["size"], " MB"))
    print(verdict_text("CPU time", verdicts["time"], " s"))
    if opened:
        verdicts["opening"] = verdict(statistics.median(opened), LIMIT_OPEN_S)
        print(verdict_text(f"opening, median of {OPENED}", verdicts["opening"], " s"))
    return {"duration": duration, "size_bytes": size, "used": used, "opened_s": opened, "verdicts": verdicts}
