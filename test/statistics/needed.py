#!/usr/bin/env python3
"""Whether "about N steps (or repeats) per side would find a difference of 2 %" is true: of pairs of equal configurations that cannot tell,
as many steps or repeats as they ask for are simulated, of configurations that differ by 2 %. How often is the difference found?

    needed.py [--pairs 400]         of each kind; 90 % is what is promised
"""
import argparse
import dataclasses
import math
import os
import statistics

from calibration import PAIRS_PER_TASK, STALLS, Scenario, compare, executor, written
from simulator import World, pair_rng, simulate_side

WANTED = 1.02                # Question::smallest_effect
MOST_STEPS = 400_000         # per side: what asks for more takes too long to simulate
P, VALUES, REPEATS = 8, 12, 13  # places in an answer
KINDS = [
    Scenario("independent steps, skewed", World(spread=0.3), steps=512),
    Scenario("correlation 0.5", World(correlation=0.5), steps=512),
    Scenario("correlation 0.9", World(correlation=0.9), steps=2048),
    Scenario("correlation 0.7, 64 blocks of one step", World(correlation=0.7), steps=64, blocks=64),
    Scenario("correlation 0.7, 20 blocks of one step", World(correlation=0.7, spread=0.05), steps=20, blocks=20),
    Scenario("long stalls", World(correlation=0.3, **{**STALLS, "stall": 1.5}), steps=8192),
    Scenario("drift along a line", World(correlation=0.7, drift="line"), steps=512),
    Scenario("3 runs, differing by 1 %", World(correlation=0.7, run_spread=0.01), steps=512, runs=3),
    Scenario("3 runs, differing by 2 %", World(correlation=0.7, run_spread=0.02), steps=512, runs=3),
    Scenario("5 runs, differing by 2 %", World(correlation=0.7, run_spread=0.02), steps=512, runs=5),
]


@dataclasses.dataclass
class Needed:
    """What the pairs of a kind asked for, and how often that was enough."""
    asked: list = dataclasses.field(default_factory=list)
    found: int = 0
    has_enough: int = 0     # pairs that ask for nothing: they have enough, or can tell
    asks_too_much: int = 0  # for more than can be simulated


def simulated(scenario, rng, factor=1.0):
    a, b = (simulate_side(scenario.world, scenario.runs, scenario.steps, 1.0, rng) for _ in range(2))
    return f"means|{written(scenario, a)}|{written(scenario, b, factor)}"


def with_as_many(scenario, asked):
    """The kind with as many repeats, or as many steps in blocks as a run of that length has."""
    if scenario.runs > 1:
        return dataclasses.replace(scenario, runs=int(asked))
    return dataclasses.replace(scenario, steps=int(asked), blocks=512)


def simulate_needed(scenario, first, count):
    result = Needed()
    generators = [pair_rng(f"needed {scenario.name}", index) for index in range(first, first + count)]
    pilots = compare([simulated(scenario, rng) for rng in generators])
    later = []
    for rng, pilot in zip(generators, pilots):
        asked = pilot[REPEATS if scenario.runs > 1 else VALUES]
        if pilot[P] < 0.05 or math.isnan(asked):
            result.has_enough += 1
        elif asked * (scenario.steps if scenario.runs > 1 else 1) > MOST_STEPS:
            result.asks_too_much += 1
        else:
            result.asked.append(asked)
            later.append(simulated(with_as_many(scenario, asked), rng, WANTED))
    result.found = sum(answer[P] < 0.05 for answer in compare(later)) if later else 0
    return result


def needed(scenario, pairs, workers):
    tasks = [workers.submit(simulate_needed, scenario, first, min(PAIRS_PER_TASK, pairs - first))
             for first in range(0, pairs, PAIRS_PER_TASK)]
    total = Needed()
    for task in tasks:
        one = task.result()
        total.asked += one.asked
        total.found += one.found
        total.has_enough += one.has_enough
        total.asks_too_much += one.asks_too_much
    return total


def row(scenario, result):
    deciles = statistics.quantiles(result.asked, n=10)
    had = f"{scenario.runs} repeats" if scenario.runs > 1 else f"{scenario.steps} steps"
    return (f"| {scenario.name} | {had} | {statistics.median(result.asked):.0f} ({deciles[0]:.0f} to {deciles[-1]:.0f}) | "
            f"{len(result.asked)} | {100 * result.found / len(result.asked):.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    print("| kind of job | has | asks for: median (10 to 90 %) | pairs that ask | found |\n|---|---|---:|---:|---:|")
    with executor(options.jobs) as workers:
        for scenario in KINDS:
            result = needed(scenario, options.pairs, workers)
            print(row(scenario, result), flush=True)
            if result.asks_too_much:
                print(f"  {result.asks_too_much} pairs asked for too much to simulate", flush=True)


if __name__ == "__main__":
    main()
