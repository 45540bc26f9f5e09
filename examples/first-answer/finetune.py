"""Fine-tune a vision transformer and save often, as `save_steps` of many scripts does: `finetune.py [--save-every N]`."""
import argparse

import torch
from torch import nn
from torchvision.models import vit_b_16

parser = argparse.ArgumentParser()
parser.add_argument("--save-every", type=int, default=20)
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--out", default="checkpoint.pt")
args = parser.parse_args()

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = vit_b_16(num_classes=100).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
criterion = nn.CrossEntropyLoss()
for step in range(1, args.steps + 1):
    images = torch.randn(32, 3, 224, 224, device=device)
    labels = torch.randint(100, (32,), device=device)
    loss = criterion(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"Epoch 1/1, Step {step}/{args.steps}, Loss: {loss.item():.4f}", flush=True)
    if step % args.save_every == 0:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, args.out)
