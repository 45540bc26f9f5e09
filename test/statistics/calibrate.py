#!/usr/bin/env python3
"""Compares simulated pairs of runs, prints how often the answers are right, and writes the table of docs/statistics.md.

    calibrate.py                       1,000 pairs per kind of job (`make statistics`; two minutes of two cores)
    calibrate.py --pairs 100 stalls    only kinds whose name contains a word, and no change to the page

Ends with 1 if a bound is exceeded: a difference claimed in more than 6.5 % of equal pairs, an interval that covers the truth
in fewer than 93 % or more than 97 %, a difference of 3 % found in fewer than 90 % where there is enough data.
"""
import argparse
import os
import pathlib
import sys

from calibration import SCENARIOS, executor, simulate

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "statistics.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
HEADER = ("| kind of job | steps | claimed | covered | found | t-test claimed | covered | hyperfine claimed | covered |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")


def percent(count, of):
    return f"{100 * count / of:.1f}" if of else "–"


def row(scenario, counts):
    ours = counts["trainscope"]
    steps = f"{scenario.runs} × {scenario.steps}" if scenario.runs > 1 else f"{scenario.steps}"
    found = percent(ours.found, ours.pairs) + (" ✓" if scenario.is_enough else "")
    cells = [scenario.name, steps,
             percent(ours.claimed, ours.pairs) if scenario.has_null else "–",
             percent(ours.covered, ours.pairs), found]
    for method in ("t-test", "hyperfine"):
        count = counts[method]
        cells += [percent(count.claimed, count.pairs) if scenario.has_null else "–", percent(count.covered, count.pairs)]
    return "| " + " | ".join(cells) + " |\n"


def faults(scenario, counts, pairs):
    ours = counts["trainscope"]
    if ours.pairs != pairs:
        yield f"{scenario.name}: {ours.without_answer} pairs without an answer"
        return
    if scenario.has_null and ours.claimed > 0.065 * pairs:
        yield f"{scenario.name}: a difference claimed in {percent(ours.claimed, pairs)} %"
    if not 0.93 * pairs <= ours.covered <= 0.97 * pairs:
        yield f"{scenario.name}: covered in {percent(ours.covered, pairs)} %"
    if scenario.is_enough and ours.found < 0.9 * pairs:
        yield f"{scenario.name}: found in {percent(ours.found, pairs)} %"


def write_page(table):
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{table}{END}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only kinds of job whose name contains one of these")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    chosen = [s for s in SCENARIOS if not arguments.words or any(word in s.name for word in arguments.words)]
    table, wrong = HEADER, []
    print(HEADER, end="", flush=True)
    with executor(arguments.jobs) as workers:
        for scenario in chosen:
            counts = simulate(scenario, arguments.pairs, workers)
            table += row(scenario, counts)
            print(row(scenario, counts), end="", flush=True)
            wrong += faults(scenario, counts, arguments.pairs)
    if chosen == SCENARIOS and arguments.pairs >= 1000:
        write_page(table)
    print("\n".join(wrong) or "all within bounds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
