"""Jitter of samples at 100 Hz while every core is busy, and whether all missed ticks are reported."""
import math
import os
import pathlib
import signal
import subprocess
import time

from harness import BUILD, BackgroundLoad, Group, PROGRAM, info, recorder_pid, scratch_home, table, verdict

RATE = 100


def record(seconds, stop_s):
    """A run on busy cores; in its middle the recorder is stopped for stop_s. The run's info, the duration
    of the stop in ticks, the times of all samples, and the background load."""
    spin = str(os.cpu_count())
    with scratch_home(), Group() as group:
        background = BackgroundLoad([group])
        process = group.start([PROGRAM, "run", "--quiet", "--every", "10ms", "--", BUILD / "target",
                                    "--megabytes", "90", "--spin", spin, "--seconds", str(seconds)],
                                stdout=subprocess.DEVNULL)
        stopped = 0.0
        if stop_s:
            recorder = recorder_pid(process.pid)
            time.sleep(seconds / 2)
            os.kill(recorder, signal.SIGSTOP)
            while " (trainscope-rec) T" not in pathlib.Path(f"/proc/{recorder}/stat").read_text():
                pass
            begin = time.monotonic()
            time.sleep(stop_s)
            os.kill(recorder, signal.SIGCONT)
            stopped = time.monotonic() - begin
        process.wait()
        others = background.cores()
        known = info()
        out = subprocess.run([PROGRAM, "export", "latest", "--to", "csv", "--metric", "system.cpu.run_queue"],
                             check=True, capture_output=True, text=True).stdout
    times = [float(line.partition(",")[0]) for line in out.splitlines()[1:]]
    return known, stopped * RATE, times, others


def unaccounted(known, times):
    """Ticks that are neither sampled nor missed, and runs of three or more missing samples that no reported
    gap covers."""
    sampling = known["sampling"]
    due = math.floor(known["run"]["duration_s"] * RATE + 1e-6) + 1
    ticks = [math.floor(t * RATE + 1e-6) for t in times]
    missing = [(a + 1, b) for a, b in zip(ticks, ticks[1:]) if b - a > 3]
    reported = [(g["from_s"] * RATE, g["to_s"] * RATE) for g in sampling["gaps"] if g["reason"]]
    silent = [m for m in missing if not any(f <= m[0] + 1 and t >= m[1] - 1 for f, t in reported)]
    return due - sampling["samples"] - sampling["missed"], len(silent)


def run(options, idle_machine):
    idle_machine.wait()
    known, _, times, others = record(options.jitter_seconds, 0)
    sampling = known["sampling"]
    lost, silent = unaccounted(known, times)
    p50 = sampling["jitter_p50_s"] * 1e6
    stop_known, stop_ticks, stop_times, _ = record(max(6, options.jitter_seconds // 3), 1.5)
    stop_lost, stop_silent = unaccounted(stop_known, stop_times)
    longest = max(b - a for a, b in zip(stop_times, stop_times[1:])) * RATE - 1
    # Counted from the times of the samples themselves; ticks near the stop may be missed for other reasons.
    counted = math.floor(stop_known["run"]["duration_s"] * RATE + 1e-6) + 1 - len(stop_times)
    exact = counted == stop_known["sampling"]["missed"] and longest > stop_ticks - 2
    report = {"p50_us": verdict(p50, 100), "p99_us": sampling["jitter_p99_s"] * 1e6, "samples": sampling["samples"],
              "missed": sampling["missed"], "unaccounted_ticks": lost + stop_lost,
              "unaccounted_gaps": silent + stop_silent, "stopped_ticks": stop_ticks, "missed_in_gap": longest,
              "missed_reported": stop_known["sampling"]["missed"], "missed_counted": counted,
              "gaps": stop_known["sampling"]["gaps"], "exact": exact, "background_cores": others}
    longest_gap = max(stop_known["sampling"]["gaps"], key=lambda gap: gap["to_s"] - gap["from_s"], default={"reason": "none reported"})
    print(f"Jitter at {RATE} Hz, {os.cpu_count()} cores busy; background load {others:.2f} cores.\n")
    table(["", "", "target", ""],
          [["jitter p50, us", f"{p50:.0f}", "< 100", "met" if p50 < 100 else "MISSED"],
           ["jitter p99, us", f"{report['p99_us']:.0f}", "", ""],
           ["samples / missed", f"{sampling['samples']} / {sampling['missed']}", "", ""],
           ["ticks neither sampled nor missed", lost + stop_lost, "0", "met" if lost + stop_lost == 0 else "MISSED"],
           ["gaps that are not reported", silent + stop_silent, "0", "met" if silent + stop_silent == 0 else "MISSED"],
           ["recorder stopped for, ticks", f"{stop_ticks:.1f}", "", ""],
           ["missed in that gap", f"{longest:.0f}", "", ""],
           ["missed in that run: reported / counted", f"{stop_known['sampling']['missed']} / {counted}", "the same",
            "met" if exact else "MISSED"],
           ["its reason", longest_gap["reason"], "", ""]])
    return report
