#!/usr/bin/env python3
"""How often any metric of equal runs is called different: pairs of runs with as many hardware metrics as a machine has, through
the adjustment for their number and the bounds of "same", as `compare` judges them.

    families.py [--pairs 1000]         of each kind, independent metrics, which is the worst case

Each metric is lognormal in windows of time, with a correlation of neighbouring windows of its own.
"""
import argparse
import os

from calibration import compare, executor
from simulator import World, blocks, pair_rng, simulate_run

METRICS = 80
PAIRS_PER_TASK = 10
SAME_WITHIN = 0.05
KINDS = [(windows, low, high, spread) for windows in (64, 128) for low, high in ((0.0, 0.5), (0.5, 0.7), (0.7, 0.95))
         for spread in (0.15, 0.03)]


def text(run, windows):
    return " ".join(f"{mean:.9g}:{held}" for mean, held in blocks(run.steps, windows))


def is_same(answer):
    low, high = answer[3:5]
    return low >= 1 / (1 + SAME_WITHIN) and high <= 1 + SAME_WITHIN


def claimed_pairs(kind, first, count):
    """How many of these pairs have a metric that is called different, without and with the adjustment; the latter also where what
    is within the bounds of "same" is not called different."""
    windows, low, high, spread = kind
    plain = adjusted = shown = 0
    for index in range(first, first + count):
        rng = pair_rng(f"family {kind}", index)
        lines = []
        for _ in range(METRICS):
            world = World(correlation=rng.uniform(low, high), spread=spread)
            sides = [text(simulate_run(world, windows, 1.0, rng), windows) for _ in range(2)]
            lines.append(f"means|{sides[0]}|{sides[1]}")
        found = [answer for answer in compare(lines) if answer]
        together = compare(["adjust|" + " ".join(f"{answer[14]:.12g}" for answer in found) + "|"])[0]
        plain += min(answer[8] for answer in found) < 0.05
        adjusted += min(together) < 0.05
        shown += any(p < 0.05 and not is_same(answer) for answer, p in zip(found, together))
    return plain, adjusted, shown


def claims(kind, pairs, workers):
    tasks = [workers.submit(claimed_pairs, kind, first, min(PAIRS_PER_TASK, pairs - first))
             for first in range(0, pairs, PAIRS_PER_TASK)]
    results = [task.result() for task in tasks]
    return tuple(sum(column) for column in zip(*results))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    print("| windows | correlation | spread | any shown as different | adjusted p below 0.05 | p below 0.05 |\n|---:|---|---:|---:|---:|---:|")
    with executor(options.jobs) as workers:
        for kind in KINDS:
            plain, adjusted, shown = (100 * count / options.pairs for count in claims(kind, options.pairs, workers))
            print(f"| {kind[0]} | {kind[1]} to {kind[2]} | {100 * kind[3]:g} % | {shown:.1f} | {adjusted:.1f} | {plain:.1f} |",
                  flush=True)


if __name__ == "__main__":
    main()
