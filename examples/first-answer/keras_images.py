"""Keras's image classification tutorial without its `cache().prefetch()`: `keras_images.py FOLDER [--prefetch] [--cache]`."""
import argparse

import tensorflow as tf
from tensorflow.keras import Sequential, layers

parser = argparse.ArgumentParser()
parser.add_argument("folder", help="from fashion_images.py FOLDER --size 240 --count 1500")
parser.add_argument("--prefetch", action="store_true")
parser.add_argument("--cache", action="store_true")
parser.add_argument("--size", type=int, default=180)
parser.add_argument("--epochs", type=int, default=2)
args = parser.parse_args()

common = {"validation_split": 0.2, "seed": 123, "image_size": (args.size, args.size), "batch_size": 32}
train_ds = tf.keras.utils.image_dataset_from_directory(args.folder, subset="training", **common)
val_ds = tf.keras.utils.image_dataset_from_directory(args.folder, subset="validation", **common)
num_classes = len(train_ds.class_names)
if args.cache:
    train_ds, val_ds = train_ds.cache(), val_ds.cache()
if args.prefetch:
    train_ds, val_ds = train_ds.prefetch(tf.data.AUTOTUNE), val_ds.prefetch(tf.data.AUTOTUNE)

model = Sequential([
    layers.Input((args.size, args.size, 3)),
    layers.RandomFlip("horizontal"),
    layers.RandomRotation(0.1),
    layers.RandomZoom(0.1),
    layers.Rescaling(1.0 / 255),
    layers.Conv2D(16, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(64, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Dropout(0.2),
    layers.Flatten(),
    layers.Dense(128, activation="relu"),
    layers.Dense(num_classes),
])
model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(train_ds, validation_data=val_ds, epochs=args.epochs)
