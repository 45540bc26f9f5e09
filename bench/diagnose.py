"""Diagnosing long runs: CPU time and peak memory of `trainscope diagnose`.

Runs are written by bench-reads, not recorded: 24 h with 300 series at 10 Hz, without steps, with a million steps and with a
million steps that report two phases each; and a job of 64 ranks of one hour each, diagnosed together. bench-reads writes the
series that the rules read: of the job, its threads, pressure, a disk and a GPU.
"""
from harness import PROGRAM, scratch_home, table, verdict, verdict_text
from reads import MICRO, build, remove, run_command

import subprocess

DAY_S, HOUR_S, SERIES, PERIOD_MS = 86_400, 3600, 300, 100
STEPS, RANKS = 1_000_000, 64
CASES = {"no steps": [0], "a million steps": [STEPS], "a million steps with phases": [STEPS, "phases"]}
TARGETS = {"a million steps": (2, 200e6), "64 ranks": (10, 200e6)}


def make_run(home, seconds, *words):
    words = [MICRO, "make", home, SERIES, seconds, PERIOD_MS, *words]
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout.strip()


def measure(home, run, rounds):
    results = [run_command([PROGRAM, "diagnose", "--home", home, run, "--json"]) for _ in range(rounds)]
    return {"time": min(r["time"] for r in results), "bytes": max(r["bytes"] for r in results)}


def measure_day(home, words, rounds):
    folder = make_run(home, DAY_S, *words)
    found = measure(home, folder, rounds)
    remove(folder)
    return found


def measure_ranks(home, ranks, rounds):
    folders = [make_run(home, HOUR_S, STEPS * HOUR_S // DAY_S, "phases", f"{rank}/{ranks}") for rank in range(ranks)]
    found = measure(home, "slurm-1.0", rounds)
    for folder in folders:
        remove(folder)
    return found


def judge(found):
    verdicts = {}
    for name, (seconds, peak) in TARGETS.items():
        for key, measured, limit, unit in (("time", found[name]["time"], seconds, " s"),
                                           ("memory", found[name]["bytes"] / 1e6, peak / 1e6, " MB")):
            verdicts[f"{name} {key}"] = verdict(measured, limit)
            print(verdict_text(f"diagnose, {name}, {key}", verdicts[f"{name} {key}"], unit))
    print()
    return verdicts


def run(options, idle_machine):
    build()
    idle_machine.wait()
    rounds = options.read_rounds
    with scratch_home() as home:
        found = {name: measure_day(home, words, rounds) for name, words in CASES.items()}
        found["64 ranks"] = measure_ranks(home, RANKS, rounds)
    print(f"trainscope diagnose: {SERIES} series at 10 Hz; 24 h, and {RANKS} ranks of 1 h with {STEPS * HOUR_S // DAY_S} steps each.\n")
    table(["run", "CPU s", "peak MB"],
          [[name, f"{case['time']:.2f}", f"{case['bytes'] / 1e6:.0f}"] for name, case in found.items()])
    return {"cases": found, "verdicts": judge(found)}
