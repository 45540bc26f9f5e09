"""Writes event files with the real writers, and expected.json with what TensorBoard's own reader finds.

  make.py keras|v1|torch FOLDER     one kind of writer (keras and v1 need TensorFlow, torch PyTorch)
  make.py expect                    expected.json, read by TensorBoard's EventAccumulator and, for the event
                                    files as they are, by tf.data.TFRecordDataset; both must agree
"""
import json
import os
import pathlib
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
HERE = pathlib.Path(__file__).resolve().parent


def write_keras(folder):
    import keras
    import numpy as np
    for name, freq in (("keras_epoch", "epoch"), ("keras_batch", "batch"), ("keras_every_5", 5)):
        keras.utils.set_random_seed(1)
        x = np.random.default_rng(1).normal(size=(96, 4)).astype("float32")
        y = (x.sum(axis=1) > 0).astype("int64")
        model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
        model.compile(optimizer="adam", metrics=["accuracy"],
                      loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.fit(x, y, batch_size=8, epochs=3, verbose=0, validation_data=(x[:32], y[:32]), callbacks=[
            keras.callbacks.TensorBoard(str(folder / name), update_freq=freq, write_graph=False)])


def pause(x):
    time.sleep(0.01)
    return x


def write_v1(folder):
    """What an Estimator's hooks write: scalars as simple_value, steps a second, the graph. No checkpoints, as
    with them the graph is written three times."""
    import tensorflow as tf
    v1 = tf.compat.v1
    v1.disable_eager_execution()
    step = v1.train.get_or_create_global_step()
    # A step takes a while, or the hooks would read the step's number at the very moment that it changes.
    x = tf.numpy_function(pause, [v1.random_normal([16, 4], seed=1)], tf.float32)
    x.set_shape([16, 4])
    w = v1.get_variable("w", [4, 1], initializer=v1.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    v1.summary.scalar("loss", loss)
    train = v1.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)
    with v1.train.MonitoredTrainingSession(
            checkpoint_dir=str(folder / "estimator"), save_summaries_steps=10, log_step_count_steps=10,
            save_checkpoint_secs=None, save_checkpoint_steps=None,
            hooks=[v1.train.StopAtStepHook(num_steps=50)]) as session:
        while not session.should_stop():
            session.run(train)


def write_torch(folder):
    from torch.utils.tensorboard import SummaryWriter
    with SummaryWriter(str(folder / "torch")) as writer:
        for step in range(0, 50, 5):
            writer.add_scalar("Loss/train", 2.0 / (1 + step), step)
            writer.add_scalar("Accuracy/train", step / 50, step)
            if step % 20 == 0:
                writer.add_scalar("Loss/val", 2.1 / (1 + step), step)
        writer.add_histogram("weights", [1.0, 2.0, 2.0, 3.0], 45)
        writer.add_text("note", "half way", 25)


def by_accumulator(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    found = {tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    for tag in events.Tags()["tensors"]:
        if events.SummaryMetadata(tag).plugin_data.plugin_name == "scalars":
            found[tag] = [[e.step, float(tensor_util.make_ndarray(e.tensor_proto))] for e in events.Tensors(tag)]
    return found


def by_dataset(folder):
    import tensorflow as tf
    found = {}
    scalar_tags = set()
    for file in sorted(folder.glob("events.out.tfevents.*")):
        for record in tf.data.TFRecordDataset(str(file)).as_numpy_iterator():
            event = tf.compat.v1.Event.FromString(record)
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name == "scalars":
                    scalar_tags.add(value.tag)
                if value.WhichOneof("value") == "simple_value":
                    found.setdefault(value.tag, []).append([event.step, value.simple_value])
                elif value.tag in scalar_tags:
                    found.setdefault(value.tag, []).append([event.step, float(tf.make_ndarray(value.tensor))])
    return found


def expect():
    expected = {}
    for folder in sorted({file.parent for file in HERE.rglob("events.out.tfevents.*")}):
        found = by_accumulator(folder)
        other = by_dataset(folder)
        if found != other:
            sys.exit(f"{folder}: the two readers disagree: {found} {other}")
        expected[str(folder.relative_to(HERE))] = {
            "files": sorted(file.name for file in folder.glob("events.out.tfevents.*")),
            "scalars": found}
    text = json.dumps(expected, indent=1).replace("\n     ", " ").replace("\n    ]", " ]")
    (HERE / "expected.json").write_text(text + "\n")


def main():
    what = sys.argv[1]
    if what == "expect":
        return expect()
    {"keras": write_keras, "v1": write_v1, "torch": write_torch}[what](pathlib.Path(sys.argv[2]))


main()
