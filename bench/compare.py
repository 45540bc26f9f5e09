"""Comparing long runs: CPU time and peak memory of `trainscope compare`.

Two runs are written by bench-reads, not recorded: 24 h with 300 series at 10 Hz, without steps and with a million steps.
"""
from harness import PROGRAM, scratch_home
from long_runs import DAY_S, STEPS, judge, make_run, measure, show
from reads import build, remove

CASES = {"no steps": [0], "a million steps": [STEPS]}
TARGETS = {"no steps": (3, 300e6)}


def measure_pair(home, words, rounds):
    folders = [make_run(home, DAY_S, *words) for _ in range(2)]
    found = measure([PROGRAM, "compare", *folders, "--json"], rounds)
    for folder in folders:
        remove(folder)
    return found


def run(options, idle_machine):
    build()
    idle_machine.wait()
    with scratch_home() as home:
        found = {name: measure_pair(home, words, options.read_rounds) for name, words in CASES.items()}
    print("trainscope compare: two runs of 24 h with 300 series at 10 Hz.\n")
    show("runs", found)
    return {"cases": found, "verdicts": judge("compare", found, TARGETS)}
