"""The job of the GPU validation: idle, then the CPU alone, then Inception v3 on the GPU, synthetic data.

train.py LOG [SECONDS_IDLE SECONDS_CPU SECONDS_GPU]. LOG gets `phase NAME BEGIN` and `step BEGIN DURATION`
lines, in seconds of CLOCK_MONOTONIC.
"""
import sys
import time

import torch
import torchvision

log = open(sys.argv[1], "w", buffering=1)
idle_s, cpu_s, gpu_s = map(float, sys.argv[2:5] if len(sys.argv) > 2 else (20, 20, 60))


def phase(name):
    log.write(f"phase {name} {time.monotonic():.6f}\n")


phase("idle")
time.sleep(idle_s)

phase("cpu")
matrix, end = torch.randn(1024, 1024), time.monotonic() + cpu_s
while time.monotonic() < end:
    matrix = (matrix @ matrix).clamp(-1, 1)

phase("start")
device = torch.device("cuda")
torch.manual_seed(1)
model = torchvision.models.inception_v3(weights=None, aux_logits=False, init_weights=False, num_classes=1000)
model = model.to(device, memory_format=torch.channels_last).train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
images = torch.randn(256, 3, 299, 299, device=device).contiguous(memory_format=torch.channels_last)
labels = torch.randint(0, 1000, (256,), device=device)


def step():
    with torch.autocast("cuda", torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    torch.cuda.synchronize()
    return loss


for _ in range(30):
    step()
phase("gpu")
end, count = time.monotonic() + gpu_s, 0
while time.monotonic() < end:
    begin = time.monotonic()
    loss = step()
    log.write(f"step {begin:.6f} {time.monotonic() - begin:.6f}\n")
    count += 1
phase("end")
print(f"{count} steps of 256 images, loss {loss.item():.4f}", flush=True)
