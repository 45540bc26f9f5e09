"""Another process on the same GPU: uses 4 GiB and does nothing, until its stdin ends."""
import sys

import torch

held = torch.zeros(4 << 30, dtype=torch.uint8, device="cuda")
print("ready", flush=True)
sys.stdin.read()
