"""Memory of a long recording, scaled in time: a day at 10 Hz is 864,000 ticks, 14.4 minutes at 1 kHz.

Everything that can grow with a recording grows with its ticks: the ring of samples, which is reused,
blocks, segments. Growth with time alone (the slow sources) is not visible here.
"""
import signal
import time

from harness import Group, info, recorder_pid, scratch_home, start_target, table, verdict
from cost import start_trainscope

DAY_TICKS = 864_000


def run(options, idle_machine):
    idle_machine.wait()
    points = []
    with Group() as watched, scratch_home(), Group() as group:
        supervisor = start_trainscope(group, start_target(watched).pid, 1000)
        recorder_pid(supervisor.pid)
        begin = time.monotonic()
        for _ in range(options.memory_seconds // 5):
            time.sleep(5)
            rss, pss = group.memory()
            points.append((time.monotonic() - begin, rss / 1e6, pss / 1e6))
        supervisor.send_signal(signal.SIGINT)
        supervisor.wait()
        sampling = info()["sampling"]
    later = points[len(points) // 3:]
    mean_t = sum(t for t, _, _ in later) / len(later)
    mean_r = sum(r for _, r, _ in later) / len(later)
    slope = (sum((t - mean_t) * (r - mean_r) for t, r, _ in later) /
             max(1e-9, sum((t - mean_t) ** 2 for t, _, _ in later)))
    ticks = sampling["samples"]
    growth = slope / (ticks / points[-1][0]) * DAY_TICKS
    report = {"points": points, "ticks": ticks, "missed": sampling["missed"], "slope_mb_per_s": slope,
              "growth_mb_per_day_at_10hz": growth, "largest_rss_mb": max(r for _, r, _ in points),
              **verdict(max(r for _, r, _ in points) + max(0, growth), 15)}
    print(f"Memory over {ticks} ticks at 1 kHz ({ticks / 36000:.1f} h at 10 Hz), {sampling['missed']} missed.\n")
    table(["", "MB"], [["RSS of supervisor and recorder after 5 s", f"{points[0][1]:.2f}"],
                       ["largest", f"{report['largest_rss_mb']:.2f}"],
                       ["PSS at the end", f"{points[-1][2]:.2f}"],
                       ["growth in the last two thirds, for 864,000 ticks", f"{growth:+.2f}"],
                       ["after a day at 10 Hz (target <= 15)",
                        f"{report['measured']:.2f}  {'met' if report['met'] else 'MISSED'}"]])
    return report
