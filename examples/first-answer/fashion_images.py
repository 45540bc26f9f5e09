"""Write Fashion-MNIST (Debian's dataset-fashion-mnist) as pictures into folders, once: `fashion_images.py FOLDER [--size N] [--count N]`.

FOLDER/CLASS/NUMBER.png (.jpg from 100 pixels on) and FOLDER/labels.csv with a line `file,label` for each, in random order.
"""
import argparse
import gzip
import os
import random

import numpy
from PIL import Image

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--size", type=int, default=28)
parser.add_argument("--count", type=int, default=30000)
parser.add_argument("--from", dest="source", default="/usr/share/datasets/fashion-mnist")
args = parser.parse_args()

images = numpy.frombuffer(gzip.open(f"{args.source}/train-images-idx3-ubyte.gz").read(), numpy.uint8, offset=16).reshape(-1, 28, 28)
labels = numpy.frombuffer(gzip.open(f"{args.source}/train-labels-idx1-ubyte.gz").read(), numpy.uint8, offset=8)
names = []
for number in range(args.count):
    name = f"{labels[number]}/{number:05d}.{'png' if args.size < 100 else 'jpg'}"
    os.makedirs(os.path.join(args.folder, str(labels[number])), exist_ok=True)
    image = Image.fromarray(images[number])
    if args.size != 28:
        image = image.convert("RGB").resize((args.size, args.size))
    image.save(os.path.join(args.folder, name))
    names.append(f"{name},{labels[number]}\n")
random.Random(1).shuffle(names)
with open(os.path.join(args.folder, "labels.csv"), "w") as file:
    file.writelines(names)
