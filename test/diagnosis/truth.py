#!/usr/bin/env python3
"""Runs the planted jobs of truth.toml, asks `trainscope diagnose`, and prints who was right.

    truth.py                         every case and form that this machine can run
    truth.py cpu_one_core sleeping   only these cases
    truth.py --seconds 6 --form bare
    truth.py --keep DIR              leave the runs in DIR/home
    truth.py --keep DIR --again      judge those runs again, and record nothing
    truth.py --write                 also write the tables into docs/diagnosis-validation.md

The form `instrument` needs TRAINSCOPE_TORCH_PYTHON, a Python with PyTorch (pip install torch), and cases of TensorFlow need
scripts/fetch-tensorflow; --write refuses without them. A run beside which others used more than 5 %
of the machine is repeated, at most twice. Exit 1 if a verdict of a job that reports phases or is instrumented is not
right, if more than 5 % of the others are wrong or fewer than 70 % right, or if anything above `info` is found in a clean run.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

from planted import NO_TENSORFLOW, NO_TORCH, Skipped, ask, background, is_busy, labelled_cases, record, score, wait_until_idle
from tables import confusion, count, tally, unexpected, write_part

FORMS = ("phases", "instrument", "bare")


def judge(case, form, options, folder):
    name, home = f"{case['name']}-{form}", folder / "home"
    for _ in range(3):
        if not options.again:
            if not options.busy:
                wait_until_idle(options.patience)
            record(case, form, options.seconds, folder, home)
        info = ask(home, "info", name)
        others = background(info)
        if options.again or options.busy or not is_busy(case, others):
            break
    answer = ask(home, "diagnose", name)
    result, raised = score(case, answer)
    print(f"{case['name']:22} {form:10} {result:9} {answer['verdict']:19} {answer['cause'] or '–':14} "
          f"{answer['confidence']:.2f}  others {others:.2f}  {' '.join(raised)}", flush=True)
    return {"case": case["name"], "form": form, "result": result, "verdict": answer["verdict"], "cause": answer["cause"],
            "confidence": answer["confidence"], "truth": case["verdict"], "raised": raised, "others": others,
            "busy": is_busy(case, others), "rules": answer["rules"], "recorded": info["run"]["started"][:10]}


def report(results):
    """Markdown: how often each form is right, what was said instead, and a confusion matrix per form."""
    parts = [tally(results, FORMS)]
    others = unexpected(results, "case")
    if others:
        parts.append("Not right: " + others)
    for form in FORMS:
        of_form = [row for row in results if row["form"] == form]
        if of_form:
            parts += [f"Verdicts, form `{form}`:", confusion(of_form)]
    return "\n\n".join(parts)


def recorded(results):
    """On which day or days: runs that were kept are older than their tables."""
    days = sorted({row["recorded"] for row in results})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def why_incomplete(results, skipped):
    """Why the rows of a form would be lost or small if the tables were written: what is not installed, or a form of which
    no job was recorded. "": they are complete."""
    judged = {row["form"] for row in results}
    reasons = {reason for _, reason in skipped if reason in (NO_TORCH, NO_TENSORFLOW)}
    reasons |= {f"no job was recorded in the form `{form}`" for form in FORMS if form not in judged}
    return "; ".join(sorted(reasons))


def write(results, skipped, options):
    """Disturbed runs do not count. `skipped`: (case and form, reason)."""
    counted = [row for row in results if not row["busy"]]
    skipped = skipped + [(f"{row['case']} ({row['form']})", "disturbed by others") for row in results if row["busy"]]
    if not counted:
        print("nothing written: every run was disturbed")
        return
    runs = "kept runs" if options.again else f"one run of {options.seconds:g} s per case and form"
    parts = [f"Rules version {counted[0]['rules']}, recorded {recorded(counted)}, {os.cpu_count()} cores, {runs}. \"Right\" includes verdicts that the labels accept as well:", report(counted)]
    for reason in sorted({reason for _, reason in skipped}):
        names = ", ".join(name for name, why in skipped if why == reason)
        parts.append(textwrap.fill(f"Not counted, {reason}: {names}", 130, break_long_words=False))
    write_part("truth", "\n\n".join(parts))


def passes(results):
    told = [row for row in results if row["form"] != "bare"]
    bare = [row for row in results if row["form"] == "bare"]
    return (bool(results) and count(told, "right") == len(told) and count(bare, "wrong") <= 0.05 * len(bare) and
            count(bare, "right") >= 0.7 * len(bare) and not any(r["raised"] for r in results))


def run_all(options, folder):
    """The results, and what was skipped, with reasons."""
    results, skipped = [], []

    def skip(case, form, reason):
        skipped.append((f"{case['name']} ({form})", str(reason)))
        print(f"{case['name']:22} {form:10} skipped: {reason}", flush=True)
    for case in labelled_cases():
        if (options.cases and case["name"] not in options.cases) or case.get("machine") == "gpu":
            continue
        for form in case["forms"]:
            if options.form and form not in options.form:
                continue
            try:
                results.append(judge(case, form, options, folder))
            except Skipped as reason:
                skip(case, form, reason)
            except subprocess.CalledProcessError:
                if not options.again:
                    raise
                skip(case, form, "not recorded")
    return results, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--form", action="append", choices=FORMS)
    parser.add_argument("--busy", action="store_true", help="do not repeat runs beside which others were busy")
    parser.add_argument("--patience", type=float, default=60, metavar="S", help="wait so long for an idle machine (default: 60)")
    parser.add_argument("--keep", metavar="DIR", help="leave files and runs in DIR")
    parser.add_argument("--again", action="store_true", help="judge the runs in --keep DIR again")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/diagnosis-validation.md")
    parser.add_argument("-o", "--out", help="write the results as JSON to this file")
    options = parser.parse_args()
    if options.again and not options.keep:
        parser.error("--again needs --keep DIR")
    if options.write and (options.cases or options.form):
        parser.error("--write needs every case and form")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TRAINSCOPE_TRUTH_DIR", "/var/tmp")) as temporary:
        folder = pathlib.Path(options.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results, skipped = run_all(options, folder)
    print(report(results))
    lacks = why_incomplete(results, skipped) if options.write else ""
    if lacks:
        print(f"nothing written: {lacks}")
    elif options.write and results:
        write(results, skipped, options)
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(results, indent=1) + "\n")
    return 0 if passes(results) and not lacks else 1


if __name__ == "__main__":
    sys.exit(main())
