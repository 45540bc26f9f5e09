"""Simulated step times of which the truth is known. Knows nothing of the code that judges them.

A step takes base x run x drift x noise seconds, or `stall` times as long while a stall lasts:
- noise is lognormal with mean 1; its logarithm is correlated with that of the step before (AR(1));
- stalls begin at random and last a geometric number of steps;
- drift has mean 1 over the run: it changes when steps are slow, not how slow the run is;
- run is a factor of the whole run: two runs of one configuration differ by it.
"""
import dataclasses
import math
import random


@dataclasses.dataclass(frozen=True)
class World:
    """A kind of job: how its step times vary."""
    correlation: float = 0.0       # of neighbouring steps
    spread: float = 0.15           # standard deviation of the noise's logarithm
    drift: str = "none"            # a key of DRIFTS
    drift_size: float = 0.1        # largest change over the run, drawn anew for each run, either way
    stall_every: int = 0           # steps between stalls, on average; 0: no stalls
    stall_steps: int = 40          # mean length of a stall
    stall: float = 4.0             # how many times as long a step of a stall takes
    run_spread: float = 0.0        # standard deviation of the logarithm of a run's factor


@dataclasses.dataclass(frozen=True)
class Run:
    steps: list                    # seconds
    truth: float                   # the expectation of the mean step time of this very run


def line(u):
    return 2 * u - 1


def settling(u):
    return 2 * math.exp(-6 * u)


def wave(u):
    return math.sin(3 * math.pi * u + 1)


def shift(u):
    return 1.0 if u > 0.7 else -1.0


DRIFTS = {"line": line, "settling": settling, "wave": wave, "shift": shift}


def drift_factors(world, count, rng):
    if world.drift == "none":
        return None
    shape = [DRIFTS[world.drift]((i + 0.5) / count) for i in range(count)]
    mean = sum(shape) / count
    size = rng.uniform(-world.drift_size, world.drift_size) / 2
    return [1 + size * (value - mean) for value in shape]


def simulate_run(world, count, base, rng):
    """A run of `count` steps whose configuration takes `base` seconds per step."""
    gauss, exp, draw = rng.gauss, math.exp, rng.random
    factor = exp(gauss(0, world.run_spread) - world.run_spread ** 2 / 2) if world.run_spread else 1.0
    level = base * factor
    drift = drift_factors(world, count, rng)
    rho, spread = world.correlation, world.spread
    innovation, offset = math.sqrt(1 - rho * rho), -spread * spread / 2
    state, steps = gauss(0, 1), []
    append = steps.append
    for _ in range(count):
        append(level * exp(spread * state + offset))
        state = rho * state + innovation * gauss(0, 1)
    truth = level
    if world.stall_every:
        begin, end = 1 / world.stall_every, 1 / world.stall_steps
        share = begin / (begin + end)
        truth *= 1 + share * (world.stall - 1)
        is_stalled = draw() < share
        for i in range(count):
            if is_stalled:
                steps[i] *= world.stall
            is_stalled = draw() >= end if is_stalled else draw() < begin
    if drift:
        steps = [step * change for step, change in zip(steps, drift)]
    return Run(steps, truth)


def simulate_side(world, runs, count, base, rng):
    return [simulate_run(world, count, base, rng) for _ in range(runs)]


def pair_rng(name, index):
    """The same numbers for the same pair, whatever else is simulated."""
    return random.Random(f"{name}/{index}")


def blocks(steps, most):
    """(mean, steps) of at most `most` equal consecutive blocks."""
    count = min(most, len(steps))
    edges = [len(steps) * i // count for i in range(count + 1)]
    return [(sum(steps[i:j]) / (j - i), j - i) for i, j in zip(edges, edges[1:])]


def blocks_of_time(steps, most):
    """(mean, steps) of blocks of equal time; a step belongs to the block in which it ends. Blocks without a step are left out."""
    width, now, members = sum(steps) / most * (1 + 1e-9), 0.0, {}
    for step in steps:
        now += step
        members.setdefault(int(now / width), []).append(step)
    return [(sum(held) / len(held), len(held)) for _, held in sorted(members.items())]
