"""What the examples share: their options, their callbacks, and the line of JSON at their end."""
import argparse
import gzip
import json
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # Before TensorFlow is imported: it greets at length.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import keras  # noqa: E402
import numpy as np  # noqa: E402

FASHION = "/usr/share/datasets/fashion-mnist"  # Debian: dataset-fashion-mnist


def options(about, epochs, batch, steps=None):
    """The options that every example has; the caller adds its own."""
    parser = argparse.ArgumentParser(description=about,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--steps", type=int, default=steps,
                        help=f"steps an epoch (default: {steps or 'all of the data'})")
    parser.add_argument("--batch", type=int, default=batch, help="images per step (default: %(default)s)")
    parser.add_argument("--tensorboard", metavar="DIR", help="write event files there")
    parser.add_argument("--update-freq", choices=["batch", "epoch"], default="epoch")
    parser.add_argument("--progress", action="store_true", help="report each step to Trainscope")
    parser.add_argument("--verbose", type=int, choices=[0, 1, 2], default=1, help="as Keras has it")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def fashion_mnist(part, folder=FASHION):
    """Images (28×28, 0–1) and labels of `train` or `t10k`, from IDX files."""
    def read(name, header):
        with gzip.open(pathlib.Path(folder) / f"{part}-{name}-ubyte.gz") as file:
            return np.frombuffer(file.read(), np.uint8, offset=header)

    images = read("images-idx3", 16).reshape(-1, 28, 28) / np.float32(255)
    return images, read("labels-idx1", 8).astype(np.int64)


def drawn(count, size, classes=3, seed=1):
    """Images (0–255) that the script generates: stripes, the label is how many."""
    random = np.random.default_rng(seed)
    labels = np.arange(count) % classes
    across = np.arange(size) / size
    images = np.empty((count, size, size, 3), np.uint8)
    for image, label in zip(images, labels):
        wave = np.sin(2 * np.pi * ((label + 1) * 2 * across + random.random()))
        image[:] = (127 + 90 * wave[None, :, None] + random.normal(0, 12, image.shape)).clip(0, 255)
    return images, labels


def train(model, args, data, **fit):
    """Trains as the options say and prints what Keras itself reports, as one line of JSON."""
    losses = []
    callbacks = [keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: losses.append(float(logs["loss"])))]
    if args.tensorboard:
        callbacks.append(keras.callbacks.TensorBoard(
            args.tensorboard, update_freq=args.update_freq, write_graph=False))
    if args.progress:
        from trainscope.keras import ProgressCallback
        callbacks.append(ProgressCallback(batch_size=args.batch, step_numbers=True))
    fit["shuffle"] = len(data) > 1  # Arrays; a dataset of tf.data is shuffled already, or not at all.
    history = model.fit(*data, epochs=args.epochs, verbose=args.verbose, callbacks=callbacks, **fit).history
    print(json.dumps({"steps": len(losses), "epochs": len(history["loss"]), "losses": losses,
                      "history": {name: [float(v) for v in values] for name, values in history.items()}}))
