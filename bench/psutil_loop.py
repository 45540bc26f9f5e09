"""What people write first: psutil in a loop, one CSV line per sample. The process list is found once,
PSS is read every 10 s.

psutil_loop.py EVERY_S OUT PID...
"""
import sys
import time

import psutil

every, out = float(sys.argv[1]), open(sys.argv[2], "w", buffering=1 << 16)
processes = [psutil.Process(int(pid)) for pid in sys.argv[3:]]
due = pss_due = time.monotonic()
pss = []
while True:
    row = [time.time()]
    for cpu in psutil.cpu_times(percpu=True):
        row += cpu
    row += psutil.virtual_memory()
    row += psutil.swap_memory()
    for disk in psutil.disk_io_counters(perdisk=True).values():
        row += disk
    for interface in psutil.net_io_counters(pernic=True).values():
        row += interface
    row.append(psutil.cpu_stats().ctx_switches)
    for process in processes:
        with process.oneshot():
            row += process.cpu_times()
            row += process.memory_info()
            row += process.io_counters()
            row.append(process.num_threads())
    if due >= pss_due:
        pss = [process.memory_full_info().pss for process in processes]
        pss_due += 10
    row += pss
    out.write(",".join(map(str, row)) + "\n")
    out.flush()
    due += every
    time.sleep(max(0.0, due - time.monotonic()))
