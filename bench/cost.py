"""CPU and memory of recording one job: the lower bound, Trainscope, and other tools, measured alternately.

The lower bound reads the files that the recorder keeps open and does nothing else. strace of a recording of
the same job shows which files these are and how often each is read. CPU is what the kernel counted for
the whole of the programs (all processes and threads, reaped ones included) from the end of a warm-up on.
"""
import contextlib
import os
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import time

import other_tools
from harness import (BUILD, BackgroundLoad, Group, PROGRAM, children_of, has, info, recorder_pid, say, scratch_home, spread,
                     start_target, table, verdict)

WARM_UP_S = 5
PREAD = re.compile(r"([\d.]+) pread64\((\d+)<([^>]+)>, .*, (\d+), (\d+)\)\s+= (\d+)")


def start_trainscope(group, pid, rate):
    return group.start([PROGRAM, "attach", pid, "--every", f"{1e6 / rate:.0f}us", "--quiet"],
                       stdin=subprocess.DEVNULL)


def open_files(target_pid, seconds=6):
    """The list of the lower bound: which files the recorder reads at 10 Hz, and how often."""
    with scratch_home(), Group() as group, tempfile.NamedTemporaryFile("r") as log:
        supervisor = start_trainscope(group, target_pid, 10).pid
        recorder = recorder_pid(supervisor)
        time.sleep(2)
        held = sorted(os.readlink(f"/proc/{recorder}/fd/{fd}") for fd in os.listdir(f"/proc/{recorder}/fd"))
        tracer = subprocess.Popen(["strace", "-f", "-y", "-ttt", "-s", "0", "-e", "trace=pread64", "-o", log.name,
                                   "-p", str(recorder)], stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
        calls = PREAD.findall(log.read())
    by_fd = {}
    for when, fd, path, size, at, _ in calls:
        by_fd.setdefault((int(fd), path), []).append((float(when), int(size), int(at)))
    lines = []
    for (_, path), seen in sorted(by_fd.items()):
        readings = sum(1 for _, _, at in seen if at == 0)
        pace = "tick" if readings > 5 * seconds else "second"
        path = re.sub(rf"^/proc/({supervisor}|{recorder})/", "/proc/self/", path)
        lines.append(f"{pace} {round(len(seen) / readings)} {max(size for _, size, _ in seen)} {path}")
    kernel = [path for path in held if path.startswith(("/proc/", "/sys/")) and not os.path.isdir(path)]
    return lines, kernel


def measure(group, samples, rate, window_s, watched):
    """CPU per sample of the processes in the group, over a window after the warm-up."""
    time.sleep(WARM_UP_S)
    background = BackgroundLoad([group, watched])
    cpu, taken, begin = group.cpu_s(), samples(), time.monotonic()
    time.sleep(window_s)
    cpu, taken, wall = group.cpu_s() - cpu, samples() - taken, time.monotonic() - begin
    rss, pss = group.memory()
    return {"cpu_us_per_sample": cpu / max(taken, 1) * 1e6, "stored_hz": taken / wall, "asked_hz": rate,
            "cpu_percent": cpu / wall * 100, "rss_mb": rss / 1e6, "pss_mb": pss / 1e6,
            "background_cores": background.cores()}


def ticks_since_now(rate):
    begin = time.monotonic()
    return lambda: (time.monotonic() - begin) * rate


def measure_lower_bound(lines, rate, window_s, watched):
    with Group() as group:
        reader = group.start([BUILD / "lower_bound", f"{1e6 / rate:.0f}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        reader.stdin.write("\n".join(lines).encode())
        reader.stdin.close()
        got = measure(group, ticks_since_now(rate), rate, window_s, watched)
        group.stop()
        ticks, failed = map(int, reader.stdout.read().split())
    got["failed_preads_per_tick"] = failed / ticks
    return got


def measure_trainscope(pid, rate, window_s, watched):
    with scratch_home(), Group() as group:
        supervisor = start_trainscope(group, pid, rate)
        recorder = recorder_pid(supervisor.pid)
        time.sleep(1)  # opening the sources is not part of a sample
        before = thread_times(supervisor.pid, recorder)
        got = measure(group, ticks_since_now(rate), rate, window_s, watched)
        got["threads_us_per_sample"] = {name: (us - before.get(name, 0)) / (window_s + WARM_UP_S) / rate
                                        for name, us in thread_times(supervisor.pid, recorder).items()}
        supervisor.send_signal(signal.SIGTERM)  # a background shell ignores SIGINT
        supervisor.wait()
        sampling = info()["sampling"]
    # Missed samples cost nothing.
    taken = sampling["samples"] / (sampling["samples"] + sampling["missed"])
    got["cpu_us_per_sample"] /= taken
    got["stored_hz"] *= taken
    return got


def thread_times(supervisor, recorder):
    """CPU of each thread of the recorder and of the supervisor, in microseconds."""
    costs = {}
    for pid, prefix in ((recorder, ""), (supervisor, "supervisor ")):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                name = prefix + (task / "comm").read_text().strip()
                costs[name] = costs.get(name, 0) + int((task / "schedstat").read_text().split()[0]) / 1e3
    return costs


def measure_tool(tool, pids, rate, window_s, watched):
    with tempfile.TemporaryDirectory(prefix="trainscope-bench-") as folder, Group() as group:
        tool.start(group, pathlib.Path(folder), rate, pids)
        got = measure(group, tool.samples, rate, window_s, watched)
        dead = [process.args[0] for process in group.processes if process.poll() is not None]
        if dead:
            raise RuntimeError(f"{dead[0]} ended unexpectedly")
    return got


def plan(options, lines, pid):
    """The measurements of every round: by (name, rate)."""
    tasks = {}
    for rate in options.rates:
        # Trainscope's window includes the sealing of a block of 1000 rows and the slow readings of every 10 s.
        window = options.window or max(30, 1000 / rate)
        tasks["lower bound", rate] = lambda w, r=rate: measure_lower_bound(lines, r, options.window or 30, w)
        tasks["Trainscope", rate] = lambda w, r=rate, s=window: measure_trainscope(pid, r, s, w)
    if options.no_other_tools:
        return tasks
    pids = [pid, *children_of(pid)]
    for kind in other_tools.ALL:
        tool = kind()
        reason = tool.missing()
        if reason:
            say(f"  skipped: {tool.name}: {reason}")
            continue
        for rate in [tool.fastest_hz] if tool.fastest_hz else options.rates:
            tasks[tool.name, rate] = lambda w, p=tool, r=rate: measure_tool(p, pids, r, options.window or 20, w)
    return tasks


def run(options, idle_machine):
    if not has("strace"):
        say("  skipped: strace is not installed, so the recorder's files cannot be seen")
        return None
    idle_machine.wait()
    with Group() as watched:
        pid = start_target(watched).pid
        lines, held = open_files(pid)
        tasks = plan(options, lines, pid)
        results = {key: {} for key in tasks}  # by number of the round: one that failed is in none
        for number in range(options.rounds):
            for key, task in tasks.items():
                idle_machine.wait([watched])
                say(f"  round {number + 1} of {options.rounds}: {key[0]} at {key[1]} Hz")
                try:
                    results[key][number] = task(watched)
                except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                    say(f"  failed: {key[0]} at {key[1]} Hz: {error}")
        size, _ = watched.memory()
    report = {"target_rss_mb": size / 1e6, "lower_bound_files": lines, "held_open": held,
              "results": [{"who": who, "rate": rate, "rounds": list(r.values())} for (who, rate), r in results.items() if r]}
    report["ratios"] = compare(results, options.rates)
    show(report, results)
    return report


def paired(numerator, denominator):
    """The ratios of the rounds that both have."""
    return [numerator[number]["cpu_us_per_sample"] / denominator[number]["cpu_us_per_sample"]
            for number in sorted(numerator.keys() & denominator.keys())]


def compare(results, rates):
    """Trainscope compared with the lower bound, and other tools with Trainscope at the same or the requested rate."""
    ratios = []
    for rate in rates:
        ours = results["Trainscope", rate]
        to_lower_bound = paired(ours, results["lower bound", rate])
        if to_lower_bound:
            ratios.append({"name": f"Trainscope / lower bound at {rate} Hz", "ratios": to_lower_bound,
                           **verdict(statistics.median(to_lower_bound), 1.5)})
        cheapest = None
        for (who, tool_rate), got in results.items():
            if who in ("lower bound", "Trainscope") or (tool_rate != rate and tool_rate in rates):
                continue
            to_ours = paired(got, ours)
            if not to_ours:
                continue
            ratios.append({"name": f"{who} at {tool_rate} Hz / Trainscope at {rate} Hz", "ratios": to_ours})
            middle = statistics.median(to_ours)
            cheapest = min(cheapest or middle, middle)
        if cheapest is not None:
            ratios.append({"name": f"cheapest other tool / Trainscope at {rate} Hz", "ratios": [cheapest],
                           "below": False, **verdict(cheapest, 4, below=False)})
    return ratios


def show(report, results):
    ticks = sum(1 for line in report["lower_bound_files"] if line.startswith("tick"))
    print(f"Overhead of recording one job: 5 processes, {report['target_rss_mb'] / 1e3:.1f} GB resident, some busy.\n"
          f"The lower bound reads {ticks} files per tick and {len(report['lower_bound_files']) - ticks} per second.\n")
    rows = []
    for (who, rate), rounds in results.items():
        if rounds:
            column = lambda key: [got[key] for got in rounds.values()]
            rows.append([who, f"{rate}", spread(column("stored_hz")), spread(column("cpu_us_per_sample"), 0),
                         spread(column("cpu_percent"), 2), spread(column("rss_mb")), spread(column("pss_mb")),
                         f"{max(column('background_cores')):.2f}"])
    table(["", "requested Hz", "stored Hz", "CPU us/sample", "% of a core", "RSS MB", "PSS MB", "background cores"], rows)
    rows = []
    for ratio in report["ratios"]:
        target = f"{'>=' if ratio.get('below') is False else '<='} {ratio['limit']}" if "limit" in ratio else ""
        rows.append([ratio["name"], spread(ratio["ratios"], 2), target, {True: "met", False: "MISSED"}.get(ratio.get("met"), "")])
    table(["ratio of CPU per sample, median of the rounds", "", "target", ""], rows)
    rows = []
    for (who, rate), rounds in results.items():
        if who == "Trainscope" and rounds:
            names = next(iter(rounds.values()))["threads_us_per_sample"]
            for name in sorted(names, key=names.get, reverse=True):
                each = [got["threads_us_per_sample"].get(name, 0) for got in rounds.values()]
                if statistics.median(each) >= 0.05:
                    rows.append([f"{rate} Hz", name, spread(each)])
    table(["Trainscope's threads", "", "CPU us/sample"], rows)
