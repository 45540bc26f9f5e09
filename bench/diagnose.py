"""Diagnosing long runs: CPU time and peak memory of `trainscope diagnose`.

Runs are written by bench-reads, not recorded: 24 h with 300 series at 10 Hz, without steps, with a million steps and with a
million steps that report two phases each; and a job of 64 ranks of one hour each, diagnosed together. bench-reads writes the
series that the rules read: of the job, its threads, pressure, a disk and a GPU.
"""
from harness import PROGRAM, scratch_home
from long_runs import DAY_S, HOUR_S, SERIES, STEPS, judge, make_run, measure, show
from reads import build, remove

RANKS = 64
CASES = {"no steps": [0], "a million steps": [STEPS], "a million steps with phases": [STEPS, "phases"]}
TARGETS = {"a million steps": (2, 200e6), "64 ranks": (10, 200e6)}


def measure_diagnosis(home, run, rounds):
    return measure([PROGRAM, "diagnose", "--home", home, run, "--json"], rounds)


def measure_day(home, words, rounds):
    folder = make_run(home, DAY_S, *words)
    found = measure_diagnosis(home, folder, rounds)
    remove(folder)
    return found


def measure_ranks(home, ranks, rounds):
    folders = [make_run(home, HOUR_S, STEPS * HOUR_S // DAY_S, "phases", f"{rank}/{ranks}") for rank in range(ranks)]
    found = measure_diagnosis(home, "slurm-1.0", rounds)
    for folder in folders:
        remove(folder)
    return found


def run(options, idle_machine):
    build()
    idle_machine.wait()
    rounds = options.read_rounds
    with scratch_home() as home:
        found = {name: measure_day(home, words, rounds) for name, words in CASES.items()}
        found["64 ranks"] = measure_ranks(home, RANKS, rounds)
    print(f"trainscope diagnose: {SERIES} series at 10 Hz; 24 h, and {RANKS} ranks of 1 h with {STEPS * HOUR_S // DAY_S} steps each.\n")
    show("run", found)
    return {"cases": found, "verdicts": judge("diagnose", found, TARGETS)}
