"""Slowdown of training by recording. One training run; the recorder is stopped and continued at random.

Blocks come in pairs, one with the recorder running and one with it stopped, in random order; the blocks
of a pair are adjacent, so slow changes of the machine cancel. Steps that overlap a switch are left out.

Two ratios, with intervals from drawing whole pairs with replacement. The ratio of means includes every rare long
step, of which a virtual machine has many for other reasons: its interval is wide. The median over the pairs of
the ratio of their medians shows a usual step. The third line shows what a median hides: how many steps took
more than three times the usual.
"""
import os
import random
import signal
import statistics
import subprocess
import tempfile
import time

from harness import BackgroundLoad, Group, PROGRAM, WORKLOAD, bootstrap, info, recorder_pid, say, scratch_home, table

MARGIN_S = 0.002


def switch_blocks(recorder, pairs, block_s, alive):
    """Stops and continues the recorder; [(running, begin, end)] on CLOCK_MONOTONIC."""
    blocks, draw = [], random.Random(os.urandom(8))
    due = time.monotonic()
    for _ in range(pairs):
        for running in draw.sample([True, False], 2):
            if not alive():
                return blocks
            os.kill(recorder, signal.SIGCONT if running else signal.SIGSTOP)
            begin = time.monotonic()
            due = max(due + block_s, begin + block_s / 2)
            time.sleep(max(0, due - begin))
            blocks.append((running, begin + MARGIN_S, time.monotonic()))
    os.kill(recorder, signal.SIGCONT)
    return blocks


def read_steps(path):
    with open(path) as file:
        rows = (line.split() for line in file if line[:1].isdigit())
        return [(float(begin), float(duration)) for _, begin, duration in rows]


def steps_in_blocks(steps, blocks):
    """For every block the durations of the steps that are completely in it."""
    inside, at = [], 0
    for running, begin, end in blocks:
        while at < len(steps) and steps[at][0] < begin:
            at += 1
        durations = []
        while at < len(steps) and steps[at][0] + steps[at][1] <= end:
            durations.append(steps[at][1])
            at += 1
        inside.append((running, durations))
    return inside


def pair_up(inside):
    """[(steps with the recorder, steps without)], one per pair of adjacent blocks."""
    pairs = []
    for first, second in zip(inside[::2], inside[1::2]):
        on, off = (first, second) if first[0] else (second, first)
        if on[1] and off[1]:
            pairs.append((on[1], off[1]))
    return pairs


def ratio_of_means(sums):
    on, on_n, off, off_n = (sum(column) for column in zip(*sums))
    return (on / on_n) / (off / off_n)


def verdict(low, high):
    return "cannot tell" if high - low > 0.01 else "met" if high <= 1.005 else "MISSED"


def evaluate(pairs):
    sums = [(sum(on), len(on), sum(off), len(off)) for on, off in pairs]
    low, high = bootstrap(ratio_of_means, sums)
    middles = [statistics.median(on) / statistics.median(off) for on, off in pairs]
    median_low, median_high = bootstrap(statistics.median, middles)
    on, on_n, off, off_n = (sum(column) for column in zip(*sums))
    usual = statistics.median(step for on_steps, off_steps in pairs for step in (*on_steps, *off_steps))
    long_on, long_off = (1000 * sum(step > 3 * usual for pair in pairs for step in pair[side]) /
                         sum(len(pair[side]) for pair in pairs) for side in (0, 1))
    return {"pairs": len(pairs), "steps_on": on_n, "steps_off": off_n, "mean_on_ms": on / on_n * 1e3,
            "mean_off_ms": off / off_n * 1e3, "ratio": ratio_of_means(sums), "low": low, "high": high,
            "median_ratio": statistics.median(middles), "median_low": median_low, "median_high": median_high,
            "verdict": verdict(low, high), "median_verdict": verdict(median_low, median_high),
            "long_per_1000_on": long_on, "long_per_1000_off": long_off, "pair_sums": sums}


def run(options, idle_machine):
    if not WORKLOAD.exists():
        say("  skipped: trainscope-workload is not built (WORKLOAD=off?)")
        return None
    idle_machine.wait()
    seconds = 2 * options.pairs * options.block + 10
    with scratch_home(), Group() as group, tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "steps")
        background = BackgroundLoad([group])
        process = group.start(
            [PROGRAM, "run", "--quiet", "--every", options.every, "--", WORKLOAD, "train", "--model", "digits_cnn",
             "--threads", str(options.threads), "--seconds", str(seconds), "--step-log", log],
            stdout=subprocess.DEVNULL)
        recorder = recorder_pid(process.pid)
        time.sleep(8)  # data is loaded, caches are warm
        blocks = switch_blocks(recorder, options.pairs, options.block, lambda: process.poll() is None)
        process.wait()
        others = background.cores()
        steps = read_steps(log)
        gaps = len(info()["sampling"]["gaps"])
    report = {"threads": options.threads, "every": options.every, "block_s": options.block, "gaps": gaps,
              "background_cores": others, **evaluate(pair_up(steps_in_blocks(steps, blocks)))}
    print(f"Slowdown of training: digits_cnn on {options.threads} thread(s), a sample every {options.every}, "
          f"{report['pairs']} pairs of {options.block:g} s blocks; background load {others:.2f} cores.\n")
    table(["", "steps", "mean ms"], [["recorder runs", report["steps_on"], f"{report['mean_on_ms']:.4f}"],
                                     ["recorder stopped", report["steps_off"], f"{report['mean_off_ms']:.4f}"]])
    table(["", "ratio", "95 % interval", "target", ""],
          [["mean step time", f"{report['ratio']:.4f}", f"{report['low']:.4f} to {report['high']:.4f}",
            "upper end <= 1.005, width <= 0.01", report["verdict"]],
           ["median step time", f"{report['median_ratio']:.4f}",
            f"{report['median_low']:.4f} to {report['median_high']:.4f}", "the same", report["median_verdict"]]])
    print(f"  Steps of more than three times the usual duration, per 1000: {report['long_per_1000_on']:.2f} with the recorder, "
          f"{report['long_per_1000_off']:.2f} without.\n")
    return report
