"""The common part of all benchmarks: waiting for an idle machine, CPU time, programs, statistics, tables."""
import contextlib
import datetime
import json
import os
import pathlib
import platform
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("TRAINSCOPE_BIN", ROOT / "build/trainscope"))
WORKLOAD = pathlib.Path(os.environ.get("TRAINSCOPE_WORKLOAD", ROOT / "build/trainscope-workload"))
BUILD = ROOT / "build/bench"
CGROUP_V1, CGROUP_V2 = "/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup"
PAGE = os.sysconf("SC_PAGESIZE")


def say(text):
    print(text, file=sys.stderr, flush=True)


def build_programs():
    """Compiles bench/*.cpp into build/bench if they are out of date."""
    BUILD.mkdir(parents=True, exist_ok=True)
    client = (ROOT / "clients/c/trainscope.h").stat().st_mtime
    for source in sorted((ROOT / "bench").glob("*.cpp")):
        program = BUILD / source.stem
        if program.exists() and program.stat().st_mtime >= max(client, source.stat().st_mtime):
            continue
        subprocess.run(["g++", "-O2", "-std=c++20", "-Wall", "-Wextra", "-pthread",
                        "-o", program, source], check=True)


def children_of(pid):
    """The processes below pid, nearest first."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                stat = pathlib.Path(f"/proc/{name}/stat").read_text()
                parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(name))
    found = [pid]
    for each in found:
        found += parents.get(each, [])
    return found[1:]


class Group:
    """Programs whose CPU time is counted together: by their own cgroup, which includes all ended children,
    or, if none can be created, by the CPU clocks of living processes."""
    made = 0

    def __init__(self):
        Group.made += 1
        self.processes = []
        self.tasks = self.usage = None
        name = f"trainscope-bench-{os.getpid()}-{Group.made}"
        for base, tasks, usage in ((CGROUP_V1, "tasks", "cpuacct.usage"), (CGROUP_V2, "cgroup.procs", "cpu.stat")):
            folder = pathlib.Path(base, name)
            if not pathlib.Path(base, tasks).exists():
                continue
            with contextlib.suppress(OSError):
                folder.mkdir()
                self.tasks, self.usage = folder / tasks, folder / usage
                break

    def start(self, command, **options):
        def enter():
            self.tasks.write_text(str(os.getpid()))

        process = subprocess.Popen([str(word) for word in command],
                                   preexec_fn=enter if self.tasks else None, **options)
        self.processes.append(process)
        return process

    def pids(self):
        if self.tasks:
            return sorted({int(task) for task in self.tasks.read_text().split()
                           if os.path.exists(f"/proc/{task}/stat")} & set(map(int, filter(str.isdigit, os.listdir("/proc")))))
        return [pid for p in self.processes for pid in [p.pid] + children_of(p.pid)]

    def cpu_s(self):
        if not self.tasks:
            total = 0
            for pid in self.pids():
                with contextlib.suppress(OSError):
                    total += time.clock_gettime((~pid << 3) | 2)
            return total
        text = self.usage.read_text()
        if text.startswith("usage_usec"):
            return int(text.split()[1]) / 1e6
        return int(text) / 1e9

    def memory(self):
        """Resident and proportional bytes of all its processes."""
        rss = pss = 0
        for pid in self.pids():
            with contextlib.suppress(OSError):
                rss += int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
                for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                    if line.startswith("Pss:"):
                        pss += int(line.split()[1]) * 1024
        return rss, pss

    def stop(self, how=signal.SIGTERM):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(how)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(10)
            if process.poll() is None:
                process.kill()
                process.wait()
        for _ in range(50):
            if not self.tasks:
                return
            with contextlib.suppress(OSError):
                self.tasks.parent.rmdir()
                return
            time.sleep(0.1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def machine_busy_s():
    """CPU time that this machine has spent on anything, including steal."""
    fields = pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    user, nice, system, _, _, irq, softirq, steal = (int(f) for f in fields)
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class BackgroundLoad:
    """Background load: the machine's CPU time minus that of our groups and of this program."""

    def __init__(self, groups=()):
        self.groups = groups
        self.begin, self.spent = time.monotonic(), self._background_s()

    def _background_s(self):
        own = time.process_time() + sum(group.cpu_s() for group in self.groups)
        return machine_busy_s() - own

    def cores(self):
        return max(0.0, (self._background_s() - self.spent) / (time.monotonic() - self.begin))


class IdleMachine:
    """Waits until the machine is idle; prints a message if it is not."""

    def __init__(self, limit_s, cores=0.05):
        self.limit_s, self.cores, self.waited = limit_s, cores, 0.0

    def wait(self, groups=()):
        while True:
            background = BackgroundLoad(groups)
            time.sleep(2)
            seen = background.cores()
            if seen <= self.cores or self.waited >= self.limit_s:
                return seen
            if self.waited == 0:
                say(f"  waiting for an idle machine: background load {seen:.2f} cores")
            time.sleep(3)
            self.waited += 5


def load_text():
    load = pathlib.Path("/proc/loadavg").read_text().split()[0]
    with contextlib.suppress(OSError):
        pressure = pathlib.Path("/proc/pressure/cpu").read_text().split()[2].partition("=")[2]
        return f"load {load}, CPU pressure of the last minute {pressure} %"
    return f"load {load}"


def machine():
    cpu = [line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
           if line.startswith("model name")]
    commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
                            capture_output=True, text=True, check=False).stdout.strip()
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "kernel": platform.release(), "cpu": f"{len(cpu)} x {cpu[0] if cpu else platform.machine()}",
            "commit": commit, "load": load_text()}


@contextlib.contextmanager
def scratch_home():
    """A folder for runs that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="trainscope-bench-") as folder:
        old = os.environ.get("TRAINSCOPE_HOME")
        os.environ["TRAINSCOPE_HOME"] = folder
        try:
            yield pathlib.Path(folder)
        finally:
            if old is None:
                del os.environ["TRAINSCOPE_HOME"]
            else:
                os.environ["TRAINSCOPE_HOME"] = old


def start_target(group, *options):
    target = group.start([BUILD / "target", *options], stdout=subprocess.PIPE)
    target.stdout.readline()
    time.sleep(1)
    return target


def recorder_pid(supervisor, limit_s=5):
    """The recorder below this supervisor, once it exists."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        for pid in children_of(supervisor):
            with contextlib.suppress(OSError):
                if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "trainscope-rec":
                    return pid
        time.sleep(0.05)
    raise RuntimeError("no trainscope-rec below the supervisor")


def info(run="latest"):
    out = subprocess.run([PROGRAM, "info", run, "--json"], check=True, capture_output=True)
    return json.loads(out.stdout)


def folder_bytes(folder):
    """Size of a run: all files except the job's output."""
    total = 0
    for entry in os.scandir(folder):
        if not (entry.name.startswith("output") and entry.name.endswith(".log")):
            with contextlib.suppress(OSError):
                total += entry.stat().st_size
    return total


def bootstrap(statistic, samples, rounds=2000, seed=1):
    """The 2.5 and 97.5 % points of a statistic of samples drawn with replacement."""
    draw = random.Random(seed)
    values = sorted(statistic([samples[draw.randrange(len(samples))] for _ in samples])
                    for _ in range(rounds))
    return values[int(0.025 * rounds)], values[int(0.975 * rounds)]


def spread(values, digits=1):
    """`median [min-max]`."""
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}-{max(values):.{digits}f}]"


def table(head, rows):
    rows = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[c]) for row in rows) for c in range(len(head))]
    for i, row in enumerate(rows):
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        if i == 0:
            print("  " + "  ".join("-" * width for width in widths))
    print(flush=True)


def verdict(measured, limit, below=True):
    met = measured <= limit if below else measured >= limit
    return {"measured": measured, "limit": limit, "met": met}


def verdict_text(name, v, unit=""):
    sign = "<=" if v.get("below", True) else ">="
    return f"  {'met   ' if v['met'] else 'MISSED'}  {name}: {v['measured']:.3g}{unit} (target {sign} {v['limit']:g}{unit})"


def has(program):
    return shutil.which(program) is not None
