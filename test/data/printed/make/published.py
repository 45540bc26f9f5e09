"""Writes what programs print that no longer run here, by the formats in their published sources. The numbers
are made up.

  published.py FOLDER
"""
import datetime
import json
import math
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


def mnist():
    """examples/mnist of PyTorch, --log-interval 1: two epochs of 23 batches of 64; its numbers are items."""
    for epoch in (1, 2):
        for i in range(23):
            yield "Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}".format(
                epoch, i * 64, 23 * 64, 100. * i / 23, 2.3 / (epoch + i))
        yield from ["", "Test set: Average loss: {:.4f}, Accuracy: {}/{} ({:.0f}%)".format(
            0.3 / epoch, 9000 + 100 * epoch, 10000, 90. + epoch), ""]


def tutorial():
    """The lines of many tutorials: every tenth of 30 steps in two epochs."""
    for epoch in range(2):
        for i in range(9, 30, 10):
            yield "Epoch [{}/{}], Step [{}/{}], Loss: {:.4f}".format(epoch + 1, 2, i + 1, 30, 2.3 / (1 + i + epoch))
    yield "Test Accuracy of the model on the 10000 test images: 97.5 %"


def tutorial_step():
    for i in range(23):
        yield "Step {}/{}, Loss: {:.4f}".format(i + 1, 23, 2.3 / (1 + i))


def cifar10():
    """beginner/blitz/cifar10_tutorial of PyTorch's tutorials: every 2000th of 12500 steps, two epochs."""
    for epoch in range(2):
        for i in range(1999, 12500, 2000):
            yield f"[{epoch + 1}, {i + 1:5d}] loss: {2.2 / (1 + epoch + i / 2000):.3f}"
    yield "Finished Training"
    yield "Accuracy of the network on the 10000 test images: 54 %"


def quickstart():
    """beginner/basics/quickstart_tutorial of PyTorch's tutorials: every hundredth batch of 64, as items; two epochs."""
    for epoch in range(2):
        yield from [f"Epoch {epoch + 1}", "-------------------------------"]
        for batch in range(0, 938, 100):
            loss, current, size = 2.3 / (1 + batch / 100 + epoch), (batch + 1) * 64, 60000
            yield f"loss: {loss:>7f}  [{current:>5d}/{size:>5d}]"
        yield from ["Test Error: ", f" Accuracy: {(50.5 + epoch):>0.1f}%, Avg loss: {2.1 - epoch:>8f} ", ""]
    yield "Done!"


def word_language_model():
    """examples/word_language_model of PyTorch, --log-interval 10: two epochs of 40 batches."""
    for epoch in (1, 2):
        for batch in (10, 20, 30):
            loss = 7.5 / epoch - 0.1 * batch
            yield "| epoch {:3d} | {:5d}/{:5d} batches | lr {:02.2f} | ms/batch {:5.2f} | loss {:5.2f} | ppl {:8.2f}".format(
                epoch, batch, 40, 20.0, 12.34, loss, math.exp(loss))
        yield from ["-" * 89, "| end of epoch {:3d} | time: {:5.2f}s | valid loss {:5.2f} | valid ppl {:8.2f}".format(
            epoch, 36.81, 5.5 / epoch, math.exp(5.5 / epoch)), "-" * 89]
    yield from ["=" * 89, "| End of training | test loss {:5.2f} | test ppl {:8.2f}".format(2.5, math.exp(2.5)), "=" * 89]


def dcgan():
    """beginner/dcgan_faces_tutorial of PyTorch's tutorials: every 50th step from the first, two epochs of 151."""
    yield "Starting Training Loop..."
    for epoch in range(2):
        for i in range(0, 151, 50):
            yield "[%d/%d][%d/%d]\tLoss_D: %.4f\tLoss_G: %.4f\tD(x): %.4f\tD(G(z)): %.4f / %.4f" % (
                epoch, 2, i, 151, 0.4 + i / 1000, 5.1 - i / 100, 0.9, 0.1, 0.01)


def transfer_learning():
    """beginner/transfer_learning_tutorial of PyTorch's tutorials: only epochs, from 0."""
    for epoch in range(3):
        yield from [f"Epoch {epoch}/2", "-" * 10]
        yield f"train Loss: {0.5 / (1 + epoch):.4f} Acc: {0.7 + epoch / 10:.4f}"
        yield f"val Loss: {0.3 / (1 + epoch):.4f} Acc: {0.75 + epoch / 10:.4f}"
        yield ""
    yield "Training complete in 1m 6s"
    yield "Best val Acc: 0.950000"


def tutorial_epochs():
    """One line per epoch, as most scripts print it."""
    for epoch in range(5):
        yield f"Epoch {epoch + 1}/5, Loss: {0.5 / (1 + epoch):.4f}, Val Loss: {0.6 / (1 + epoch):.4f}, Accuracy: {60 + epoch:.2f}%"


def timm():
    """train.py of pytorch-image-models 1.0: the index of the update, from 0; the last one is always shown."""
    for epoch in range(2):
        for i in [0, 10, 20, 22]:
            loss, seconds, rate = 6.95 - 0.1 * i - epoch, 0.421, 2432.11 + i
            yield (f"Train: {epoch} [{i:>4d}/23 ({100. * (i + 1) / 23:>3.0f}%)]  Loss: {loss:#.3g} ({loss + .01:#.3g})  "
                   f"Time: {seconds:.3f}s, {rate:>7.2f}/s  ({seconds:.3f}s, {rate:>7.2f}/s)  "
                   f"LR: {1e-5:.3e}  Data: {0.01:.3f} ({0.012:.3f})")
        for i in [0, 4]:
            yield (f"Test: [{i:>4d}/4]  Time: {0.2:>7.3f} ({0.2:>7.3f})  Loss: {6.5:>7.3f} ({6.6:>6.3f})  "
                   f"Acc@1: {12.5:>7.3f} ({12.4:>7.3f})  Acc@5: {30.1:>7.3f} ({30.2:>7.3f})")
    yield "*** Best metric: 12.4 (epoch 1)"


def torchvision():
    """references/classification of torchvision, --print-freq 11: the index of the batch, from 0; time and data are
    averages."""
    for epoch in range(2):
        for i in range(0, 23, 11):
            loss, rate = 6.9 - 0.1 * i - epoch, 300.5 + i
            yield "  ".join([f"Epoch: [{epoch}]", f"[{i:2d}/23]", "eta: 0:00:10", f"lr: {0.1}", f"img/s: {rate}",
                             f"loss: {loss:.4f} ({loss + .1:.4f})", f"acc1: {1.25 + i:.4f} ({1 + i:.4f})",
                             f"acc5: {5 + i:.4f} ({5 + i:.4f})", "time: 0.4210", "data: 0.0100", "max mem: 4096"])
        yield f"Epoch: [{epoch}] Total time: 0:00:10"
        yield "  ".join(["Test: ", "[ 0/10]", "eta: 0:00:02", "loss: 6.5000 (6.5000)", "acc1: 12.5000 (12.5000)",
                         "acc5: 30.0000 (30.0000)", "time: 0.2000", "data: 0.1000", "max mem: 4096"])
        yield "Test:  Total time: 0:00:02"
        yield "Test:  Acc@1 12.400 Acc@5 30.200"


def json_lines():
    """One object a line, as many scripts log; an evaluation names its split."""
    for step in range(1, 24):
        yield json.dumps({"time": 1e9 + step, "epoch": 1, "step": step, "loss": round(2.3 / step, 4), "lr": 1e-3})
    yield json.dumps({"step": 23, "split": "val", "loss": 0.7})
    yield json.dumps({"config": {"step": 5}, "loss": 1})


def python_dictionaries():
    for step in range(23):
        yield str({"loss": round(2.3 / (1 + step), 4), "iteration": step, "note": "it's fine"})


def deepspeed():
    """DeepSpeed 0.19, steps_per_print 10: its logger's lines, and those of the throughput timer."""
    for step in range(10, 41, 10):
        before = "[2026-11-16 12:00:%02d,123] [INFO] " % step
        yield before + "[logging.py:107:log_dist] [Rank 0] step=%d, skipped=0, lr=[%g], mom=[(0.9, 0.999)]" % (
            step, 0.001 / step)
        yield before + ("[timer.py:264:stop] epoch=0/micro_step=%d/global_step=%d, RunningAvgSamplesPerSec=%s, "
                        "CurrSamplesPerSec=%s, MemAllocated=0.5GB, MaxMemAllocated=1.2GB" % (step, step, 260.1, 259.3))


def deepspeed_pipeline():
    """PipelineEngine.train_batch."""
    for step in range(10, 41, 10):
        yield f"steps: {step} loss: {5 / step:0.4f} iter time (s): {0.123:0.3f} samples/sec: {260.163:0.3f}"


def mmengine(by_epoch=True):
    """MMEngine 0.10: every tenth of 23 iterations, an evaluation after each epoch."""
    before = "11/16 12:00:00 - mmengine - INFO - "
    for epoch in (1, 2):
        for i in (10, 20):
            where = f"Epoch(train)  [{epoch}][{i}/23]" if by_epoch else f"Iter(train) [{(epoch - 1) * 20 + i}/40]"
            yield before + (f"{where}  lr: {1e-2:.4e}  eta: 0:00:10  time: 0.5000  data_time: 0.0100  memory: 1024  "
                            f"loss: {0.7 / epoch - i / 100:.4f}")
        if by_epoch:
            yield before + f"Saving checkpoint at {epoch} epochs"
            yield before + f"Epoch(val)  [{epoch}][10/10]    eta: 0:00:01  time: 0.1  data_time: 0.1  "
            yield before + (f"Epoch(val) [{epoch}][10/10]    accuracy/top1: {70.0 + epoch:.4f}  data_time: 0.1  "
                            "time: 0.1")


def mmcv():
    """MMCV 1: TextLoggerHook."""
    for epoch in (1, 2):
        for i in (10, 20):
            yield (f"2021-06-01 12:00:00,123 - mmdet - INFO - Epoch [{epoch}][{i}/23]\tlr: {1.978e-3:.3e}, "
                   f"eta: 8:20:00, time: 0.410, data_time: 0.053, memory: 3858, loss_cls: 0.5000, "
                   f"loss: {0.7 / epoch - i / 100:.4f}")


def fairseq():
    """fairseq 0.12, --log-format simple --log-interval 10: two epochs of 23 updates."""
    for epoch in (1, 2):
        for i in (10, 20) if epoch == 1 else (7, 17):
            update = (epoch - 1) * 23 + i
            yield ("2022-06-01 12:00:00 | INFO | train_inner | {}:  {:5d} / {:d} {}".format(
                "epoch {:03d}".format(epoch), i, 23, f"loss={10.5 - update / 10:.3f}, nll_loss=9.1, ppl=1448.15, "
                f"wps=1, ups=1, wpb=1, bsz=8, num_updates={update}, lr={1.25e-7 * update:g}, gnorm=1.2, train_wall=1, "
                "wall=3"))
        yield ("2022-06-01 12:00:00 | INFO | valid | epoch {:03d} | valid on 'valid' subset | loss {:.3f} | nll_loss "
               "8.1 | ppl 415.87 | num_updates {}".format(epoch, 8.7 - epoch, 23 * epoch))
        yield ("2022-06-01 12:00:00 | INFO | train | epoch {:03d} | loss {:.3f} | nll_loss 9.1 | ppl 1000 | "
               "num_updates {} | lr 1e-05".format(epoch, 9.5 - epoch, 23 * epoch))


def fairseq_json():
    """The same with --log-format json."""
    for epoch in (1, 2):
        for i in (10, 20) if epoch == 1 else (7, 17):
            update = (epoch - 1) * 23 + i
            yield "2022-06-01 12:00:00 | INFO | train_inner | " + json.dumps(
                {"epoch": epoch, "update": round(epoch - 1 + i / 23, 3), "loss": f"{10.5 - update / 10:.3f}",
                 "nll_loss": "9.1", "ppl": "1448.15", "num_updates": f"{update}", "lr": f"{1.25e-7 * update:g}"})
        yield "2022-06-01 12:00:00 | INFO | valid | " + json.dumps(
            {"epoch": epoch, "valid_loss": f"{8.7 - epoch:.3f}", "valid_num_updates": f"{23 * epoch}"})
        yield "2022-06-01 12:00:00 | INFO | train | " + json.dumps(
            {"epoch": epoch, "train_loss": f"{9.5 - epoch:.3f}", "train_num_updates": f"{23 * epoch}"})


def ultralytics_tqdm():
    """Ultralytics up to 8.3.180, whose bars were tqdm's; each line without its \\r frames."""
    yield "train: Scanning /data/coco8/labels/train.cache... 4 images, 0 backgrounds, 0 corrupt: 100%|██████████| 23/23 [00:00<?, ?it/s]"
    for epoch in (1, 2):
        yield "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size"
        for i in (0, 11, 23):
            desc = ("%11s" * 2 + "%11.4g" * 5) % (f"{epoch}/2", "2.1G", 1.2, 1.5, 1.1, 12, 640)
            yield f"{desc}: {100 * i // 23:3d}%|{'█' * (10 * i // 23):<10}| {i}/23 [00:{i // 10:02d}<00:01, 12.3it/s]"
        yield ("%22s" + "%11s" * 6) % ("Class", "Images", "Instances", "Box(P", "R", "mAP50", "mAP50-95)") + \
            ": 100%|██████████| 23/23 [00:01<00:00,  3.9it/s]"
        yield ("%22s" + "%11i" * 2 + "%11.3g" * 4) % ("all", 4, 17, 0.6, 0.5, 0.7, 0.5)


def lightgbm_program():
    """The lightgbm program, metric_freq 1."""
    for i in range(1, 24):
        yield f"[LightGBM] [Info] Iteration:{i}, training l2 : {1 / i:f}"
        yield f"[LightGBM] [Info] Iteration:{i}, valid_1 l2 : {1.1 / i:f}"
        yield f"[LightGBM] [Info] {0.01 * i:f} seconds elapsed, finished iteration {i}"


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
                        "pytorch_mnist": mnist(), "tutorial": tutorial(), "tutorial_step": tutorial_step(),
                        "cifar10": cifar10(), "quickstart": quickstart(), "dcgan": dcgan(),
                        "word_language_model": word_language_model(), "transfer_learning": transfer_learning(),
                        "tutorial_epochs": tutorial_epochs(),
                        "timm": timm(), "torchvision": torchvision(), "json_lines": json_lines(),
                        "python_dictionaries": python_dictionaries(), "deepspeed": deepspeed(),
                        "deepspeed_pipeline": deepspeed_pipeline(), "mmengine": mmengine(),
                        "mmengine_iterations": mmengine(False), "mmcv": mmcv(), "fairseq": fairseq(),
                        "fairseq_json": fairseq_json(), "ultralytics_tqdm": ultralytics_tqdm(),
                        "lightgbm_program": lightgbm_program(), "workload": workload()}.items():
        (folder / (name + ".txt")).write_text("".join(line + "\n" for line in lines))


main()
