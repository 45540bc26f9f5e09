"""Reading runs: time and peak memory of opening one and of four commands, against linear growth.

Runs of days are written by bench-reads, not recorded. The sampling period goes with the duration, so that a run
stays below 1 GB. Linear growth is predicted from one reference run: a run is opened in a time per stored byte; what a
command does besides opening takes a time per value that it reads.
"""
import os
import subprocess
import sys
import time

from harness import PROGRAM, ROOT, folder_bytes, scratch_home, table, verdict, verdict_text

MICRO = ROOT / "build/release/bench-reads"
PERIOD_MS = {"1 h": 100, "24 h": 1000, "30 days": 30_000}
SECONDS = {"1 h": 3600, "24 h": 86_400, "30 days": 30 * 86_400}
SERIES = (100, 1000, 5000)
REFERENCE = (1000, "1 h")
SQL_METRIC, CSV_METRIC = "system.memory.usage", "system.network.io"  # 5 series, and a tenth of all
COMMANDS = {
    "info": ["info", "{run}"],
    "info --json": ["info", "{run}", "--json"],
    "sql": ["sql", "{run}", f"select count(*), avg(value) from samples where metric = '{SQL_METRIC}'"],
    "csv": ["export", "{run}", "--to", "csv", "--metric", CSV_METRIC],
}
START_S, START_BYTES = 0.02, 20e6  # of a command that reads little: below this nothing is said about growth
TARGETS = {("open", "time"): 0.1, ("info", "time"): 1.0, ("info --json", "time"): 1.0}
STEPS, STEPS_BYTES = 10_000_000, 100e6


def build():
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "bench-reads"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)


def make_run(home, series, seconds, period_ms, steps=0):
    made = subprocess.run([MICRO, "make", home, str(series), str(seconds), str(period_ms), str(steps)], check=True,
                          capture_output=True, text=True)
    return made.stdout.strip()


def remove(folder):
    subprocess.run([PROGRAM, "rm", folder, "--yes"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def run_command(words):
    """Seconds and peak bytes of a command whose output nobody keeps."""
    begin = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, words))} failed with exit code {process.returncode}")
    return {"time": time.monotonic() - begin, "bytes": usage.ru_maxrss * 1024}


def measure_open(folder):
    out = subprocess.run([MICRO, "open", folder], check=True, capture_output=True, text=True).stdout
    seconds, peak = out.split()
    return {"time": float(seconds), "bytes": int(peak)}


def measure(folder, rounds):
    """The fastest of some rounds: what disturbs a reading only makes it longer."""
    def best(once):
        results = [once() for _ in range(rounds)]
        return {"time": min(r["time"] for r in results), "bytes": max(r["bytes"] for r in results)}

    found = {"open": best(lambda: measure_open(folder))}
    for name, words in COMMANDS.items():
        command = [PROGRAM, *(word.format(run=folder) for word in words)]
        found[name] = best(lambda command=command: run_command(command))
    return found


def values_read(question, series, rows):
    """How many values a command needs besides what opening reads."""
    return {"open": 0, "info": 8 * rows, "info --json": 0.8 * series * rows, "sql": 5 * rows,
            "csv": 0.1 * series * rows}[question]


def predicted_time(question, cell, reference):
    per_byte = reference["questions"]["open"]["time"] / reference["bytes"]
    opening = per_byte * cell["bytes"]
    if question == "open":
        return opening
    rest = reference["questions"][question]["time"] - reference["questions"]["open"]["time"] - START_S
    per_value = max(0.0, rest) / values_read(question, reference["series"], reference["rows"])
    return START_S + opening + per_value * values_read(question, cell["series"], cell["rows"])


def ratio(question, what, cell, reference):
    """Measured over predicted; None where both are too small to say anything."""
    measured = cell["questions"][question][what]
    if what == "time":
        predicted, least = predicted_time(question, cell, reference), START_S
    else:
        growth = max(1.0, cell["series"] * cell["rows"] / (reference["series"] * reference["rows"]))
        predicted, least = START_BYTES + (reference["questions"][question]["bytes"] - START_BYTES) * growth, START_BYTES
    return None if measured < least else measured / max(predicted, least)


def row_of(name, cell, reference):
    row = [name, f"{cell['period_ms'] / 1000:g} s", f"{cell['bytes'] / 1e6:.0f}"]
    for question in ("open", *COMMANDS):
        found = cell["questions"][question]
        times, sizes = (ratio(question, what, cell, reference) for what in ("time", "bytes"))
        row.append(f"{1000 * found['time']:.0f} ({'-' if times is None else f'{times:.1f}'})")
        row.append(f"{found['bytes'] / 1e6:.0f} ({'-' if sizes is None else f'{sizes:.1f}'})")
    return row


def measure_cell(home, options, series, duration, period_ms):
    folder = make_run(home, series, SECONDS[duration], period_ms)
    cell = {"series": series, "rows": SECONDS[duration] * 1000 // period_ms, "period_ms": period_ms,
            "bytes": folder_bytes(folder), "questions": measure(folder, options.read_rounds)}
    remove(folder)
    return cell


def measure_steps(home, options):
    """A run whose job reported millions of steps: what does not need them, and what does."""
    steps = STEPS if not options.quick else STEPS // 100
    folder = make_run(home, 100, SECONDS["1 h"], PERIOD_MS["1 h"], steps)
    found = measure(folder, 1)
    remove(folder)
    return {"steps": steps, "questions": found}


def run(options, idle_machine):
    build()
    idle_machine.wait()
    cells = {}
    with scratch_home() as home:
        for duration in options.read_durations:
            for series in SERIES if not options.quick else SERIES[:2]:
                cells[(series, duration)] = measure_cell(home, options, series, duration, PERIOD_MS[duration])
        if REFERENCE not in cells:
            cells[REFERENCE] = measure_cell(home, options, *REFERENCE, PERIOD_MS[REFERENCE[1]])
        target = None if options.quick else measure_cell(home, options, 300, "24 h", 100)
        steps = measure_steps(home, options)
    reference = cells[REFERENCE]
    names = [f"{series} x {duration}" for series, duration in cells]
    rows = [row_of(name, cell, reference) for name, cell in zip(names, cells.values())]
    if target:
        rows.append(row_of("300 x 24 h", target, reference))
    heads = [f"{question}, {unit}" for question in ("open", *COMMANDS) for unit in ("ms", "MB")]
    print(f"Reading runs: time and peak memory, and in parentheses the ratio to linear growth from\n"
          f"{REFERENCE[0]} x {REFERENCE[1]} (1: as predicted, less: better; -: too small to say). "
          f"sql: {SQL_METRIC}; csv: {CSV_METRIC}.\n")
    table(["series x duration", "period", "MB", *heads], rows)
    verdicts = {}
    for question, limit in ((q, limit) for (q, _), limit in TARGETS.items() if target):
        verdicts[question] = verdict(target["questions"][question]["time"], limit)
        print(verdict_text(f"300 series x 24 h at 10 Hz, {question}", verdicts[question], " s"))
    for question, found in steps["questions"].items():
        verdicts[f"steps {question}"] = verdict(found["bytes"] / 1e6, STEPS_BYTES / 1e6)
        print(verdict_text(f"{steps['steps']} steps, {question} ({found['time']:.1f} s)",
                           verdicts[f"steps {question}"], " MB"))
    print()
    return {"cells": dict(zip(names, cells.values())), "target": target, "steps": steps, "verdicts": verdicts}
