"""Comparing long runs: CPU time and peak memory of `trainscope compare`.

Two runs are written by bench-reads, not recorded: 24 h with 300 series at 10 Hz, without steps and with a million steps.
"""
from diagnose import DAY_S, STEPS, make_run
from harness import PROGRAM, scratch_home, table, verdict, verdict_text
from reads import build, remove, run_command

CASES = {"no steps": [0], "a million steps": [STEPS]}
TARGETS = {"no steps": (3, 300e6)}


def measure(home, words, rounds):
    folders = [make_run(home, DAY_S, *words) for _ in range(2)]
    results = [run_command([PROGRAM, "compare", *folders, "--json"]) for _ in range(rounds)]
    for folder in folders:
        remove(folder)
    return {"time": min(r["time"] for r in results), "bytes": max(r["bytes"] for r in results)}


def judge(found):
    verdicts = {}
    for name, (seconds, peak) in TARGETS.items():
        for key, measured, limit, unit in (("time", found[name]["time"], seconds, " s"),
                                           ("memory", found[name]["bytes"] / 1e6, peak / 1e6, " MB")):
            verdicts[f"{name} {key}"] = verdict(measured, limit)
            print(verdict_text(f"compare, {name}, {key}", verdicts[f"{name} {key}"], unit))
    print()
    return verdicts


def run(options, idle_machine):
    build()
    idle_machine.wait()
    with scratch_home() as home:
        found = {name: measure(home, words, options.read_rounds) for name, words in CASES.items()}
    print("trainscope compare: two runs of 24 h with 300 series at 10 Hz.\n")
    table(["runs", "CPU s", "peak MB"],
          [[name, f"{case['time']:.2f}", f"{case['bytes'] / 1e6:.0f}"] for name, case in found.items()])
    return {"cases": found, "verdicts": judge(found)}
