"""Writes what programs print that no longer run here, by the formats in their published sources. The numbers
are made up.

  published.py FOLDER
"""
import datetime
import pathlib
import pprint
import sys


def estimator():
    """TensorFlow 1.x, Estimator.train(steps=450): the hooks tell the step after it was counted."""
    yield "INFO:tensorflow:Create CheckpointSaverHook."
    yield "INFO:tensorflow:Graph was finalized."
    yield "INFO:tensorflow:Running local_init_op."
    yield "INFO:tensorflow:Done running local_init_op."
    yield "INFO:tensorflow:Saving checkpoints for 0 into model/model.ckpt."
    losses = ["121.802", "68.5095", "49.4702", "37.7748", "31.825"]
    yield "INFO:tensorflow:loss = %s, step = %s" % (losses[0], 1)
    for i, rate in enumerate([61.4317, 62.6354, 70.9626, 67.2957]):
        yield "INFO:tensorflow:global_step/sec: %g" % rate
        yield "INFO:tensorflow:loss = %s, step = %s (%.3f sec)" % (losses[i + 1], 101 + 100 * i, 100 / rate)
    yield "INFO:tensorflow:Saving checkpoints for 450 into model/model.ckpt."
    yield "INFO:tensorflow:Loss for final step: 28.4717."


def retrain():
    """retrain.py --how_many_training_steps 30, through tf.logging."""
    now = datetime.datetime(2019, 1, 9, 8, 38, 46, 580738)
    values = {0: (72.0, 1.294581, 58.0), 10: (89.0, 0.781345, 82.0), 20: (93.0, 0.528931, 88.0),
              29: (96.0, 0.412206, 90.0)}
    for step, (accuracy, entropy, validation) in values.items():
        now += datetime.timedelta(seconds=1, microseconds=123456)
        yield "INFO:tensorflow:%s: Step %d: Train accuracy = %.1f%%" % (now, step, accuracy)
        yield "INFO:tensorflow:%s: Step %d: Cross entropy = %f" % (now, step, entropy)
        yield "INFO:tensorflow:%s: Step %d: Validation accuracy = %.1f%% (N=%d)" % (now, step, validation, 100)
    yield "INFO:tensorflow:Final test accuracy = %.1f%% (N=%d)" % (91.4, 363)


def retrain_print():
    """The first retrain.py printed the same lines without a prefix."""
    for line in retrain():
        yield line.replace("INFO:tensorflow:", "")


def slim():
    """slim.learning.train, telling every tenth of 40 steps."""
    yield "INFO:tensorflow:Starting Session."
    yield "INFO:tensorflow:Starting Queues."
    yield "INFO:tensorflow:global_step/sec: 0"
    for i, loss in enumerate([2.3025, 1.8764, 1.2207, 0.9981]):
        yield "INFO:tensorflow:global step %d: loss = %.4f (%.3f sec/step)" % (10 * (i + 1), loss, 0.34 + 0.01 * i)
    yield "INFO:tensorflow:Stopping Training."
    yield "INFO:tensorflow:Finished training! Saving model to disk."


def tf_cnn_benchmarks(accuracy=False):
    """tf_cnn_benchmarks.py --num_batches 50: ten steps of warm-up are neither numbered nor told."""
    yield from ["TensorFlow:  1.15", "Model:       resnet50", "Dataset:     imagenet (synthetic)",
                "Mode:        training", "SingleSess:  False", "Batch size:  32 global", "             32 per device",
                "Num batches: 50", "Num epochs:  0.00", "Devices:     ['/gpu:0']", "NUMA bind:   False",
                "Data format: NCHW", "Optimizer:   sgd", "Variables:   parameter_server", "==========",
                "Generating training model", "Running warm up", "Done warm up"]
    yield "Step\tImg/sec\ttotal_loss" + ("\ttop_1_accuracy\ttop_5_accuracy" if accuracy else "")
    for i, step in enumerate([1, 10, 20, 30, 40, 50]):
        line = "%i\timages/sec: %.1f +/- %.1f (jitter = %.1f)\t%.*f" % (
            step, 134.5 - 0.1 * i, 0.1 * i, 0.2 * i, 3, 8.235 - 0.05 * i)
        yield line + ("\t%.*f\t%.*f" % (3, 0.001 * i, 3, 0.005 * i) if accuracy else "")
    yield from ["-" * 64, "total images/sec: %.2f" % 134.03, "-" * 64]


def object_detection():
    """model_main_tf2.py of the Object Detection API: two messages every hundred steps, the second of many lines."""
    for i in range(3):
        numbers = {"Loss/classification_loss": 0.51 - 0.1 * i, "Loss/localization_loss": 0.33 - 0.05 * i,
                   "Loss/regularization_loss": 0.15, "Loss/total_loss": 0.99 - 0.15 * i, "learning_rate": 0.04}
        yield "INFO:tensorflow:Step {} per-step time {:.3f}s".format(100 * (i + 1), 0.345 + 0.01 * i)
        yield "INFO:tensorflow:" + pprint.pformat(numbers, width=40)


def object_detection_first():
    """The first version of the same had the loss in one line."""
    for i in range(3):
        yield "INFO:tensorflow:Step {} per-step time {:.3f}s loss={:.3f}".format(
            100 * (i + 1), 0.345 + 0.01 * i, 0.99 - 0.15 * i)


def hf_trainer_v4():
    """Transformers up to 4: a dictionary of numbers, PrinterCallback's print(logs); 5 has text (the captures)."""
    for i in range(4):
        yield str({"loss": round(1.024 - 0.11 * i, 4), "grad_norm": 1.354 - 0.2 * i,
                   "learning_rate": 5e-05 / (i + 1), "epoch": round(0.5 * (i + 1), 2)})
    yield str({"eval_loss": 0.6528, "eval_runtime": 0.1104, "eval_samples_per_second": 362.2,
               "eval_steps_per_second": 45.27, "epoch": 2.0})
    yield str({"train_runtime": 1.0087, "train_samples_per_second": 317.2, "train_steps_per_second": 39.65,
               "train_loss": 0.8590, "epoch": 2.0})


def imagenet():
    """examples/imagenet of PyTorch: every tenth step of two epochs of 25, from the first; accuracy in percent."""
    for epoch in range(2):
        for i in range(0, 25, 10):
            loss = 7.0 - 0.1 * (i // 10) - epoch
            yield "\t".join([
                "Epoch: [%d][%2d/25]" % (epoch, i + 1), "Time %6.3f (%6.3f)" % (0.345, 0.4),
                "Data %6.3f (%6.3f)" % (0.01, 0.02),
                "Loss %.4e (%.4e)" % (loss, loss + 0.05), "Acc@1 %6.2f (%6.2f)" % (1.25 + i, 1.0 + i),
                "Acc@5 %6.2f (%6.2f)" % (5.25 + i, 5.0 + i)])
        yield "\t".join(["Test: [1/5]", "Time  0.200 ( 0.200)", "Loss 6.8000e+00 (6.8000e+00)",
                         "Acc@1   2.00 (  2.00)", "Acc@5   8.00 (  8.00)"])
        yield " *   Acc@1 %.3f Acc@5 %.3f" % (2.5 + epoch, 9.0 + epoch)


def workload():
    """trainscope-workload, as README.md shows it."""
    yield "data fashion_mnist train 60000 test 10000 from /usr/share/datasets/fashion-mnist"
    yield "model digits_cnn parameters 206922 batch 64 seed 1"
    yield "device cpu threads 2"
    for step, loss, rate in ((100, 0.9633, 3886), (200, 0.5464, 3174), (300, 0.4651, 3116), (400, 0.4239, 3730),
                             (500, 0.4270, 3741)):
        yield "step %d loss %.4f images/s %d" % (step, loss, rate)
    yield "eval step 541 accuracy 0.8478 loss 0.4232"
    yield "done steps 541 seconds 10.0 accuracy 0.8478"


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, lines in {"estimator_tf1": estimator(), "retrain": retrain(), "retrain_print": retrain_print(),
                        "slim_tf1": slim(), "tf_cnn_benchmarks": tf_cnn_benchmarks(),
                        "tf_cnn_benchmarks_accuracy": tf_cnn_benchmarks(True),
                        "object_detection": object_detection(),
                        "object_detection_first": object_detection_first(),
                        "hf_trainer_v4": hf_trainer_v4(), "pytorch_imagenet": imagenet(),
                        "workload": workload()}.items():
        (folder / (name + ".txt")).write_text("".join(line + "\n" for line in lines))


main()
