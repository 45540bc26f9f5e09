#!/usr/bin/env python3
"""A small convolutional network on Fashion-MNIST, fed by tf.data.

  trainscope run -- python digits_cnn.py --epochs 3 --tensorboard logs --update-freq batch
"""
import common
import keras
import tensorflow as tf


def network():
    layers = keras.layers
    return keras.Sequential([
        keras.Input((28, 28, 1)),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.5),
        layers.Dense(10),
    ])


def main():
    args = common.options(__doc__, epochs=3, batch=64).parse_args()
    keras.utils.set_random_seed(args.seed)
    train = tf.data.Dataset.from_tensor_slices(common.fashion_mnist("train"))
    train = train.shuffle(10_000, seed=args.seed).batch(args.batch)
    if args.steps:
        train = train.take(args.steps)
    test = tf.data.Dataset.from_tensor_slices(common.fashion_mnist("t10k")).batch(500)

    model = network()
    model.compile(optimizer="adam", metrics=["accuracy"],
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    add_channel = lambda images, labels: (images[..., None], labels)  # noqa: E731
    common.train(model, args, (train.map(add_channel).prefetch(2),), validation_data=test.map(add_channel))


if __name__ == "__main__":
    main()
