"""Runs of a day or less that bench-reads writes without recording them, and what a command costs that reads them."""
import subprocess

from harness import table, verdict, verdict_text
from reads import MICRO, run_command

DAY_S, HOUR_S, SERIES, PERIOD_MS = 86_400, 3600, 300, 100
STEPS = 1_000_000


def make_run(home, seconds, *words):
    words = [MICRO, "make", home, SERIES, seconds, PERIOD_MS, *words]
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout.strip()


def measure(words, rounds):
    """The fastest of some rounds: what disturbs a command only makes it slower."""
    results = [run_command(words) for _ in range(rounds)]
    return {"time": min(r["time"] for r in results), "bytes": max(r["bytes"] for r in results)}


def show(head, found):
    table([head, "CPU s", "peak MB"],
          [[name, f"{case['time']:.2f}", f"{case['bytes'] / 1e6:.0f}"] for name, case in found.items()])


def judge(command, found, targets):
    """Prints and returns which targets, seconds and bytes of each case, are met."""
    verdicts = {}
    for name, (seconds, peak) in targets.items():
        for key, measured, limit, unit in (("time", found[name]["time"], seconds, " s"),
                                           ("memory", found[name]["bytes"] / 1e6, peak / 1e6, " MB")):
            verdicts[f"{name} {key}"] = verdict(measured, limit)
            print(verdict_text(f"{command}, {name}, {key}", verdicts[f"{name} {key}"], unit))
    print()
    return verdicts
