"""What `trainscope probe` says of planted jobs without a GPU, beside what limits them.

PyTorch with 0, 1 and 4 workers (TRAINSCOPE_TORCH_PYTHON, or the Python that runs this), Keras (scripts/fetch-tensorflow) and
the built-in job, each of them input-bound, CPU-bound, with a hidden wait for data, and clean. A job times itself outside a
run, with its own input and with one batch that is there already, before its probe and after it. The true ratio of step
times is that of all four. It is inside or outside the interval of the probe's input as it is, without a tolerance.
"""
import json
import os
import subprocess
import sys
import tempfile

from harness import PROGRAM, ROOT, WORKLOAD, load_text, say, scratch_home

JOBS = ROOT / "bench/probed"
# What limits them, and what has to be said of the input.
KINDS = {"input": "limiting", "cpu": "not_limiting", "hidden": "not_limiting", "clean": "not_limiting"}
SKIPPED_STEPS = 20
WORKLOAD_WORDS = {"cpu": ["--batch", "128"], "hidden": ["--loaders", "1"], "clean": []}
INPUT_TIMES_STEP = 3  # how much longer than a step of the built-in job its slow input takes


def environment(trainscope_home=None):
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    return {**variables, "TRAINSCOPE_HOME": str(trainscope_home)} if trainscope_home else variables


class PythonJob:
    def __init__(self, name, python, script, workers=0):
        self.name, self.python, self.script, self.workers = name, python, JOBS / script, workers

    def missing(self):
        module = "torch" if "torch" in self.script.name else "tensorflow"
        if not self.python:
            return f"{module} is missing"
        found = subprocess.run([self.python, "-c", f"import {module}"], env=environment(), check=False, capture_output=True)
        return f"{self.python} has no {module}" if found.returncode != 0 else None

    def kinds(self):
        """Without workers nothing hides a wait."""
        return [kind for kind in KINDS if kind != "hidden" or self.workers > 0 or "torch" not in self.script.name]

    def command(self, kind):
        return [self.python, "-B", str(self.script), kind, str(self.workers)]

    def times(self, kind, seconds):
        """Seconds and steps of its own input, and of free input."""
        done = subprocess.run([*self.command(kind), f"{seconds:g}"], env=self.environment(kind), check=True, capture_output=True)
        found = json.loads(done.stdout.splitlines()[-1])
        return found["usual"], found["free"]

    def environment(self, kind, home=None):
        variables = environment(home)
        if kind == "clean":
            del variables["OMP_NUM_THREADS"]
        return variables


class BuiltIn:
    name = "workload"

    def __init__(self):
        self.slow = None

    def missing(self):
        return None if WORKLOAD.exists() else f"{WORKLOAD} does not exist"

    def kinds(self):
        return list(KINDS)

    def environment(self, _kind, home=None):
        return environment(home)

    def base(self):
        return [str(WORKLOAD), "train", "--model", "digits_cnn", "--threads", "1"]

    def timed(self, words, seconds):
        with tempfile.NamedTemporaryFile(prefix="trainscope-bench-") as log:
            subprocess.run([*self.base(), *words, "--seconds", f"{seconds + 1:g}s", "--step-log", log.name], env=environment(),
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            durations = [float(line.split()[2]) for line in log.read().decode().splitlines()]
        durations = durations[min(SKIPPED_STEPS, len(durations) // 2):]
        return sum(durations), len(durations)

    def words(self, kind):
        if kind != "input":
            return WORKLOAD_WORDS[kind]
        if self.slow is None:
            seconds, steps = self.timed(["--resident"], 1)
            self.slow = f"slow:{1000 * INPUT_TIMES_STEP * seconds / steps:.1f}ms"
        return ["--input", self.slow]

    def command(self, kind):
        return [*self.base(), *self.words(kind), "--seconds", "1h"]

    def times(self, kind, seconds):
        words = self.words(kind)
        size = words if "--batch" in words else []
        return self.timed(words, seconds), self.timed([*size, "--resident"], seconds)


def all_jobs():
    torch = os.environ.get("TRAINSCOPE_TORCH_PYTHON", sys.executable)
    found = subprocess.run([ROOT / "scripts/fetch-tensorflow", "--where"], capture_output=True, text=True, check=False)
    tensorflow = found.stdout.strip() if found.returncode == 0 else ""
    return [*(PythonJob(f"torch-{workers}", torch, "torch_job.py", workers) for workers in (0, 1, 4)),
            PythonJob("keras", tensorflow, "keras_job.py"), BuiltIn()]


def probe(job, kind, seconds, home):
    words = [str(PROGRAM), "probe", "--quiet", "--json", "--for", f"{seconds:g}s", "--", *job.command(kind)]
    done = subprocess.run(words, env=job.environment(kind, home), check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.decode(errors="replace"))
    return json.loads(done.stdout)


def measure(job, kind, options, home):
    pairs = [job.times(kind, options.truth_seconds)]
    document = probe(job, kind, options.probe_seconds, home)
    pairs.append(job.times(kind, options.truth_seconds))
    ratios = [(free_s / free) / (usual_s / usual) for (usual_s, usual), (free_s, free) in pairs]
    sums = [[sum(one[side][place] for one in pairs) for place in (0, 1)] for side in (0, 1)]
    usual, free = (seconds / steps for seconds, steps in sums)
    return {"job": job.name, "planted": kind, "step_s": usual, "true_ratio": free / usual, "true_ratios": ratios,
            "effects": document["effects"], "conclusion": document["conclusion"], "problem": document["problem"]}


def input_of(row):
    return next(effect for effect in row["effects"] if effect["what"] == "input")


def is_inside(row):
    effect = input_of(row)
    if effect["low"] is None:
        return None
    return effect["low"] <= row["true_ratio"] <= effect["high"]


def number_text(effect):
    if effect["low"] is None:
        return "–"
    return f"{effect['ratio']:.3f} [{effect['low']:.3f}, {effect['high']:.3f}], {effect['blocks']} blocks"


def effect_text(effect):
    verdict = effect["verdict"].replace("_", " ")
    return f"{effect['ratio']:.3f}, {verdict}" if effect["ratio"] is not None else verdict


def markdown_row(row):
    by_name = {effect["what"]: effect for effect in row["effects"]}
    before, after = row["true_ratios"]
    place = {True: "inside", False: "outside", None: "–"}[is_inside(row)]
    cells = [row["job"], row["planted"], f"{1000 * row['step_s']:.1f} ms",
             f"{row['true_ratio']:.3f} ({before:.3f}, {after:.3f})", number_text(by_name["input"]), place,
             by_name["input"]["verdict"].replace("_", " "), effect_text(by_name["host"]), effect_text(by_name["processors"]),
             row["conclusion"] or "–"]
    return "| " + " | ".join(cells) + " |"


def print_rows(rows):
    print("| job | planted | step | true ratio (before, after) | probe: input | the truth is | verdict | host | processors | together |\n"
          "|---|---|---:|---:|---|---|---|---|---|---|")
    for row in rows:
        print(markdown_row(row))
    inside, told = [is_inside(row) for row in rows], [input_of(row)["verdict"] for row in rows]
    right = sum(verdict == KINDS[row["planted"]] for row, verdict in zip(rows, told))
    wrong = sum(verdict not in (KINDS[row["planted"]], "cannot_tell") for row, verdict in zip(rows, told))
    print(f"\nThe truth is inside {inside.count(True)} of {len(rows)} intervals, outside {inside.count(False)}. What is said of the input is "
          f"right in {right}, wrong in {wrong}, and cannot be told in {len(rows) - right - wrong}.\n", flush=True)


def wanted(options):
    for job in all_jobs():
        kinds = [kind for kind in job.kinds() if not options.probe_jobs or
                 {job.name, kind, f"{job.name}:{kind}"} & set(options.probe_jobs.split(","))]
        if not kinds:
            continue
        if reason := job.missing():
            say(f"  {job.name}: skipped, {reason}")
            continue
        for kind in kinds:
            yield job, kind


def run(options, idle_machine):
    rows = []
    for job, kind in wanted(options):
        idle_machine.wait()
        with scratch_home() as home:
            rows.append(measure(job, kind, options, home))
        say(f"  {markdown_row(rows[-1])} {rows[-1]['problem'] or ''} ({load_text()})")
    if not rows:
        return None
    print(f"trainscope probe of {options.probe_seconds:g} s at most, beside jobs with free input:\n")
    print_rows(rows)
    return {"rows": rows}
