"""How often `trainscope compare` is right about real training, on a machine as noisy as it is.

Three runs of the workload on each side, interleaved. Twenty times both sides are the same training: how often is a difference
claimed? Twenty times one side has a planted delay in each step: how often is it found? And how often does the interval
contain the true ratio? The truth is the workload's own log of its steps, not what was recorded.
"""
import json
import random
import statistics
import subprocess

from harness import PROGRAM, WORKLOAD, scratch_home, say, table

REPEATS = 3


def train(home, name, options, delay_s):
    """Records one run; its mean step time by the workload's own log, without the first tenth."""
    log = home / f"{name}.steps"
    words = [PROGRAM, "run", "--home", home, "--quiet", "--name", name, "--", WORKLOAD, "train", "--threads", "1", "--data", "synthetic",
             "--seconds", f"{options.compare_seconds:g}s", "--step-log", log]
    words += ["--input", f"slow:{1000 * delay_s:.4f}ms"] if delay_s else []
    subprocess.run(list(map(str, words)), check=True, stdout=subprocess.DEVNULL)
    durations = [float(line.split()[2]) for line in log.read_text().splitlines()]
    return statistics.fmean(durations[len(durations) // 10:])


def compare(home, a, b):
    words = [PROGRAM, "compare", "--home", home, ",".join(a), ",".join(b), "--json"]
    return json.loads(subprocess.run(list(map(str, words)), check=True, capture_output=True).stdout)["speed"]


def one_comparison(home, number, options, delay_s):
    """The answer, and B's true steps per second over A's in these runs."""
    sides = {"a": [], "b": []}
    names = {side: [f"{side}{number}-{repeat}" for repeat in range(REPEATS)] for side in sides}
    for repeat in range(REPEATS):
        for side in random.Random(f"{number}/{repeat}").sample(["a", "b"], 2):
            sides[side].append(train(home, names[side][repeat], options, delay_s if side == "b" else 0))
    return compare(home, names["a"], names["b"]), statistics.fmean(sides["a"]) / statistics.fmean(sides["b"])


def measure_errors(home, options):
    step_s = statistics.median(train(home, f"warm-{number}", options, 0) for number in range(3))
    rows = []
    for number in range(2 * options.comparisons):
        is_slow = number % 2 == 1
        delay_s = options.planted * step_s if is_slow else 0
        speed, truth = one_comparison(home, number, options, delay_s)
        rows.append({"planted": is_slow, "truth": truth, **{key: speed[key] for key in ("ratio", "low", "high", "p", "verdict")}})
        say(f"  {number + 1} of {2 * options.comparisons}: {rows[-1]}")
    return step_s, rows


def print_errors(step_s, rows, planted):
    same, slow = [r for r in rows if not r["planted"]], [r for r in rows if r["planted"]]
    inside = sum(row["low"] <= row["truth"] <= row["high"] for row in rows if row["low"] is not None)
    print(f"Steps of {1000 * step_s:.2f} ms, {REPEATS} runs a side, interleaved.\n")
    table(["training", "comparisons", "slower", "faster", "same", "cannot tell"],
                [[name, len(part), *(sum(row["verdict"] == word for row in part) for word in ("slower", "faster", "same", "cannot_tell"))]
                 for name, part in (("the same", same), (f"{100 * planted:g} % slower", slow))])
    print(f"\nThe interval contains the ratio of the workload's own times in {inside} of {len(rows)}.\n")


def run(options, idle_machine):
    idle_machine.wait()
    with scratch_home() as home:
        step_s, rows = measure_errors(home, options)
    print_errors(step_s, rows, options.planted)
    return {"step_s": step_s, "comparisons": rows}
