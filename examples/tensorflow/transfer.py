#!/usr/bin/env python3
"""Transfer learning: a frozen MobileNetV2 and a new last layer for your own classes.

  trainscope run -- python transfer.py --weights mobilenet_v2_no_top.weights.h5 --images photos

--images is a folder with one folder of images per class; without it the script generates some.
"""
import sys

import common
import keras
import tensorflow as tf


def data_of(args):
    """Batches of images (0–255) and labels, and the number of classes."""
    if args.images:
        data = keras.utils.image_dataset_from_directory(
            args.images, image_size=(args.size, args.size), batch_size=args.batch, seed=args.seed,
            verbose=False)
        return data, len(data.class_names)
    data = tf.data.Dataset.from_tensor_slices(common.drawn(192, args.size))
    return data.shuffle(192, seed=args.seed).batch(args.batch), 3


def main():
    parser = common.options(__doc__, epochs=3, batch=16)
    parser.add_argument("--weights", help="a file of weights for MobileNetV2 without its top")
    parser.add_argument("--images", metavar="FOLDER", help="one folder of images per class")
    parser.add_argument("--size", type=int, default=96, help="side of an image, at least 32")
    args = parser.parse_args()
    keras.utils.set_random_seed(args.seed)
    if not args.weights:
        print("no --weights: the frozen layers are random, so the accuracy says nothing", file=sys.stderr)

    data, classes = data_of(args)
    if args.steps:
        data = data.repeat()
    shape = (args.size, args.size, 3)
    base = keras.applications.MobileNetV2(include_top=False, pooling="avg", weights=args.weights,
                                          input_shape=shape)
    base.trainable = False
    images = keras.Input(shape)
    features = base(keras.layers.Rescaling(1 / 127.5, offset=-1)(images), training=False)
    model = keras.Model(images, keras.layers.Dense(classes, activation="softmax")(features))
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    common.train(model, args, (data.prefetch(2),), steps_per_epoch=args.steps)


if __name__ == "__main__":
    main()
