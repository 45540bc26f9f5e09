"""A small character-level GPT, as in many tutorials: `char_gpt.py [--compile] [--batch-size N]`."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--compile", action="store_true")
parser.add_argument("--batch-size", type=int, default=12)
parser.add_argument("--steps", type=int, default=1500)
args = parser.parse_args()
context, layers, heads, width = 64, 8, 4, 128
device = "cuda" if torch.cuda.is_available() else "cpu"

text = open(__file__).read() * 100
letters = sorted(set(text))
data = torch.tensor([letters.index(letter) for letter in text], device=device)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (part.view(batch, length, heads, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        attention = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attention.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


class CharGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(len(letters), width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
        self.head = nn.Linear(width, len(letters))

    def forward(self, x):
        return self.head(self.blocks(self.token(x) + self.position(torch.arange(x.shape[1], device=x.device))))


model = CharGPT().to(device)
if args.compile:
    model = torch.compile(model, mode="reduce-overhead")
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for step in range(1, args.steps + 1):
    start = torch.randint(len(data) - context - 1, (args.batch_size,))
    x = torch.stack([data[i:i + context] for i in start])
    y = torch.stack([data[i + 1:i + context + 1] for i in start])
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step}: loss {loss.item():.4f}", flush=True)
