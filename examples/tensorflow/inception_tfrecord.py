#!/usr/bin/env python3
"""Inception v3 from TFRecords through tf.data, with the keys of slim's ImageNet files (image/encoded as JPEG,
image/class/label). Without --data it generates a few images and writes them as TFRecords first.

  trainscope run --data records -- python inception_tfrecord.py --data records --steps 20
"""
import pathlib
import tempfile

import common
import keras
import tensorflow as tf

AUTO = tf.data.AUTOTUNE


def write_records(folder, count, size, shards=2):
    """Tiny TFRecords: `count` generated images in `shards` files."""
    images, labels = common.drawn(count, size)
    for shard in range(shards):
        with tf.io.TFRecordWriter(str(folder / f"train-{shard:05d}-of-{shards:05d}")) as file:
            for image, label in zip(images[shard::shards], labels[shard::shards]):
                encoded = tf.io.encode_jpeg(image).numpy()
                file.write(tf.train.Example(features=tf.train.Features(feature={
                    "image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[encoded])),
                    "image/class/label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
                })).SerializeToString())


def read_records(folder, size, batch, seed):
    def decode(record):
        keys = {"image/encoded": tf.io.FixedLenFeature([], tf.string),
                "image/class/label": tf.io.FixedLenFeature([], tf.int64)}
        example = tf.io.parse_single_example(record, keys)
        image = tf.image.resize(tf.io.decode_jpeg(example["image/encoded"], channels=3), (size, size))
        return image / 127.5 - 1, example["image/class/label"]

    files = tf.data.Dataset.list_files(str(folder / "*-of-*"), seed=seed)
    records = files.interleave(tf.data.TFRecordDataset, num_parallel_calls=AUTO).shuffle(1000, seed=seed)
    return records.repeat().map(decode, num_parallel_calls=AUTO).batch(batch).prefetch(AUTO)


def main():
    parser = common.options(__doc__, epochs=1, batch=8, steps=10)
    parser.add_argument("--data", type=pathlib.Path, help="folder of TFRecords named …-of-…")
    parser.add_argument("--classes", type=int, default=1001)
    parser.add_argument("--size", type=int, default=299, help="side of an image, at least 75")
    args = parser.parse_args()
    keras.utils.set_random_seed(args.seed)
    with tempfile.TemporaryDirectory() as own:
        folder = args.data or pathlib.Path(own)
        if not args.data:
            write_records(folder, 64, args.size)
        model = keras.applications.InceptionV3(weights=None, classes=args.classes,
                                               input_shape=(args.size, args.size, 3))
        model.compile(optimizer="sgd", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
        common.train(model, args, (read_records(folder, args.size, args.batch, args.seed),),
                     steps_per_epoch=args.steps)


if __name__ == "__main__":
    main()
