"""Reading runs: CPU time and peak memory of opening one and of four commands, against linear growth.

Runs of days are written by bench-reads, not recorded: 100, 1,000 and 5,000 series and 1 h, 24 h and 30 days, with the
shortest sampling period that keeps a run below 300 million values. A time that is linear in the series, rows and values
that a question must read is fitted to all of them; a run that takes much longer than that shows growth that is not linear.
Memory is that of the whole process; for streamed output it should not grow with the run's length.
"""
import os
import subprocess
import sys

from harness import PROGRAM, ROOT, folder_bytes, scratch_home, table, verdict, verdict_text

MICRO = ROOT / "build/release/bench-reads"
SECONDS = {"1 h": 3600, "24 h": 86_400, "30 days": 30 * 86_400}
SERIES = (100, 1000, 5000)
PERIODS_MS = (100, 1000, 10_000, 100_000)
MOST_VALUES = 300e6
TARGET = (300, "24 h")
SHORT = (100, 10)  # series and seconds of the run that shows what a command costs without values
SQL_METRIC, CSV_METRIC = "system.memory.usage", "system.network.io"  # 5 series, and a tenth of all
COMMANDS = {
    "info": ["info", "{run}"],
    "info --json": ["info", "{run}", "--json"],
    "sql": ["sql", "{run}", f"select count(*), avg(value) from samples where metric = '{SQL_METRIC}'"],
    "csv": ["export", "{run}", "--to", "csv", "--metric", CSV_METRIC],
}
QUESTIONS = ("open", *COMMANDS)
TARGETS_S = {"open": 0.1, "info": 1.0, "info --json": 1.0}
LINEAR = 1.5  # a ratio up to this is linear: caches and short blocks take their share
FIT_ROUNDS = 5000
LEAST_S = 0.03  # of less CPU time no ratio is stated
STEPS_BYTES = 100e6
LEAST_WITH_JOB = 200  # series, as in bench-reads


def build():
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", "bench-reads"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)


def make_run(home, series, seconds, period_ms, steps=0, *contents):
    made = subprocess.run([MICRO, "make", home, str(series), str(seconds), str(period_ms), str(steps), *contents], check=True,
                          capture_output=True, text=True)
    return made.stdout.strip()


def remove(folder):
    subprocess.run([PROGRAM, "rm", folder, "--yes"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def run_command(words):
    """CPU seconds and peak bytes of a command whose output nobody keeps."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, words))} failed with exit code {process.returncode}")
    return {"time": usage.ru_utime + usage.ru_stime, "bytes": usage.ru_maxrss * 1024}


def measure_open(folder):
    out = subprocess.run([MICRO, "open", folder], check=True, capture_output=True, text=True).stdout
    seconds, peak = out.split()
    return {"time": float(seconds), "bytes": int(peak)}


def measure(folder, rounds):
    """The fastest of some rounds: what disturbs a command only makes it slower."""
    def best(once):
        results = [once() for _ in range(rounds)]
        return {"time": min(r["time"] for r in results), "bytes": max(r["bytes"] for r in results)}

    found = {"open": best(lambda: measure_open(folder))}
    for name, words in COMMANDS.items():
        command = [PROGRAM, *(word.format(run=folder) for word in words)]
        found[name] = best(lambda command=command: run_command(command))
    return found


def period_of(series, seconds):
    return next(period for period in PERIODS_MS if series * seconds * 1000 / period <= MOST_VALUES)


def measure_cell(home, series, seconds, rounds):
    period_ms = period_of(series, seconds)
    folder = make_run(home, series, seconds, period_ms)
    cell = {"series": series, "rows": seconds * 1000 // period_ms, "period_ms": period_ms, "bytes": folder_bytes(folder),
            "questions": measure(folder, rounds)}
    remove(folder)
    return cell


def amounts(question, cell):
    """What the time of a question may be proportional to: nothing, series, rows, and values that it reads or decompresses
    because they are stored together. info needs those of all CPUs; opening a run reads the index, a part of all values."""
    cpus = 0.8 if cell["series"] < LEAST_WITH_JOB else 0.6
    share = {"open": 1, "info": cpus, "info --json": cpus, "sql": 5 / cell["series"], "csv": 0.1}[question]
    return [1, cell["series"], cell["rows"], share * cell["series"] * cell["rows"]]


def fit(question, cells):
    """Time per amount, none negative, with the smallest sum of squared relative errors: coordinate descent."""
    rows = [[amount / cell["questions"][question]["time"] for amount in amounts(question, cell)] for cell in cells]
    per_amount = [0.0] * 4
    for _ in range(FIT_ROUNDS):
        for j in range(4):
            others = [sum(per_amount[i] * row[i] for i in range(4) if i != j) for row in rows]
            best = sum(row[j] * (1 - other) for row, other in zip(rows, others)) / sum(row[j] ** 2 for row in rows)
            per_amount[j] = max(0.0, best)
    return per_amount


def linear_ratios(cells, short):
    """For each question the ratio of measured to linear time of each cell; None where the time is too short for one."""
    found = {}
    for question in QUESTIONS:
        per_amount = fit(question, [*cells.values(), short])
        found[question] = {}
        for key, cell in cells.items():
            measured = cell["questions"][question]["time"]
            linear = sum(time * amount for time, amount in zip(per_amount, amounts(question, cell)))
            found[question][key] = None if measured < LEAST_S else measured / linear
    return found


def print_cells(cells, linear):
    heads = ["series x duration", "period", "values", "stored MB", *QUESTIONS]
    times, sizes = [], []
    for (series, duration), cell in cells.items():
        row = [f"{series} x {duration}", f"{cell['period_ms'] / 1000:g} s", f"{series * cell['rows'] / 1e6:.0f} M",
               f"{cell['bytes'] / 1e6:.1f}"]
        ratios = {question: linear[question][series, duration] for question in QUESTIONS}
        times.append(row + [f"{1000 * cell['questions'][q]['time']:.0f}" + (f" ({r:.2f})" if r else "")
                            for q, r in ratios.items()])
        sizes.append(row + [f"{cell['questions'][q]['bytes'] / 1e6:.0f}" for q in QUESTIONS])
    print("Reading runs: CPU time in ms, and in parentheses its ratio to a time linear in series, rows and values read, fitted\n"
          f"to all runs (none below {1000 * LEAST_S:.0f} ms). sql: {SQL_METRIC}; csv: {CSV_METRIC}.\n")
    table(heads, times)
    print("Peak memory in MB:\n")
    table(heads, sizes)


def judge(cells, linear, steps):
    verdicts = {}

    def state(key, text, measured, limit, unit):
        verdicts[key] = verdict(measured, limit)
        print(verdict_text(text, verdicts[key], unit))

    target = cells.get(TARGET)
    for question, limit in TARGETS_S.items() if target else ():
        state(f"target {question}", f"300 series x 24 h at 10 Hz, {question}, CPU time",
              target["questions"][question]["time"], limit, " s")
    for question in QUESTIONS:
        worst = max((r for r in linear[question].values() if r), default=0)
        state(f"linear {question}", f"{question}: highest ratio to linear time", worst, LINEAR, "")
    for question, found in steps["questions"].items() if steps else ():
        state(f"steps {question}", f"{steps['steps']} steps, {question} ({found['time']:.1f} s)", found["bytes"] / 1e6,
              STEPS_BYTES / 1e6, " MB")
    print()
    return verdicts


def measure_steps(home, steps):
    """A run whose job reported millions of steps: what does not need them, and what does."""
    folder = make_run(home, 100, SECONDS["1 h"], PERIODS_MS[0], steps)
    found = measure(folder, 1)
    remove(folder)
    return {"steps": steps, "questions": found}


def run(options, idle_machine):
    build()
    idle_machine.wait()
    wanted = [(series, duration) for series in SERIES for duration in options.read_durations]
    wanted += [] if options.quick else [TARGET]
    with scratch_home() as home:
        short = measure_cell(home, *SHORT, max(5, options.read_rounds))
        cells = {(series, duration): measure_cell(home, series, SECONDS[duration], options.read_rounds)
                 for series, duration in sorted(wanted)}
        steps = measure_steps(home, options.read_steps) if options.read_steps > 0 else None
    linear = linear_ratios(cells, short)
    print_cells(cells, linear)
    verdicts = judge(cells, linear, steps)
    named = {f"{series} x {duration}": cell for (series, duration), cell in cells.items()}
    return {"cells": named, "short": short, "steps": steps, "verdicts": verdicts}
