"""The limits that `doctor --measure` finds, compared with those of other programs: fio, STREAM's triad, CUDA's runtime.

Pairs alternate: ours, theirs, ours, theirs; a ratio is ours over theirs of one pair, and the median of the ratios should
be between 0.85 and 1.15. fio reads with the same blocks and as many threads from a file of the same size in the same
folder (ioengine=psync, direct=1).
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

from harness import BUILD, PROGRAM, ROOT, has, say, scratch_home, spread, table

NEAR = 0.15
MIB = 1 << 20
# name of the limit, fio's options, and how its result becomes ours
FIO = {
    "disk.read.sequential": (["--rw=read", "--bs=1M", "--numjobs=1"], "bw_bytes"),
    "disk.read.sequential_parallel": (["--rw=read", "--bs=1M", "--numjobs=8"], "bw_bytes"),
    "disk.read.random": (["--rw=randread", "--bs=4k", "--numjobs=1"], "iops"),
    "disk.read.random_parallel": (["--rw=randread", "--bs=4k", "--numjobs=32"], "iops"),
}
SCALES = {"By/s": (1e6, "MB/s"), "{operation}/s": (1e3, "k reads/s")}


def ours(kind, options, *more):
    """Our limits of one kind by name, with how each was measured."""
    words = [PROGRAM, "doctor", "--measure", "--json", "--only", kind, "--each", f"{options.limit_seconds:g}s", *more]
    document = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    for missing in document["limits_missing"]:
        say(f"  {missing['name']}: {missing['reason']}")
    return {limit["name"]: limit for limit in document["limits"]}


def fio(name, file, options):
    extra, key = FIO[name]
    parts = 8 if name == "disk.read.sequential_parallel" else 1  # each thread reads its own part
    part = f"{options.limit_size // parts}M"
    words = ["fio", "--name=limits", f"--filename={file}", "--ioengine=psync", "--direct=1", "--thread", "--group_reporting",
             "--time_based", f"--runtime={1000 * options.limit_seconds:.0f}ms", f"--size={part}",
             f"--offset_increment={part if parts > 1 else 0}", "--norandommap", "--output-format=json", *extra]
    out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return json.loads(out[out.index("{"):])["jobs"][0]["read"][key]


def disk_pairs(options):
    if not has("fio"):
        return say("  storage: skipped, fio is not installed (apt install fio)")
    pairs = {name: [] for name in FIO}
    with tempfile.TemporaryDirectory(dir=options.limit_data, prefix="trainscope-limits-") as folder:
        file = pathlib.Path(folder, "fio")
        subprocess.run(["fio", "--name=write", f"--filename={file}", "--rw=write", "--bs=1M", f"--size={options.limit_size}M",
                        "--direct=1", "--end_fsync=1"], check=True, stdout=subprocess.DEVNULL)
        for _ in range(options.limit_pairs):
            found = ours("disk", options, "--data", folder, "--size", str(options.limit_size))
            for name in FIO:
                pairs[name].append((found[name]["value"], fio(name, file, options)))
    return pairs


def memory_pairs(options):
    program = BUILD / "stream"
    if not has("gcc"):
        return say("  memory: skipped, gcc is not installed")
    subprocess.run(["gcc", "-O3", "-march=native", "-fopenmp", "-o", program, ROOT / "bench/stream.c"], check=True)
    pairs = []
    for _ in range(options.limit_pairs):
        limit = ours("memory", options).get("memory.bandwidth")
        if limit is None:
            return None
        array = int(re.search(r"arrays of (\d+) MiB", limit["how"])[1]) * MIB
        theirs = subprocess.run([program, str(array), f"{options.limit_seconds:g}"], check=True, capture_output=True)
        pairs.append((limit["value"], float(theirs.stdout)))
    return {"memory.bandwidth": pairs}


def gpu_pairs(options):
    if not os.path.exists("/dev/nvidiactl"):
        return say("  GPU: skipped, this machine has no NVIDIA GPU")
    if not has("nvcc"):
        return say("  GPU: skipped, nvcc is not installed")
    program = BUILD / "copies"
    subprocess.run(["nvcc", "-O2", "-std=c++17", "-o", program, ROOT / "bench/gpu/copies.cu"], check=True)
    pairs = {}
    for _ in range(options.limit_pairs):
        found = ours("gpu", options)
        theirs = subprocess.run([program, f"{options.limit_seconds / 3:g}"], check=True, capture_output=True, text=True)
        for line in theirs.stdout.splitlines():
            name, value = line.split()
            if name in found:
                pairs.setdefault(name, []).append((found[name]["value"], float(value)))
    return pairs


def summarize(name, pairs, unit):
    scale, unit_name = SCALES[unit]
    ratios = [mine / theirs for mine, theirs in pairs]
    middle = statistics.median(ratios)
    is_near = abs(middle - 1) <= NEAR
    row = [name, unit_name, spread([mine / scale for mine, _ in pairs]), spread([theirs / scale for _, theirs in pairs]),
           spread(ratios, 3), "met" if is_near else "MISSED"]
    return row, {"pairs": pairs, "ratio": middle, "met": is_near}


def run(options, idle_machine):
    BUILD.mkdir(parents=True, exist_ok=True)
    rows, results = [], {}
    with scratch_home():
        for measure in (memory_pairs, disk_pairs, gpu_pairs):
            idle_machine.wait()
            for name, pairs in (measure(options) or {}).items():
                row, results[name] = summarize(name, pairs, "{operation}/s" if "random" in name else "By/s")
                rows.append(row)
    if not rows:
        return None
    print(f"Limits: median [min-max] of {options.limit_pairs} pairs; target: ratio 1 ± {NEAR:g}\n")
    table(["limit", "unit", "ours", "theirs", "ours / theirs", ""], rows)
    return {"limits": results}
