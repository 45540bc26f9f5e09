"""Slowdown of an unmodified PyTorch job on a GPU by recording. Blocks with the recorder running and stopped, in one run.

slowdown.py TRAINSCOPE [--kinds launch,gpu] [--pairs 200] [--block 0.5]

`launch`: small batches, so that the GPU waits for the CPU that launches its kernels. `gpu`: large batches. Blocks and
statistics are those of bench/slowdown.py.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import slowdown  # noqa: E402
import harness  # noqa: E402

BATCH = {"launch": 4, "gpu": 256}
JOB = """
import gc, sys, time, torch, torchvision
log, end, batch = open(sys.argv[1], "w"), time.monotonic() + float(sys.argv[2]), int(sys.argv[3])
model = torchvision.models.resnet18().cuda().to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
images = torch.randn(batch, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
labels = torch.randint(0, 1000, (batch,), device="cuda")
gc.disable()
rows, step = [], 0
while time.monotonic() < end:
    begin = time.monotonic()
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad(set_to_none=True); loss.backward(); optimizer.step()
    torch.cuda.synchronize()
    rows.append((begin, time.monotonic() - begin))
log.writelines(f"{i} {begin:.6f} {seconds:.6f}\\n" for i, (begin, seconds) in enumerate(rows))
"""


def measure(program, kind, pairs, block_s):
    with tempfile.TemporaryDirectory() as folder:
        log, home = os.path.join(folder, "log"), os.path.join(folder, "home")
        run = subprocess.Popen([program, "run", "--quiet", "--every", "100ms", "--", sys.executable, "-c", JOB, log,
                                str(2 * pairs * block_s + 25), str(BATCH[kind])],
                               env={**os.environ, "TRAINSCOPE_HOME": home}, stdout=subprocess.DEVNULL)
        recorder = harness.recorder_pid(run.pid)
        time.sleep(20)  # kernels are chosen, clocks are up
        blocks = slowdown.switch_blocks(recorder, pairs, block_s, lambda: run.poll() is None)
        run.wait()
        return slowdown.evaluate(slowdown.pair_up(slowdown.steps_in_blocks(slowdown.read_steps(log), blocks)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trainscope")
    parser.add_argument("--kinds", default="launch,gpu")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--block", type=float, default=0.5)
    asked = parser.parse_args()
    for kind in asked.kinds.split(","):
        r = measure(asked.trainscope, kind, asked.pairs, asked.block)
        print(f"{kind}-bound, steps of {r['mean_on_ms']:.3f} ms, {r['pairs']} pairs of {asked.block:g} s: mean ratio {r['ratio']:.4f} "
              f"[{r['low']:.4f}, {r['high']:.4f}], median ratio {r['median_ratio']:.4f} [{r['median_low']:.4f}, "
              f"{r['median_high']:.4f}]", flush=True)


if __name__ == "__main__":
    main()
