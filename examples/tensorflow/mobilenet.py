#!/usr/bin/env python3
"""MobileNetV2 or EfficientNetB0 from nothing, on a few images that the script generates.

  trainscope run -- python mobilenet.py --network EfficientNetB0 --steps 20
"""
import common
import keras
import tensorflow as tf


def main():
    parser = common.options(__doc__, epochs=2, batch=16, steps=10)
    parser.add_argument("--network", choices=["MobileNetV2", "EfficientNetB0"], default="MobileNetV2")
    parser.add_argument("--size", type=int, default=96, help="side of an image, at least 32")
    args = parser.parse_args()
    keras.utils.set_random_seed(args.seed)
    images, labels = common.drawn(256, args.size)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(256, seed=args.seed).repeat()
    if args.network == "MobileNetV2":  # EfficientNet scales its input itself.
        data = data.map(lambda image, label: (tf.cast(image, tf.float32) / 127.5 - 1, label))

    model = getattr(keras.applications, args.network)(
        weights=None, classes=3, input_shape=(args.size, args.size, 3))
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    common.train(model, args, (data.batch(args.batch).prefetch(2),), steps_per_epoch=args.steps)


if __name__ == "__main__":
    main()
