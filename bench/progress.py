"""Cost of reporting progress for the job: its speed while it sends lines, with and without a reader."""
import json
import os
import signal
import statistics
import subprocess
import threading
import time

from harness import BUILD, PROGRAM, bootstrap, children_of, say, scratch_home, table

SENDER = BUILD / "sender"
RATES = (1_000, 100_000)


def numbers(text):
    units, sent, _ = (int(word) for word in text.split())
    return units, sent


def bare(rate, seconds):
    """Outside a run the client does nothing."""
    environment = {k: v for k, v in os.environ.items() if k != "TRAINSCOPE_PIPE"}
    return numbers(subprocess.run([SENDER, str(rate), str(seconds)], env=environment, capture_output=True, text=True,
                                  check=True).stdout)


def drained(rate, seconds):
    """The physical limit: the same lines into a FIFO whose reader discards them."""
    with scratch_home() as home:
        fifo = f"{home}/fifo"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDWR)
        cat = subprocess.Popen(["cat", fifo], stdout=subprocess.DEVNULL)
        try:
            return numbers(subprocess.run([SENDER, str(rate), str(seconds)], capture_output=True, text=True, check=True,
                                          env={**os.environ, "TRAINSCOPE_PIPE": fifo}).stdout)
        finally:
            cat.kill()
            cat.wait()
            os.close(reader)


def recorded(rate, seconds, stopped=False):
    """Under `trainscope run`; with the recorder stopped for most of the time, or not."""
    with scratch_home():
        job = subprocess.Popen([PROGRAM, "run", "--quiet", "--name", "sender", "--", SENDER, str(rate), str(seconds)],
                               stdout=subprocess.PIPE, text=True)
        if stopped:
            threading.Thread(target=stop_recorder, args=(job.pid, seconds)).start()
        out = job.communicate()[0]
        info = json.loads(subprocess.run([PROGRAM, "info", "sender", "--json"], capture_output=True, text=True,
                                         check=True).stdout)
    units, sent = numbers(out)
    kept = info["steps"]["observed"] or 0
    if kept + info["steps"]["dropped"] != sent:
        say(f"  {sent - kept - info['steps']['dropped']} of {sent} lines are neither stored nor reported as dropped")
    return units, sent, kept, info["overhead"]["cpu_ratio"]


def stop_recorder(supervisor, seconds):
    time.sleep(0.1 * seconds)
    recorders = [pid for pid in children_of(supervisor) if "sender" not in os.readlink(f"/proc/{pid}/exe")]
    for pid in recorders:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(0.8 * seconds)
    for pid in recorders:
        os.kill(pid, signal.SIGCONT)


def run(options, idle_machine):
    idle_machine.wait()
    rows, report = [], {}
    for rate in RATES:
        found = {"bare": [], "drained": [], "recorded": [], "recorder stopped": []}
        for number in range(options.rounds):
            say(f"  round {number + 1} of {options.rounds} at {rate} messages/s")
            found["bare"].append(bare(rate, options.progress_seconds))
            found["drained"].append(drained(rate, options.progress_seconds))
            found["recorded"].append(recorded(rate, options.progress_seconds))
            found["recorder stopped"].append(recorded(rate, options.progress_seconds, stopped=True))
        for name, results in found.items():
            pairs = list(zip((units for units, *_ in found["bare"]), (units for units, *_ in results)))
            ratio = lambda some: statistics.median(ours / theirs for theirs, ours in some)
            low, high = bootstrap(ratio, pairs)
            sent = statistics.median(result[1] for result in results) / options.progress_seconds
            lost = 1 - ratio(pairs)
            kept = statistics.median(r[2] / r[1] for r in results) if len(results[0]) > 2 else None
            cpu = statistics.median(r[3] for r in results) if kept is not None else None
            rows.append([name, f"{sent:.0f}", f"{ratio(pairs):.3f}", f"{low:.3f} to {high:.3f}",
                         f"{lost / sent * 1e9:.0f}" if name != "bare" else "",
                         "" if kept is None else f"{100 * kept:.1f} %", "" if cpu is None else f"{100 * cpu:.1f} %"])
            report[f"{name}, {rate}/s"] = {"speed": ratio(pairs), "low": low, "high": high, "kept": kept, "cpu": cpu}
    print("Speed of a job that computes on one thread and reports its steps, relative to the same outside a run.\n")
    table(["", "messages/s", "speed", "95 % interval", "ns per message", "stored", "recorder's CPU"], rows)
    return report
