"""Records the planted jobs of truth.toml, and judges what `trainscope diagnose` says of them."""
import json
import os
import pathlib
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
BIN = os.environ.get("TRAINSCOPE_BIN", str(HERE.parent.parent / "build" / "trainscope"))
TORCH_PYTHON = os.environ.get("TRAINSCOPE_TORCH_PYTHON")
MOST_BACKGROUND = 0.05  # of the machine
CANNOT = 77
NO_TORCH = "set TRAINSCOPE_TORCH_PYTHON to a Python with PyTorch (pip install torch)"
NO_TENSORFLOW = "TensorFlow is not there: scripts/fetch-tensorflow"
SLOW_MOUNT_BYTES_PER_S, CORES_ALLOWED, MEMORY_ALLOWED = 20e6, 0.5, 128 << 20
SIZE_RECLAIMED = 32 << 20


class Skipped(Exception):
    """This machine cannot run the case."""


def labelled_cases():
    return tomllib.loads((HERE / "truth.toml").read_text())["case"]


def environment(home):
    """Nothing but the home of the runs differs from that of the caller."""
    return {**os.environ, "TRAINSCOPE_HOME": str(home)}


def ask(home, *words):
    asked = subprocess.run([BIN, *words, "--json"], env=environment(home), check=True, stdout=subprocess.PIPE)
    return json.loads(asked.stdout)


def background(info):
    """Cores that others used, as the run recorded it."""
    def rate(name, **labels):
        return sum(m["rate"] or 0 for m in info["metrics"] if m["name"] == name and m["rate"] is not None and
                   all(m["labels"].get(k) in v for k, v in labels.items()))
    busy = rate("system.cpu.time", cpu=("all",), state=("user", "nice", "system", "irq", "softirq"))
    return busy - rate("job.cpu.time") - rate("recorder.cpu.time")


def stolen(info):
    """Cores that the hypervisor did not give."""
    return sum(m["rate"] or 0 for m in info["metrics"] if m["name"] == "system.cpu.time" and
               m["labels"].get("cpu") == "all" and m["labels"].get("state") == "steal")


def busy_cores(over_s=1):
    """Cores that the machine uses now."""
    def ticks():
        user, nice, system, _, _, irq, softirq = map(int, pathlib.Path("/proc/stat").read_text().split()[1:8])
        return user + nice + system + irq + softirq
    before = ticks()
    time.sleep(over_s)
    return (ticks() - before) / os.sysconf("SC_CLK_TCK") / over_s


def wait_until_idle(patience_s):
    """Returns whether the machine became idle."""
    end = time.monotonic() + patience_s
    while busy_cores() >= MOST_BACKGROUND * os.cpu_count():
        if time.monotonic() > end:
            return False
    return True


def is_busy(case, others):
    return case["name"] != "noisy_neighbour" and others >= MOST_BACKGROUND * os.cpu_count()


def tensorflow_python():
    where = HERE.parent.parent / "scripts" / "fetch-tensorflow"
    found = subprocess.run([where, "--where"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if found.returncode != 0:
        raise Skipped(NO_TENSORFLOW)
    return found.stdout.strip()


def job_command(name, form, seconds, folder, sizes):
    if name.startswith("keras_"):
        return [tensorflow_python(), "-B", str(HERE / "keras_jobs.py"), name, str(seconds), str(folder)]
    if form != "instrument":
        return [sys.executable, "-B", str(HERE / "jobs.py"), name, form, str(seconds), str(folder), json.dumps(sizes)]
    if not TORCH_PYTHON:
        raise Skipped(NO_TORCH)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"] if name == "gloo_straggler" else []
    return [TORCH_PYTHON, "-B", *launcher, str(HERE / "torch_jobs.py"), name, str(seconds), str(folder)]


def surroundings(name, folder):
    """The command that runs a command where the case needs it."""
    python = [sys.executable, "-B"]
    if name == "input_slow_mount":
        return [*python, str(HERE / "slow_mount.py"), str(folder / "slow"), str(SLOW_MOUNT_BYTES_PER_S)]
    if name == "cpu_quota":
        return [*python, str(HERE / "limits.py"), "cpu", str(CORES_ALLOWED)]
    if name == "memory_pressure":
        return [*python, str(HERE / "limits.py"), "memory", str(MEMORY_ALLOWED)]
    return []


def record(case, form, seconds, folder, home, sizes=None, run_name=None):
    """Records the case once. Raises Skipped with the reason if this machine cannot."""
    name = case["name"]
    how = ["--instrument"] if form == "instrument" else []
    recorder = [BIN, "run", "--quiet", *how, "--name", run_name or f"{name}-{form}", "--"]
    command = [*surroundings(name, folder), *recorder, *job_command(name, form, seconds, folder, sizes or {})]
    try:
        run(name, command, home)
    except Skipped:
        if name != "memory_pressure":
            raise
        # No cgroup may be divided: the kernel is asked to reclaim pages of the job, which has fewer of them.
        job = job_command(name, form, seconds, folder, {"size": SIZE_RECLAIMED, **(sizes or {})})
        run(name, [sys.executable, "-B", str(HERE / "reclaim.py"), str(folder / "mapped"), *recorder, *job], home)


def run(name, command, home):
    neighbours = []
    if name == "noisy_neighbour":
        neighbours = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        ran = subprocess.run(command, env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()
    if ran.returncode == CANNOT:
        raise Skipped(ran.stderr.strip().splitlines()[-1])
    if ran.returncode != 0:
        raise RuntimeError(f"{name}: {' '.join(command)} ended with {ran.returncode}:\n{ran.stderr}")


def score(case, answer):
    """right, abstained or wrong; and the findings that a clean run must not have. Where the cause counts, a verdict
    without one is an abstention."""
    verdict, cause = answer["verdict"], answer["cause"] or ""
    raised = [f["id"] for f in answer["findings"] if f["severity"] != "info"] if case.get("clean") else []
    if verdict == "unknown":
        return "abstained", raised
    if verdict == case["verdict"] and case["cause_counts"] and cause != case["cause"]:
        return ("wrong" if cause else "abstained"), raised
    if verdict == case["verdict"]:
        return "right", raised
    return ("right" if verdict in case["accept"] else "wrong"), raised
