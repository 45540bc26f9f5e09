#!/usr/bin/env python3
"""Records randomised planted jobs, and compares the confidence of the verdicts with how often they are right.

    calibrate.py --keep DIR                 200 jobs of 8 to 10 s, one after the other; continues where it was interrupted
    calibrate.py --keep DIR --jobs 40       a short one
    calibrate.py --keep DIR --again         judge the recorded runs again, after a change of the rules; records nothing
    calibrate.py --keep DIR --again --fit   the same, and print the table for src/analyze/support/confidence.cpp
    calibrate.py --keep DIR --again --score score the half that is held out, and write docs/diagnosis-validation.md

Kind, form, sizes and duration of a job follow from the seed and its number alone. Jobs with an odd number are held out:
nothing is fitted to them, and they are shown by --score only. That needs a program whose table is the fitted one, and is
done once: after it, other rules or another table are not scored any more, because they may follow from what was seen
(--score-anew does it nevertheless, and the document states it). A fifth of the jobs is clean. A run beside which others used
more than 5 % of the machine is repeated, at most twice; if it still was disturbed it does not count, and the next
invocation records it again. Results are lines of DIR/results.jsonl.
"""
import argparse
import datetime
import json
import pathlib
import random
import sys

import calibration
from planted import Skipped, ask, background, is_busy, labelled_cases, record, score, wait_until_idle
from tables import write_part

MB = 1 << 20
CASES = {case["name"]: case for case in labelled_cases() if case.get("machine") != "gpu"}


def between(low, high):
    return lambda rng: round(rng.uniform(low, high), 4)


def whole(low, high, unit=1):
    return lambda rng: rng.randint(low, high) * unit


# What is planted is true for every size in these ranges.
SIZES = {
    "input_disk": {"size": whole(8, 24, MB), "compute": between(0.002, 0.004)},
    "input_slow_mount": {"size": whole(1, 4, MB), "compute": between(0.002, 0.02)},
    "input_decode_main": {"decode": between(0.015, 0.06), "compute": between(0.001, 0.004)},
    "input_decode_workers": {"decode": between(0.03, 0.08), "compute": between(0.001, 0.003)},
    "input_slow_worker": {"fast": between(0.004, 0.008), "slow": between(0.06, 0.1), "compute": between(0.002, 0.004)},
    "input_few_workers": {"decode": between(0.03, 0.08), "compute": between(0.004, 0.012)},
    "input_small_files": {"batch": whole(300, 800), "compute": between(0.001, 0.003)},
    "input_cold_cache": {"size": whole(2, 8, MB), "compute": between(0.005, 0.015)},
    "cpu_one_core": {"compute": between(0.01, 0.1)},
    "cpu_all_cores": {},
    "cpu_oversubscribed": {"per_core": whole(3, 8)},
    "checkpoint_stalls": {"size": whole(96, 192, MB), "every": whole(5, 10), "compute": between(0.01, 0.02)},
    "periodic_stalls": {"stall": between(0.3, 0.8), "compute": between(0.01, 0.03)},
    "cpu_quota": {"compute": between(0.01, 0.06)},
    "noisy_neighbour": {},
    "sleeping": {},
    "ranks_straggler": {"compute": between(0.01, 0.03), "factor": between(2.5, 5),
                        "reporter_is_slow": lambda rng: rng.random() < 0.5},
    "clean_ranks": {"compute": between(0.015, 0.06)},
    "clean_prefetch": {"decode": between(0.002, 0.008), "compute": between(0.025, 0.06)},
    "clean_small_input": {"wait": between(0.0003, 0.001), "compute": between(0.015, 0.04)},
}


def draw(seed, number):
    rng = random.Random(f"{seed}/{number}")
    is_clean = rng.random() < 0.2
    kind = rng.choice(sorted(name for name in SIZES if bool(CASES[name].get("clean")) == is_clean))
    form = rng.choice([form for form in CASES[kind]["forms"] if form != "instrument"])
    sizes = {name: amount(rng) for name, amount in SIZES[kind].items()}
    return {"number": number, "kind": kind, "form": form, "sizes": sizes, "seconds": round(rng.uniform(8, 10), 1)}


def judged(job, home):
    """The job with the verdict on its run."""
    name = f"calibrate-{job['number']}"
    case, answer = CASES[job["kind"]], ask(home, "diagnose", name, "--explain")
    result, raised = score(case, answer)
    return {**job, "truth": case["verdict"], "verdict": answer["verdict"], "cause": answer["cause"], "result": result,
            "score": answer["score"], "confidence": answer["confidence"], "raised": raised, "rules": answer["rules"]}


def run(job, folder, patience_s):
    case, name = CASES[job["kind"]], f"calibrate-{job['number']}"
    for _ in range(3):
        wait_until_idle(patience_s)
        record(case, job["form"], job["seconds"], folder, folder / "home", job["sizes"], name)
        others = background(ask(folder / "home", "info", name))
        if not is_busy(case, others):
            break
    return judged({**job, "others": round(others, 3), "busy": is_busy(case, others)}, folder / "home")


class Results:
    """The last line of each job counts."""

    def __init__(self, path):
        self.path, self.rows = path, {}
        if path.exists():
            for line in path.read_text().splitlines():
                row = json.loads(line)
                self.rows[row["number"]] = row

    def add(self, row):
        self.rows[row["number"]] = row
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def is_done(self, number):
        return number in self.rows and not self.rows[number].get("busy")

    def counted(self):
        return [row for _, row in sorted(self.rows.items()) if "result" in row and not row["busy"]]


def record_all(options, folder, results):
    for number in range(options.jobs):
        if results.is_done(number):
            continue
        job = draw(options.seed, number)
        try:
            row = run(job, folder, options.patience)
        except Skipped as reason:
            row = {**job, "skipped": str(reason)}
        results.add(row)
        # The verdict of a job that is held out is not shown, so that nothing can be fitted to it.
        shown = "held out" if number % 2 else f"{row.get('result', 'skipped'):9} {row.get('verdict', '')}"
        busy = " (disturbed)" if row.get("busy") else ""
        print(f"{number:4} {job['kind']:20} {job['form']:7} {shown}{busy}", flush=True)


def judge_again(folder, results):
    for row in list(results.rows.values()):
        if "result" in row:
            results.add(judged(row, folder / "home"))


def score_held_out(fitted, held_out, options, folder):
    """Returns the exit code."""
    if not calibration.is_table_in_program(fitted):
        print(f"not scored: the table in {calibration.SOURCE.name} is not the one that is fitted to these runs. Put this "
              f"there, build, and run --again --score:\n{calibration.table(fitted)}")
        return 1
    path, judged_by = folder / "scored.json", {"rules": held_out[0]["rules"], "table": calibration.table(fitted)}
    before = json.loads(path.read_text()) if path.exists() else []
    if before and before[-1] != judged_by and not options.score_anew:
        print("not scored: the half that is held out was scored before, with other rules or another table")
        return 1
    if not before or before[-1] != judged_by:
        before.append(judged_by)
        path.write_text(json.dumps(before) + "\n")
    once = "scored once" if len(before) == 1 else f"scored {len(before)} times, each time with changed rules"
    head = (f"{datetime.date.today()}, rules version {judged_by['rules']}, seed {options.seed}. {len(fitted)} runs were fitted; "
            f"what follows is of the {len(held_out)} runs that were held out, {once}.")
    text = calibration.report(held_out)
    print(text)
    write_part("calibration", f"{head}\n\n{text}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", metavar="DIR", required=True, help="folder of the runs and results")
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=float, default=60, metavar="S", help="wait so long for an idle machine (default: 60)")
    parser.add_argument("--again", action="store_true", help="judge the recorded runs again")
    parser.add_argument("--fit", action="store_true", help="print the table of confidences")
    parser.add_argument("--score", action="store_true", help="score the half that is held out, once")
    parser.add_argument("--score-anew", action="store_true", help="score it although it was scored before")
    options = parser.parse_args()
    folder = pathlib.Path(options.keep)
    folder.mkdir(parents=True, exist_ok=True)
    results = Results(folder / "results.jsonl")
    is_scored = options.score or options.score_anew
    if options.again:
        judge_again(folder, results)
    elif not options.fit and not is_scored:
        record_all(options, folder, results)
    rows = results.counted()
    fitted, held_out = [r for r in rows if r["number"] % 2 == 0], [r for r in rows if r["number"] % 2]
    print(calibration.report(fitted))
    if options.fit:
        print(calibration.table(fitted))
    return score_held_out(fitted, held_out, options, folder) if is_scored else 0


if __name__ == "__main__":
    sys.exit(main())
