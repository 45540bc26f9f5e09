"""A tiny network that Keras trains, printing in one of several ways.

  keras_fit.py CASE    v1, v1_val, v1_evaluate (within each epoch, then after), v1_one_epoch, v1_unknown,
                       v1_long (ten steps a second, so that a bar shows nearly every one), v2, v2_val,
                       v2_evaluate
With TF_USE_LEGACY_KERAS=1 it is Keras 2 (package tf_keras).
"""
import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

keras = tf.keras
STEPS, BATCH = 25, 8


def main():
    case = sys.argv[1]
    keras.utils.set_random_seed(1)
    random = np.random.default_rng(1)
    x = random.normal(size=(STEPS * BATCH, 4)).astype("float32")
    y = (x.sum(axis=1) > 0).astype("int64")
    model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
    model.compile(optimizer="adam", metrics=["accuracy"],
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    verbose = int(case[1])
    # A step of a few hundredths of a second: the bar shows some of them and leaves others out.
    pause = 0.1 if case.endswith("long") else 0.02
    callbacks = [keras.callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: time.sleep(pause))]
    options = {"epochs": 1 if case.endswith("one_epoch") else 2, "verbose": verbose, "batch_size": BATCH}
    if case.endswith("val"):
        options["validation_data"] = (x[:40], y[:40])
    if case.endswith("evaluate"):
        callbacks.append(keras.callbacks.LambdaCallback(
            on_epoch_end=lambda epoch, logs: model.evaluate(x[:80], y[:80], batch_size=8, verbose=verbose)))
    data = (x, y)
    if case.endswith("unknown"):
        data = (tf.data.Dataset.from_generator(
            lambda: zip(x, y), output_signature=(tf.TensorSpec(4), tf.TensorSpec((), tf.int64))).batch(BATCH),)
        del options["batch_size"]
    model.fit(*data, callbacks=callbacks, **options)
    if case.endswith(("evaluate", "one_epoch")):
        model.evaluate(x[:80], y[:80], batch_size=8, verbose=verbose)


main()
