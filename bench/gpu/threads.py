"""Cost of each Trainscope thread while an unmodified PyTorch job trains: CPU per second in steady state.

threads.py TRAINSCOPE [--every 100ms,1s] [--seconds 20] [--warm-up 10]
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import time

JOB = """
import sys, time, torch, torchvision
model = torchvision.models.resnet18().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
images, labels = torch.randn(int(sys.argv[2]), 3, 224, 224).pin_memory(), torch.randint(0, 1000, (int(sys.argv[2]),)).cuda()
end, step = time.monotonic() + float(sys.argv[1]), 0
while time.monotonic() < end:
    loss = torch.nn.functional.cross_entropy(model(images.cuda(non_blocking=True)), labels)
    optimizer.zero_grad(set_to_none=True); loss.backward(); optimizer.step()
    step += 1
    if step % 50 == 0: print(f"step {step} loss {loss.item():.4f}", flush=True)
"""


def our_processes(home):
    """{pid: name} of the processes that have this home, and of the driver process, which is given no variables."""
    ours, drivers = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            if name == "trainscope-gpu":
                drivers[pid] = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
            elif name.startswith("trainscope") and home.encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes():
                ours[pid] = name
        except OSError:
            pass
    return {**ours, **{pid: "trainscope-gpu" for pid, parent in drivers.items() if parent in ours}}


def threads(home):
    """{(process, thread): CPU ns} of our processes."""
    found = collections.Counter()
    for pid, process in our_processes(home).items():
        try:
            for tid in os.listdir(f"/proc/{pid}/task"):
                name = pathlib.Path(f"/proc/{pid}/task/{tid}/comm").read_text().strip()
                found[process, name] += int(pathlib.Path(f"/proc/{pid}/task/{tid}/schedstat").read_text().split()[0])
        except OSError:
            pass
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trainscope")
    parser.add_argument("--every", default="100ms,1s")
    parser.add_argument("--batch", default="4,128")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--warm-up", type=float, default=10)
    asked = parser.parse_args()
    for batch in asked.batch.split(","):
        for every in asked.every.split(","):
            with tempfile.TemporaryDirectory() as home:
                job = subprocess.Popen(
                    [asked.trainscope, "run", "--quiet", "--every", every, "--", sys.executable, "-c", JOB,
                     str(asked.warm_up + asked.seconds + 5), batch],
                    env={**os.environ, "TRAINSCOPE_HOME": home}, stdout=subprocess.DEVNULL)
                time.sleep(asked.warm_up)
                before, begin = threads(home), time.monotonic()
                time.sleep(asked.seconds)
                after, seconds = threads(home), time.monotonic() - begin
                job.wait()
                rows = {key: (after[key] - before[key]) / seconds / 1e4 / 1e3 for key in after}
                print(f"every {every}, batch {batch}: {sum(rows.values()):.2f} % of a core together")
                for (process, name), percent in sorted(rows.items(), key=lambda row: -row[1]):
                    print(f"  {percent:6.3f} %  {process:16} {name}")
                info = subprocess.run([asked.trainscope, "info", "latest"], env={**os.environ, "TRAINSCOPE_HOME": home},
                                      capture_output=True, text=True).stdout
                print("\n".join(line for line in info.splitlines() if line.strip().startswith(("steps", "recording", "overhead", "samples"))))


main()
