#!/usr/bin/env python3
"""The beginner's network: one dense layer of 128, dropout 0.2, on Fashion-MNIST (28×28, ten classes).

  trainscope run -- python digits_dense.py --epochs 5
"""
import common
import keras


def main():
    args = common.options(__doc__, epochs=5, batch=32).parse_args()
    keras.utils.set_random_seed(args.seed)
    images, labels = common.fashion_mnist("train")
    if args.steps:
        images, labels = images[:args.steps * args.batch], labels[:args.steps * args.batch]

    model = keras.Sequential([
        keras.Input((28, 28)),
        keras.layers.Flatten(),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(10),
    ])
    model.compile(optimizer="adam", metrics=["accuracy"],
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    common.train(model, args, (images, labels), batch_size=args.batch,
                 validation_data=common.fashion_mnist("t10k"))


if __name__ == "__main__":
    main()
