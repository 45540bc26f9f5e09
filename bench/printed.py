"""Cost of searching printed lines for steps, per line, compared with splitting the same bytes with memchr."""
import os
import subprocess

from harness import ROOT, say, table

PROGRAM = ROOT / "build/release/bench-printed-lines"


def build():
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "bench-printed-lines"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)


def run(options, idle_machine):
    program = os.environ.get("BENCH_PRINTED_LINES")  # of another version, for comparison
    if program is None:
        build()
        program = PROGRAM
    idle_machine.wait()
    lines = subprocess.run([program, str(options.printed_rounds)], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    rows, report = [], {}
    for line in lines:
        name, size, split_ns, search_ns, skipped = line.split("\t")
        ratio = float(search_ns) / float(split_ns)
        rows.append([name, size, f"{float(split_ns):.0f}", f"{float(search_ns):.0f}", f"{ratio:.0f}"])
        report[name] = {"bytes": int(size), "split_ns": float(split_ns), "search_ns": float(search_ns), "ratio": ratio}
        if int(skipped) > 0:
            say(f"  {skipped} lines of '{name}' were not searched")
    print("CPU time per printed line: searching it for steps, compared with finding its end with memchr.\n")
    table(["", "bytes", "memchr, ns", "search, ns", "ratio"], rows)
    return report
