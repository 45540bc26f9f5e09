#!/usr/bin/env python3
"""What the program exports is what a second reader, written from the format page, finds in the files."""
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import report_file
from trainscope_test import recorders, wait_until

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import second_reader  # noqa: E402

BIN = os.environ.get("TRAINSCOPE_BIN", "build/trainscope")
# Two seconds, and enough steps on a busy machine too.
JOB = ("import os, time\nend = time.monotonic() + 2\npipe = open(os.environ['TRAINSCOPE_PIPE'], 'w')\nn = 0\n"
       "while n < 100 or time.monotonic() < end:\n"
       "  n += 1; sum(range(20000)); time.sleep(.005); print('step', n, f'loss={1 / n}', file=pipe, flush=True)\n"
       "  if n % 4 == 0: print('a line' + '!' * (n % 7), flush=True)\nopen(os.devnull, 'wb').write(bytes(1 << 20))")


def skip(reason):
    print(reason)
    sys.exit(77)


def environment_of(home):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TRAINSCOPE_")}
    return {**kept, "XDG_CONFIG_HOME": home, "TRAINSCOPE_HOME": home}


def trainscope(home, *words, **more):
    return subprocess.run([BIN, *words], env=environment_of(home), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, **more)


def read(home, *words):
    done = trainscope(home, *words)
    assert done.returncode == 0, (words, done.returncode, done.stderr.decode())
    return done.stdout.decode()


def table(samples):
    """{(time, metric, labels): value}; every sample once."""
    out = {}
    for time_s, metric, labels, value in samples:
        key = f"{float(time_s):.6f}", metric, labels
        while metric.startswith("train.") and key in out:  # lines that were read together have one time
            key = *key, "again"
        assert key not in out, f"{key} is there twice"
        out[key] = float(value)
    return out


def derived_metrics(info):
    """Those that have no column: computed, or made of the lines of progress."""
    return {m["name"] for m in info["metrics"] if m["derived"] or m["name"].startswith("train.")}


def compare(home, name):
    info = json.loads(read(home, "info", name, "--json"))
    rows = list(csv.reader(io.StringIO(read(home, "export", name, "--to", "csv"))))
    assert rows[0] == ["time_s", "metric", "labels", "value"], rows[0]
    times = [float(row[0]) for row in rows[1:]]
    assert times == sorted(times), "the export is not in order of time"
    derived = derived_metrics(info)
    ours = table(row for row in rows[1:] if row[1] not in derived)
    second = second_reader.Run(info["run"]["path"])
    theirs = table(second.samples)
    assert ours.keys() == theirs.keys(), (len(ours), len(theirs), list(ours.keys() ^ theirs.keys())[:5])
    wrong = [(key, ours[key], theirs[key]) for key in ours if ours[key] != theirs[key]]
    assert not wrong, wrong[:5]
    assert len(theirs) > 1000, len(theirs)
    assert info["sampling"]["samples"] == len(second.rows), (info["sampling"], len(second.rows))
    assert info["sampling"]["restarts"] == second.incarnations - 1
    counted = {m["name"]: 0 for m in info["metrics"]}
    for m in info["metrics"]:
        if m["name"] in counted and not m["derived"]:
            counted[m["name"]] += m["samples"]
    for metric in {key[1] for key in theirs}:
        assert counted[metric] == sum(1 for key in theirs if key[1] == metric), metric
    return len(theirs)


def compare_steps(home, name):
    rows = list(csv.reader(io.StringIO(read(home, "sql", name, "select step, time_s, loss from steps"))))[1:]
    path = json.loads(read(home, "info", name, "--json"))["run"]["path"]
    told = second_reader.Run(path).reports
    assert len(rows) == len(told) > 50, (len(rows), len(told))
    for (step, time_s, loss), (time_ns, source, message) in zip(rows, told):
        assert source == "pipe" and abs(float(time_s) - time_ns / 1e9) < 1e-9, (time_s, time_ns)
        assert message.split()[:2] == ["step", step] and float(message.split("=")[1]) == float(loss), message
    return len(told)


def compare_output(home, name):
    """The report has the time of each line that the files have."""
    path = os.path.join(home, f"{name}.html")
    read(home, "report", name, "-o", path)
    with open(path) as file:
        (run,) = report_file.Page(file.read()).data()["runs"].values()
    with open(os.path.join(json.loads(read(home, "info", name, "--json"))["run"]["path"], "manifest.json")) as file:
        zero_ns = json.load(file)["zero_monotonic_ns"]
    theirs = second_reader.dated_lines(os.path.dirname(file.name), zero_ns)
    ours = [(line["time_s"], line["text"]) for line in run["output"]["lines"]]
    assert run["output"]["times"] == "read", run["output"]["times"]
    assert [text for _, text in ours] == [text for _, text in theirs], (ours, theirs)
    wrong = [(one, other) for one, other in zip(ours, theirs) if abs(one[0] - max(0, other[0])) > 1e-9]
    assert not wrong and len(ours) > 20, (len(ours), wrong[:5])
    return len(ours)


def compare_other_forms(home, name):
    """jsonl, wide CSV and sql tell the same samples as the long CSV."""
    long = table(list(csv.reader(io.StringIO(read(home, "export", name, "--to", "csv"))))[1:])
    lines = [json.loads(line) for line in read(home, "export", name, "--to", "jsonl").splitlines()]
    assert lines[0]["schema"] == "trainscope.export/1"
    assert table((s["time_s"], s["metric"], second_reader.labels_text(s["labels"]), s["value"])
                 for s in lines[1:]) == long
    wide = list(csv.reader(io.StringIO(read(home, "export", name, "--to", "csv", "--wide"))))
    filled = sum(1 for row in wide[1:] for field in row[1:] if field)
    assert filled == len(long), (filled, len(long))
    rows = list(csv.reader(io.StringIO(read(home, "sql", name, "select time_s, metric, labels, value from samples"))))
    assert table(rows[1:]) == long
    one = read(home, "sql", name, "select count(*) from samples where metric = 'system.cpu.time'").split()[1]
    assert int(one) == sum(1 for key in long if key[1] == "system.cpu.time"), one


def recorded(home, name, *options):
    done = trainscope(home, "run", "--quiet", "--every", "20ms", "--name", name, *options, "--",
                      sys.executable, "-c", JOB)
    assert done.returncode == 0, (done.returncode, done.stderr.decode())


def killed_in_between(home):
    """A recorder that is killed: two incarnations, perhaps two segments; one run to both readers."""
    job = subprocess.Popen([BIN, "run", "--quiet", "--every", "20ms", "--name", "killed", "--",
                            sys.executable, "-c", JOB], env=environment_of(home), stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE)  # some lines only; what goes to /dev/null is not recorded
    # Some samples of the first recorder are on disk.
    wait_until(lambda: job.poll() is not None or trainscope(home, "sql", "killed", "select 1 from samples limit 1").stdout.split() == [b"1", b"1"])
    for pid in recorders(home):
        os.kill(pid, signal.SIGKILL)
    job.communicate(timeout=60)
    assert job.returncode == 0


def main():
    if not os.access(BIN, os.X_OK):
        skip(f"{BIN} is not built")
    if shutil.which("zstd") is None:
        skip("the program zstd is not installed")
    if b"run" not in subprocess.run([BIN, "--help"], capture_output=True).stdout.split():
        skip("the program has no `run` yet")
    with tempfile.TemporaryDirectory(prefix="second-reader-") as home:
        recorded(home, "plain")
        print("plain:", compare(home, "plain"), "samples agree")
        compare_other_forms(home, "plain")
        print("plain: jsonl, wide CSV and sql agree")
        killed_in_between(home)
        print("killed:", compare(home, "killed"), "samples agree")
        print("plain:", compare_steps(home, "plain"), "steps agree")
        for name in ("plain", "killed"):
            print(f"{name}:", compare_output(home, name), "lines agree")
        path = json.loads(read(home, "info", "plain", "--json"))["run"]["path"]
        with open(os.path.join(path, "manifest.json"), "w"):
            pass
        print("plain without a manifest:", compare(home, os.path.basename(path)), "samples agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
