"""Extra time of `trainscope run -- true` compared with `true`."""
import os
import statistics
import time

from harness import PROGRAM, bootstrap, scratch_home, table, verdict


def spend(command):
    begin = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ)
    os.waitpid(pid, 0)
    return (time.perf_counter() - begin) * 1e3


def run(options, idle_machine):
    seen = idle_machine.wait()
    bare, ours = ["/bin/true"], [str(PROGRAM), "run", "--quiet", "--", "/bin/true"]
    with scratch_home():
        for _ in range(5):
            spend(bare), spend(ours)
        pairs = [(spend(bare), spend(ours)) for _ in range(options.starts)]
    extra = lambda some: statistics.median(b - a for a, b in some)
    low, high = bootstrap(extra, pairs)
    report = {"pairs": len(pairs), "true_ms": statistics.median(a for a, _ in pairs),
              "run_true_ms": statistics.median(b for _, b in pairs), "low": low, "high": high,
              "background_cores": seen, **verdict(extra(pairs), 30)}
    print(f"Start and end: {len(pairs)} alternating pairs.\n")
    table(["", "ms", "target", ""],
          [["true", f"{report['true_ms']:.2f}", "", ""], ["run -- true", f"{report['run_true_ms']:.2f}", "", ""],
           ["extra, median", f"{report['measured']:.2f}", "<= 30", "met" if report["met"] else "MISSED"],
           ["95 % interval", f"{low:.2f} to {high:.2f}", "", ""],
           ["slowest of all", f"{max(b for _, b in pairs):.2f}", "", ""]])
    return report
