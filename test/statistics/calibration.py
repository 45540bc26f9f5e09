"""How often comparisons of simulated runs are right: by src/stats, by a plain t-test and by hyperfine's ratio."""
import concurrent.futures
import dataclasses
import math
import operator
import os
import statistics
import subprocess

from simulator import World, blocks, blocks_of_time, pair_rng, simulate_side

EFFECTS = os.path.abspath(os.environ.get("TRAINSCOPE_EFFECTS", "build/release/statistics-effects"))
DIFFERENCE = 1.03
NORMAL = statistics.NormalDist().inv_cdf(0.975)
PAIRS_PER_TASK = 50


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    world: World
    steps: int = 4096
    runs: int = 1                  # per side
    blocks: int = 512              # per run, at most
    is_by_time: bool = False       # blocks of equal time, not of equally many steps
    is_enough: bool = False        # a difference of 3 % must be found

    @property
    def has_null(self):
        """Whether equal configurations are no difference: two single runs with own factors do differ."""
        return self.runs > 1 or not self.world.run_spread


STALLS = dict(stall_every=800, stall_steps=20, stall=3.0)
SCENARIOS = [
    Scenario("independent steps, skewed", World(spread=0.3), is_enough=True),
    Scenario("correlation 0.5", World(correlation=0.5), is_enough=True),
    Scenario("correlation 0.9", World(correlation=0.9, spread=0.1), steps=8192, is_enough=True),
    Scenario("correlation 0.9, strongly skewed", World(correlation=0.9, spread=0.5)),
    Scenario("correlation 0.9, blocks of one step", World(correlation=0.9), steps=512),
    Scenario("correlation 0.7, 64 blocks of one step", World(correlation=0.7), steps=64, blocks=64),
    Scenario("correlation 0.7, 20 blocks of one step", World(correlation=0.7), steps=20, blocks=20),
    Scenario("correlation 0.7, 8 blocks of one step", World(correlation=0.7), steps=8, blocks=8),
    Scenario("long stalls", World(correlation=0.3, **STALLS), steps=8192),
    Scenario("long stalls, blocks of equal time", World(correlation=0.3, **STALLS), steps=8192, is_by_time=True),
    Scenario("drift along a line", World(correlation=0.5, drift="line"), is_enough=True),
    Scenario("settling drift", World(correlation=0.7, drift="settling"), is_enough=True),
    Scenario("drift as a slow wave", World(correlation=0.7, drift="wave"), is_enough=True),
    Scenario("a shift during the run", World(correlation=0.7, drift="shift"), is_enough=True),
    Scenario("all of it, runs differ by 1.5 %",
             World(correlation=0.9, spread=0.3, drift="line", run_spread=0.015, **STALLS), steps=8192),
    Scenario("2 runs, differing by 1 %", World(correlation=0.7, run_spread=0.01), steps=512, runs=2),
    Scenario("2 runs, differing by 2 %", World(correlation=0.7, run_spread=0.02), steps=512, runs=2),
    Scenario("3 runs, differing by 1 %", World(correlation=0.7, run_spread=0.01), steps=512, runs=3),
    Scenario("3 runs, all of it, differing by 2 %",
             World(correlation=0.9, spread=0.3, drift="settling", run_spread=0.02, **STALLS), steps=1024, runs=3),
    Scenario("5 runs, differing by 2 %", World(correlation=0.7, drift="line", run_spread=0.02), steps=512, runs=5),
    Scenario("6 runs, differing by 1 %", World(correlation=0.7, spread=0.1, run_spread=0.01), steps=1024, runs=6,
             is_enough=True),
    Scenario("14 runs, differing by 2 %", World(correlation=0.7, spread=0.1, drift="line", run_spread=0.02), steps=1024,
             runs=14, is_enough=True),
]


@dataclasses.dataclass
class Count:
    """What one method did over pairs of equal and of different configurations."""
    pairs: int = 0
    claimed: int = 0               # a difference, of equal configurations
    found: int = 0                 # the difference, of different ones
    covered: int = 0               # the truth is in the interval, of equal ones
    without_answer: int = 0

    def add(self, other):
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    def judge(self, interval, truth):
        self.pairs += 1
        low, high = interval
        self.claimed += not low <= 1 <= high
        self.covered += low <= truth <= high


def moments(values):
    """Mean and standard deviation; those of the module statistics are exact and take fifty times as long."""
    mean = sum(values) / len(values)
    squares = sum(map(operator.mul, values, values)) - len(values) * mean * mean
    return mean, math.sqrt(max(0.0, squares) / (len(values) - 1))


def plain_t(a, b):
    """The ratio's interval as if all steps were independent."""
    (mean_a, spread_a), (mean_b, spread_b) = moments(a), moments(b)
    error = math.hypot(spread_a / mean_a / math.sqrt(len(a)), spread_b / mean_b / math.sqrt(len(b)))
    return mean_b / mean_a * math.exp(-NORMAL * error), mean_b / mean_a * math.exp(NORMAL * error)


def hyperfine(a, b):
    """What hyperfine prints as RATIO ± X: standard deviations, propagated (src/benchmark/relative_speed.rs)."""
    (mean_a, spread_a), (mean_b, spread_b) = moments(a), moments(b)
    ratio = mean_b / mean_a
    spread = ratio * math.hypot(spread_a / mean_a, spread_b / mean_b)
    return ratio - spread, ratio + spread


def written(scenario, side, factor=1.0):
    divide = blocks_of_time if scenario.is_by_time else blocks
    return ";".join(" ".join(f"{mean * factor:.9g}:{held}" for mean, held in divide(run.steps, scenario.blocks))
                    for run in side)


def measurements(side):
    """All steps of a side, or the mean of each run where there are repeats, as hyperfine would be given them."""
    if len(side) == 1:
        return side[0].steps
    return [sum(run.steps) / len(run.steps) for run in side]


def compare(lines):
    """One answer of the program per line: a list of numbers, empty if there is none."""
    done = subprocess.run([EFFECTS], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    answers = done.stdout.splitlines()
    if len(answers) != len(lines):
        raise RuntimeError(f"{len(answers)} answers to {len(lines)} lines")
    return [[] if answer == "nothing" else [float(word) for word in answer.split()] for answer in answers]


def simulate_pairs(scenario, first, count):
    """Counts of each method over these pairs."""
    counts = {"trainscope": Count(), "t-test": Count(), "hyperfine": Count()}
    lines, truths = [], []
    for index in range(first, first + count):
        rng = pair_rng(scenario.name, index)
        a, b = (simulate_side(scenario.world, scenario.runs, scenario.steps, 1.0, rng) for _ in range(2))
        truth = b[0].truth / a[0].truth if scenario.runs == 1 else 1.0
        truths.append(truth)
        of_a = written(scenario, a)
        lines += [f"means|{of_a}|{written(scenario, b)}", f"means|{of_a}|{written(scenario, b, DIFFERENCE)}"]
        steps = [[step for run in side for step in run.steps] for side in (a, b)]
        counts["t-test"].judge(plain_t(*steps), truth)
        counts["hyperfine"].judge(hyperfine(*map(measurements, (a, b))), truth)
    answers = compare(lines)
    ours = counts["trainscope"]
    for truth, equal, different in zip(truths, answers[::2], answers[1::2]):
        if not equal or not different:
            ours.without_answer += 1
            continue
        ours.judge(equal[3:5], truth)
        ours.found += different[8] < 0.05
        if (equal[8] < 0.05) != (not equal[3] <= 1 <= equal[4]):
            raise RuntimeError(f"the p-value contradicts the interval: {equal}")
    return counts


def simulate(scenario, pairs, executor):
    """Counts of each method over all pairs, by several processes."""
    tasks = [executor.submit(simulate_pairs, scenario, first, min(PAIRS_PER_TASK, pairs - first))
             for first in range(0, pairs, PAIRS_PER_TASK)]
    total = {}
    for task in tasks:
        for method, count in task.result().items():
            total.setdefault(method, Count()).add(count)
    return total


def executor(jobs):
    return concurrent.futures.ProcessPoolExecutor(max_workers=jobs)
