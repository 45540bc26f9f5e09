"""What the examples share: their options, the training loop, and the line of JSON at its end."""
import argparse
import gzip
import json
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

FASHION = "/usr/share/datasets/fashion-mnist"  # Debian: dataset-fashion-mnist


def options(about, epochs, batch, steps=None):
    """The options that every example has; the caller adds its own."""
    parser = argparse.ArgumentParser(description=about,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--steps", type=int, default=steps,
                        help=f"steps an epoch (default: {steps or 'all of the data'})")
    parser.add_argument("--batch", type=int, default=batch, help="images per step (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=0, help="processes of the data loader")
    parser.add_argument("--tensorboard", metavar="DIR", help="write event files there")
    parser.add_argument("--progress", action="store_true", help="report each step to Trainscope")
    parser.add_argument("--verbose", type=int, choices=[0, 1, 2], default=1,
                        help="0 nothing, 1 every tenth step, 2 every epoch")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def fashion_mnist(part, folder=FASHION):
    """Images (1×28×28, 0–1) and labels of `train` or `t10k`, from IDX files."""
    def read(name, header):
        with gzip.open(pathlib.Path(folder) / f"{part}-{name}-ubyte.gz") as file:
            return torch.frombuffer(bytearray(file.read()[header:]), dtype=torch.uint8)

    images = read("images-idx3", 16).reshape(-1, 1, 28, 28) / 255
    return torch.utils.data.TensorDataset(images, read("labels-idx1", 8).long())


def train(model, data, args):
    """Trains as the options say, on the GPU where there is one, and prints what it saw as one line of JSON."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    if args.steps:
        data = torch.utils.data.Subset(data, range(min(len(data), args.steps * args.batch)))
    loader = torch.utils.data.DataLoader(data, args.batch, shuffle=True, num_workers=args.workers)
    writer = None
    if args.tensorboard:
        from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter(args.tensorboard)
    if args.progress:
        import trainscope.torch
        loader = trainscope.torch.loop(loader)
    losses, means = [], []
    for epoch in range(args.epochs):
        before = len(losses)
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if args.progress:
                loader.report(loss=losses[-1])
            if writer:
                writer.add_scalar("loss/train", losses[-1], len(losses))
            if args.verbose == 1 and len(losses) % 10 == 0:
                print(f"step {len(losses)} loss {losses[-1]:.4f}", flush=True)
        means.append(sum(losses[before:]) / (len(losses) - before))
        if args.verbose == 2:
            print(f"epoch {epoch + 1}/{args.epochs} loss {means[-1]:.4f}", flush=True)
    if writer:
        writer.close()
    print(json.dumps({"steps": len(losses), "epochs": len(means), "losses": losses,
                      "history": {"loss": means}, "device": device}))
