"""Bytes on disk per sampled value and per line of reported progress, and size of an empty run."""
import struct
import subprocess
import time
from pathlib import Path

from harness import BUILD, BackgroundLoad, Group, PROGRAM, WORKLOAD, folder_bytes, info, say, scratch_home, table, verdict

FROM_S, TO_S = 30, 120
REPORTS_S = 15
STEP_FRAME, FRAME_HEAD = 7, 12  # docs/run-format.md


def job(seconds):
    """Real training if it is built, otherwise the busy target. Its reports are not sampled values: it sends none."""
    if WORKLOAD.exists():
        train = [WORKLOAD, "train", "--model", "digits_cnn", "--threads", "2", "--seconds", str(seconds)]
        return ["env", "-u", "TRAINSCOPE_PIPE", *train]
    say("  trainscope-workload is not built: the synthetic job is recorded instead")
    return [BUILD / "target", "--spin", "2", "--seconds", str(seconds)]


def empty_run():
    with scratch_home():
        subprocess.run([PROGRAM, "run", "--quiet", "--", "true"], check=True)
        return folder_bytes(info()["run"]["path"])


def bytes_per_report():
    """Of training that reports six lines per step; None if it is not built."""
    if not WORKLOAD.exists():
        return None
    with scratch_home():
        subprocess.run([PROGRAM, "run", "--quiet", "--", *job(REPORTS_S)[3:]], check=True, stdout=subprocess.DEVNULL)
        known = info()
        segments = b"".join(path.read_bytes()[16:] for path in sorted(Path(known["run"]["path"]).glob("*.seg")))
    taken, at = 0, 0
    while at + FRAME_HEAD <= len(segments):
        _, kind, _, length, _ = struct.unpack_from("<2sBBII", segments, at)
        taken += FRAME_HEAD + length if kind == STEP_FRAME else 0
        at += FRAME_HEAD + length
    return taken / (6 * known["steps"]["observed"])


def sealed_size(folder):
    return sum(path.stat().st_size for path in folder.glob("*.seg"))


def run(options, idle_machine):
    idle_machine.wait()
    scale = options.size_scale
    begin_s, end_s = FROM_S * scale, TO_S * scale
    with scratch_home() as home, Group() as group:
        background = BackgroundLoad([group])
        process = group.start([PROGRAM, "run", "--quiet", "--every", "10ms", "--", *job(int(end_s + 15))],
                              stdout=subprocess.DEVNULL)
        started, sizes, sealings = time.monotonic(), {}, []
        folder = None
        while process.poll() is None and time.monotonic() - started < end_s + 14:
            time.sleep(0.1)
            folder = folder or next((path.parent for path in home.glob("*/manifest.json")), None)
            if folder is None:
                continue
            now, sealed = time.monotonic() - started, sealed_size(folder)
            for moment in (begin_s, end_s):
                if now >= moment and moment not in sizes:
                    sizes[moment] = folder_bytes(folder)
            if not sealings or sealings[-1][1] != sealed:
                sealings.append((now, sealed))
        process.wait()
        others = background.cores()
        known = info()
    stored = [m for m in known["metrics"] if not m["derived"] and m["samples"]]
    rate = sum(m["samples"] for m in stored) / known["run"]["duration_s"]
    values = rate * (end_s - begin_s)
    per_value = (sizes[end_s] - sizes[begin_s]) / values
    # The same between two sealings. The open block is not compressed and up to ten seconds long: how much
    # of it exists at the two times is random, so the worse of the two figures counts.
    first = next(s for s in sealings if s[0] >= begin_s)
    last = sealings[-1] if sealings[-1][0] > first[0] else first
    blocks = (last[1] - first[1]) / max(1, rate * (last[0] - first[0]))
    empty, reports = empty_run(), bytes_per_report()
    report = {"job": "trainscope-workload" if WORKLOAD.exists() else "target", "series": len(stored), "values": values, "bytes": sizes[end_s] - sizes[begin_s],
              "sealed_bytes_per_value": blocks, "missed": known["sampling"]["missed"], "background_cores": others,
              "plain_bytes_per_value": per_value, "bytes_per_value": verdict(max(per_value, blocks), 0.25), "empty_run_bytes": verdict(empty, 128 * 1024),
              "bytes_per_report": reports}
    print(f"Size at 100 Hz while {report['job']} keeps both cores busy, {begin_s:g} s to {end_s:g} s;\n"
          f"{report['missed']} ticks missed, background load {others:.2f} cores.\n")
    table(["", "", "target", ""],
          [["bytes between", report["bytes"], "", ""], ["values between", round(values), "", ""],
           ["bytes per value", f"{per_value:.3f}", "<= 0.25", "met" if per_value <= 0.25 else "MISSED"],
           ["bytes per value between two sealings", f"{blocks:.3f}", "<= 0.25", "met" if blocks <= 0.25 else "MISSED"],
           ["an empty run (`run -- true`)", empty, "<= 131072", "met" if empty <= 131072 else "MISSED"],
           ["bytes per reported line", "unknown: no workload" if reports is None else f"{reports:.1f}", "", ""]])
    return report
