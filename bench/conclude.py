"""From the end of the job to the end of `trainscope run`: reading the run back, the verdict and the summary.

The job notes the time as its last act. Two kinds: a step every 20 ms at the default period, and 80 steps every 20 ms at 100
samples per second, which in 10 s are as many steps as a day has at 2 s each (fewer on a busy machine). Each step has an input phase.
"""
import os
import statistics
import subprocess
import sys
import time

from harness import PROGRAM, scratch_home, table, verdict

JOB = """
import os, sys, time
seconds, pause, each = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
pipe, end, step = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY), time.monotonic() + seconds, 0
while time.monotonic() < end:
    time.sleep(pause)
    lines = []
    for _ in range(each):
        step += 1
        lines.append(f"phase input {pause / each / 2}\\nstep {step}\\n")
    for start in range(0, each, 40):
        os.write(pipe, "".join(lines[start:start + 40]).encode())
with open(sys.argv[4], "w") as file:
    file.write(repr(time.monotonic()))
    file.flush()
    os._exit(0)
"""
LIMIT_S = 1
KINDS = {"a step every 20 ms, every 100ms": ("0.02", "1", "100ms"), "80 steps every 20 ms, every 10ms": ("0.02", "80", "10ms")}


def spend(home, seconds, pause, each, period):
    """Seconds from the job's end to that of `run`, and the summary."""
    noted = os.path.join(home, "ended")
    done = subprocess.run([PROGRAM, "run", "--every", period, "--", sys.executable, "-c", JOB, str(seconds), pause, each, noted],
                          check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    ended = time.monotonic()
    if "  verdict " not in done.stderr:
        raise RuntimeError(f"no verdict in the summary:\n{done.stderr}")
    with open(noted, encoding="utf-8") as file:
        return ended - float(file.read())


def run(options, idle_machine):
    idle_machine.wait()
    found = {}
    with scratch_home() as home:
        for name, kind in KINDS.items():
            found[name] = [spend(home, options.conclude_seconds, *kind) for _ in range(options.conclude_rounds)]
    judged = {name: verdict(max(times), LIMIT_S) for name, times in found.items()}
    print(f"From the end of a job of {options.conclude_seconds:g} s to the end of `run`, with verdict and summary.\n")
    table(["recording", "runs", "median s", "slowest s", "target", ""],
          [[name, str(len(times)), f"{statistics.median(times):.3f}", f"{max(times):.3f}", f"<= {LIMIT_S}",
            "met" if judged[name]["met"] else "MISSED"] for name, times in found.items()])
    return {"seconds": found, "verdicts": judged}
