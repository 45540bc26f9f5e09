#!/usr/bin/env python3
"""Runs the planted jobs of truth.toml, asks `trainscope diagnose`, and prints who was right.

    truth.py                         every case and form that this machine can run
    truth.py cpu_one_core sleeping   only these cases
    truth.py --seconds 6 --form bare

A run beside which others used more than 5 % of the machine is repeated, at most twice. Exit 1 if a verdict of a job
that reports phases is wrong, if more than 5 % of the others are wrong or fewer than 70 % right, or if anything above
`info` is found in a clean run.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
BIN = os.environ.get("TRAINSCOPE_BIN", str(HERE.parent.parent / "build" / "trainscope"))
NEEDS_MORE = {"input_slow_mount": "a slow mount", "memory_pressure": "a memory limit", "cpu_quota": "a CPU limit",
              "gloo_straggler": "PyTorch"}


def ask(home, *words):
    return json.loads(subprocess.run([BIN, *words, "--json"], env=home, check=True, stdout=subprocess.PIPE).stdout)


def background(home, info):
    """Cores that others used, as the run recorded it."""
    def rate(name, **labels):
        return sum(m["rate"] or 0 for m in info["metrics"] if m["name"] == name and m["rate"] is not None and
                   all(m["labels"].get(k) in v for k, v in labels.items()))
    busy = rate("system.cpu.time", cpu=("all",), state=("user", "nice", "system", "irq", "softirq"))
    return busy - rate("job.cpu.time") - rate("recorder.cpu.time")


def record(case, form, seconds, folder, home):
    neighbours = []
    if case["name"] == "noisy_neighbour":
        neighbours = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        subprocess.run([BIN, "run", "--quiet", "--name", f"{case['name']}-{form}", "--", sys.executable, "-B",
                        str(HERE / "jobs.py"), case["name"], form, str(seconds), folder],
                       env=home, check=True, stdout=subprocess.PIPE)
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()
    return ask(home, "info"), ask(home, "diagnose")


def score(case, answer):
    """right, abstained or wrong; and whether something was invented."""
    verdict, cause = answer["verdict"], answer["cause"] or ""
    raised = [f["id"] for f in answer["findings"] if f["severity"] != "info"] if case.get("clean") else []
    if verdict == "unknown":
        return "abstained", raised
    if verdict == case["verdict"]:
        is_right = not case["cause_counts"] or cause in (case["cause"], "")
        return ("right" if is_right else "wrong"), raised
    return ("right" if verdict in case["accept"] else "wrong"), raised


def judge(case, form, options, folder, home):
    for attempt in range(3):
        info, answer = record(case, form, options.seconds, folder, home)
        others = background(home, info)
        if case["name"] == "noisy_neighbour" or others < 0.05 * os.cpu_count() or options.busy:
            break
    result, raised = score(case, answer)
    print(f"{case['name']:22} {form:8} {result:9} {answer['verdict']:18} {answer['cause'] or '–':14} "
          f"{answer['confidence']:.2f}  others {others:.2f}  {' '.join(raised)}", flush=True)
    return {"case": case["name"], "form": form, "result": result, "verdict": answer["verdict"], "cause": answer["cause"],
            "confidence": answer["confidence"], "truth": case["verdict"], "raised": raised, "others": others}


def passes(results):
    told = [r for r in results if r["form"] != "bare"]
    bare = [r for r in results if r["form"] == "bare"]
    count = lambda rows, what: sum(r["result"] == what for r in rows)
    for name, rows in (("phases", told), ("bare", bare)):
        print(f"{name}: {len(rows)} runs, {count(rows, 'right')} right, {count(rows, 'wrong')} wrong, "
              f"{count(rows, 'abstained')} abstained")
    return (count(told, "right") == len(told) and count(bare, "wrong") <= 0.05 * len(bare) and
            count(bare, "right") >= 0.7 * len(bare) and not any(r["raised"] for r in results))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--form", action="append")
    parser.add_argument("--busy", action="store_true", help="do not repeat runs beside which others were busy")
    parser.add_argument("-o", "--out", help="write the results as JSON to this file")
    options = parser.parse_args()
    cases = tomllib.loads((HERE / "truth.toml").read_text())["case"]
    results = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("TRAINSCOPE_TRUTH_DIR", "/var/tmp")) as folder:
        home = {**os.environ, "TRAINSCOPE_HOME": folder + "/home"}
        for case in cases:
            if (options.cases and case["name"] not in options.cases) or case.get("machine") == "gpu":
                continue
            if case["name"] in NEEDS_MORE:
                print(f"{case['name']:22} skipped: needs {NEEDS_MORE[case['name']]}")
                continue
            for form in case["forms"]:
                if form != "instrument" and (not options.form or form in options.form):
                    results.append(judge(case, form, options, folder, home))
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(results, indent=1) + "\n")
    return 0 if passes(results) else 1


if __name__ == "__main__":
    sys.exit(main())
