"""Writes expected.json: what a reader should find in each file here. It reads with plain string operations, each
program's lines by rules of their own, so that it shares nothing with the patterns under test.

  expect.py
"""
import ast
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent.parent
BLOCKS = "━╸╺█▏▎▍▌▋▊▉"


def frames(data):
    """What stood on the terminal one after another: pieces between \\n, \\r and \\b, without escape sequences."""
    pieces, piece, escape = [], "", False
    for c in data.decode() + "\n":
        if escape:
            escape = not (c.isalpha() or c == "~")
        elif c == "\x1b":
            escape = True
        elif c in "\n\r\b":
            if piece.strip():
                pieces.append(piece)
            piece = ""
        else:
            piece += c
    return pieces


def number(text):
    """The number that a text begins with, or None."""
    text = text.strip().strip("'\"").rstrip("%,")
    while text:
        try:
            return float(text)
        except ValueError:
            text = text[:-1]
    return None


def ratio_of(text):
    """n/m as two numbers, or None."""
    left, slash, right = text.strip().partition("/")
    return (int(left), int(right)) if slash and left.isdigit() and right.isdigit() else None


class Found:
    """Reports in the order of their first frame. A frame that shows the same step again adds to the report."""

    def __init__(self):
        self.reports, self.epochs, self.index = [], [], {}

    def step(self, key, **values):
        if key not in self.index:
            self.index[key] = {}
            self.reports.append(self.index[key])
        self.index[key].update({k: v for k, v in values.items() if v is not None})

    def epoch(self, number_, **values):
        if not self.epochs or self.epochs[-1]["epoch"] != number_:
            self.epochs.append({"epoch": number_})
        self.epochs[-1].update({k: v for k, v in values.items() if v is not None})


def duration(word):
    """34ms/step, 2s/step, 55us/step in seconds."""
    value, _, unit = word.partition("/")
    for ending, scale in (("ms", 1e-3), ("us", 1e-6), ("s", 1)):
        if unit == "step" and value.endswith(ending) and value[:-len(ending)].isdigit():
            return round(int(value[:-len(ending)]) * scale, 9)
    return None


def keras(pieces):
    """Both Keras: `Epoch k/n`, then frames `i/N …`. Of several N the training's is the largest: evaluation takes
    less. Without `Epoch` lines there is one epoch."""
    rows, epoch = [], 1
    for piece in pieces:
        if piece.startswith("Epoch ") and ratio_of(piece[6:]):
            epoch = ratio_of(piece[6:])[0]
            continue
        first = piece.split()[0]
        place = ratio_of(first)
        if not place and first.endswith("/Unknown"):
            place = (int(first[:-8]), None)
        if not place:
            continue
        numbers, seconds = {}, None
        for part in piece.split(" - "):
            name, colon, value = part.partition(": ")
            if colon and name != "ETA":
                numbers[name] = number(value)
            for word in part.split():
                seconds = duration(word) or seconds
        rows.append((epoch, *place, numbers, seconds))
    of = max((row[2] for row in rows if row[2]), default=None)
    found = Found()
    for epoch, step, total, numbers, seconds in rows:
        if total not in (of, None):
            continue
        found.step((epoch, step), step=step, of=total, epoch=epoch, loss=numbers.get("loss"),
                   accuracy=numbers.get("accuracy"), seconds=seconds)
        if total is None or step == total:
            found.epoch(epoch, **{name: numbers.get(name)
                                  for name in ("loss", "accuracy", "val_loss", "val_accuracy")})
    return found


def bar(piece):
    """A tqdm frame: what stands before it, n, total, seconds a step, numbers behind it; or None."""
    before, bracket, inside = piece.rpartition(" [")
    if not bracket or "]" not in inside:
        return None
    inside = inside[:inside.index("]")]
    words = before.split()
    place = ratio_of(words[-1]) if words else None
    if not place and words and words[-1].endswith("it") and words[-1][:-2].isdigit():
        place = (int(words[-1][:-2]), None)
    if not place:
        return None
    seconds, numbers = None, {}
    for part in inside.split(", ")[1 if "<" not in inside else 0:]:
        for word in part.split(","):
            word = word.strip()
            if word.endswith("it/s") and number(word) is not None:
                seconds = 1 / number(word)
            elif word.endswith("s/it") and number(word) is not None:
                seconds = number(word)
            elif "=" in word:
                numbers[word.partition("=")[0]] = number(word.partition("=")[2])
    return before.split(":")[0] if ":" in before else "", *place, seconds, numbers


def rounded(value):
    return None if value is None else float("%.6g" % value)


def tqdm(pieces):
    """Bars; `Epoch k/n:` before one is the epoch. n/N says that n steps are done: 0 is no step."""
    found = Found()
    for piece in pieces:
        seen = bar(piece)
        if not seen or seen[1] == 0:
            continue
        text, step, total, seconds, numbers = seen
        epoch = ratio_of(text[6:]) if text.startswith("Epoch ") else None
        found.step((text, step), step=step, of=total, epoch=epoch[0] if epoch else None,
                   loss=numbers.get("loss"), accuracy=numbers.get("acc"), seconds=rounded(seconds))
    return found


def tqdm_nested(pieces):
    """A bar around another one: the first bar counts epochs, and the bar within it begins again in each of them."""
    found, epoch, outer = Found(), 0, None
    for piece in pieces:
        seen = bar(piece)
        if not seen:
            continue
        _, step, total, seconds, _ = seen
        outer = outer or total
        if total != outer and step == 0:
            epoch += 1
        elif total != outer:
            found.step((epoch, step), step=step, of=total, seconds=rounded(seconds))
    return found


def lightning_tqdm(pieces):
    """`Epoch k:` is training, every other bar is not. val_loss is the last epoch's until the epoch ends."""
    found = Found()
    for piece in pieces:
        seen = bar(piece)
        if not seen or seen[1] == 0 or not seen[0].startswith("Epoch "):
            continue
        text, step, total, seconds, numbers = seen
        epoch = int(text[6:])
        found.step((epoch, step), step=step, of=total, epoch=epoch, loss=numbers.get("train_loss"),
                   seconds=rounded(seconds))
        if step == total:
            found.epoch(epoch, loss=numbers.get("train_loss"), val_loss=numbers.get("val_loss"))
    return found


def lightning_rich(pieces):
    """`Epoch k/last ━━━ i/N 0:00:00 • 0:00:00 42.73it/s train_loss: 0.688`; a long one goes on in the next line."""
    found = Found()
    for i, piece in enumerate(pieces):
        words = [word for word in piece.split() if word.strip(BLOCKS)]
        if not words or words[0] != "Epoch":
            continue
        following = pieces[i + 1].split() if i + 1 < len(pieces) and pieces[i + 1][:20].isspace() else []
        epoch, (step, total) = ratio_of(words[1])[0], ratio_of(words[2])
        if step == 0:
            continue
        numbers = {}
        words += following
        for name, value in zip(words, words[1:]):
            if name.endswith(":") and number(value) is not None:
                numbers[name[:-1]] = number(value)
        rate = next((number(word) for word in words if word.endswith("it/s")), 0)
        found.step((epoch, step), step=step, of=total, epoch=epoch, loss=numbers.get("train_loss"),
                   seconds=rounded(1 / rate) if rate else None)
        if step == total:
            found.epoch(epoch, loss=numbers.get("train_loss"), val_loss=numbers.get("val_loss"))
    return found


def hf_trainer(pieces):
    """One bar over all epochs; a bar with another total is an evaluation's. A dictionary belongs to the step that
    the training's bar shows next; without a bar it has no step."""
    found, total, waiting = Found(), None, []
    for piece in pieces:
        seen = bar(piece)
        if piece.startswith("{"):
            logs = {name: number(str(value)) for name, value in ast.literal_eval(piece).items()}
            if "train_runtime" not in logs:
                waiting.append({"loss": logs.get("loss"), "val_loss": logs.get("eval_loss"),
                                "epoch": logs.get("epoch")})
        elif seen:
            total = total or seen[2]
            if seen[2] != total or seen[1] == 0:
                continue
            found.step(seen[1], step=seen[1], of=total, seconds=rounded(seen[3]))
            for logs in waiting:
                found.step(seen[1], **logs)
            waiting = []
    for i, logs in enumerate(waiting):
        found.step(("no bar", i), **logs)
    return found


def after(piece, text, end=None):
    """What follows a text, up to another."""
    rest = piece.partition(text)[2]
    return rest.partition(end)[0] if end else rest


def estimator(pieces):
    """`loss = x, step = n (t sec)`; `global_step/sec: r` stands before the line of its step. absl says all twice."""
    found, rate = Found(), None
    for piece in pieces:
        if "global_step/sec: " in piece:
            rate = number(after(piece, "global_step/sec: "))
        elif "loss = " in piece and ", step = " in piece:
            step = int(number(after(piece, ", step = ")))
            found.step(step, step=step, loss=number(after(piece, "loss = ", ",")),
                       seconds=rounded(1 / rate) if rate else None)
    return found


def slim(pieces):
    found = Found()
    for piece in pieces:
        if "global step " in piece:
            step = int(number(after(piece, "global step ", ":")))
            found.step(step, step=step, loss=number(after(piece, "loss = ")), seconds=number(after(piece, " (")))
    return found


def retrain(pieces):
    found = Found()
    for piece in pieces:
        if ": Step " not in piece:
            continue
        step = int(after(piece, ": Step ", ":"))
        found.step(step, step=step)
        if "Train accuracy" in piece:
            found.step(step, accuracy=rounded(number(after(piece, "= ")) / 100))
        elif "Cross entropy" in piece:
            found.step(step, loss=number(after(piece, "= ")))
        elif "Validation accuracy" in piece:
            found.step(step, val_accuracy=rounded(number(after(piece, "= ", "%")) / 100))
    return found


def tf_cnn_benchmarks(pieces):
    found = Found()
    for piece in pieces:
        columns = piece.split("\t")
        if len(columns) > 2 and columns[0].isdigit():
            found.step(int(columns[0]), step=int(columns[0]), loss=number(columns[2]),
                       throughput=number(after(columns[1], "images/sec: ")),
                       accuracy=number(columns[3]) if len(columns) > 3 else None)
    return found


def object_detection(pieces):
    found, step = Found(), None
    for piece in pieces:
        if " per-step time " in piece:
            step = int(after(piece, "Step ", " "))
            loss = number(after(piece, "loss=")) if "loss=" in piece else None
            found.step(step, step=step, seconds=number(after(piece, "per-step time ", "s")), loss=loss)
        elif "'Loss/total_loss': " in piece:
            found.step(step, loss=number(after(piece, "'Loss/total_loss': ")))
    return found


def imagenet(pieces):
    found = Found()
    for piece in pieces:
        if piece.startswith("Epoch: ["):
            epoch = int(after(piece, "Epoch: [", "]"))
            step, total = ratio_of(after(piece, "][", "]"))
            found.step((epoch, step), step=step, of=total, epoch=epoch, loss=number(after(piece, "Loss ", " ")),
                       accuracy=rounded(number(after(piece, "Acc@1 ", " (")) / 100),
                       seconds=number(after(piece, "Time ", " (")))
    return found


def mnist(pieces):
    """A line states how many items of the dataset were seen: it is one report, without a number."""
    found = Found()
    for i, piece in enumerate(pieces):
        if piece.startswith("Train Epoch: "):
            item = ratio_of(after(piece, "[", " "))[0]
            found.step(i, step=item, epoch=int(after(piece, "Epoch: ", " ")), loss=number(after(piece, "Loss: ")))
    return found


def tutorial(pieces):
    found = Found()
    for piece in pieces:
        if ", Loss: " in piece:
            epoch = ratio_of(after(piece, "Epoch [", "]")) if piece.startswith("Epoch") else None
            step, total = ratio_of(after(piece, "Step ", ",").strip("[]"))
            found.step((epoch, step), step=step, of=total, epoch=epoch[0] if epoch else None,
                       loss=number(after(piece, "Loss: ")))
            if epoch and step == total:
                found.epoch(epoch[0], loss=number(after(piece, "Loss: ")))
    return found


def cifar10(pieces):
    found = Found()
    for piece in pieces:
        if "] loss: " in piece:
            epoch, step = (int(text) for text in after(piece, "[", "]").split(","))
            found.step((epoch, step), step=step, epoch=epoch, loss=number(after(piece, "loss: ")))
    return found


def quickstart(pieces):
    """As the MNIST example: a line is one report, without a number."""
    found = Found()
    epoch = None
    for i, piece in enumerate(pieces):
        if piece.startswith("Epoch "):
            epoch = int(after(piece, "Epoch "))
        if piece.startswith("loss: "):
            item = ratio_of(after(piece, "[", "]"))[0]
            found.step(i, step=item, epoch=epoch, loss=number(after(piece, "loss: ", " ")))
    return found


def word_language_model(pieces):
    found = Found()
    for piece in pieces:
        if piece.startswith("| epoch "):
            epoch = int(after(piece, "epoch ", "|"))
            step, total = ratio_of(after(piece, f"{epoch} |", "batches").replace(" ", ""))
            found.step((epoch, step), step=step, of=total, epoch=epoch, loss=number(after(piece, "loss ", "|")))
        if piece.startswith("| end of epoch "):
            found.epoch(int(after(piece, "epoch ", "|")), val_loss=number(after(piece, "valid loss ", "|")))
    return found


def dcgan(pieces):
    """The index begins at 0."""
    found = Found()
    for piece in pieces:
        if "Loss_D: " in piece:
            epoch = ratio_of(after(piece, "[", "]"))[0]
            index, total = ratio_of(after(piece, "][", "]"))
            found.step((epoch, index), step=index + 1, of=total, epoch=epoch)
            if index + 1 == total:
                found.epoch(epoch)
    return found


def transfer_learning(pieces):
    found = Found()
    epoch = None
    for piece in pieces:
        if piece.startswith("Epoch "):
            epoch = ratio_of(after(piece, "Epoch "))[0]
        if piece.startswith("train Loss: "):
            found.epoch(epoch, loss=number(after(piece, "Loss: ", " ")), accuracy=number(after(piece, "Acc: ")))
    return found


def tutorial_epochs(pieces):
    found = Found()
    for piece in pieces:
        if piece.startswith("Epoch "):
            found.epoch(ratio_of(after(piece, "Epoch ", ","))[0], loss=number(after(piece, "Loss: ", ",")),
                        accuracy=rounded(number(after(piece, "Accuracy: ", "%")) / 100),
                        val_loss=number(after(piece, "Val Loss: ", ",")))
    return found


def timm(pieces):
    """The index begins at 0."""
    found = Found()
    for piece in pieces:
        if piece.startswith("Train: "):
            epoch = int(piece.split()[1])
            index, total = ratio_of(after(piece, "[", " ("))
            loss = number(after(piece, "Loss: ", " ("))
            found.step((epoch, index), step=index + 1, of=total, epoch=epoch, loss=loss,
                       throughput=number(after(piece, "s, ", "/s")))
            if index + 1 == total:
                found.epoch(epoch, loss=loss)
    return found


def torchvision(pieces):
    """The index begins at 0."""
    found = Found()
    for piece in pieces:
        if not piece.startswith("Epoch: ["):
            continue
        epoch = int(after(piece, "[", "]"))
        if "Total time" in piece:
            found.epoch(epoch)
            continue
        index, total = ratio_of(after(piece, "]  [", "]"))
        values = {"loss": number(after(piece, " loss: ", " (")),
                  "accuracy": rounded(number(after(piece, "acc1: ", " (")) / 100)}
        found.step((epoch, index), step=index + 1, of=total, epoch=epoch,
                   throughput=number(after(piece, "img/s: ", "  ")), **values)
        if index + 1 == total:
            found.epoch(epoch, **values)
    return found


def json_lines(pieces):
    """A step is an integer of the object itself; a line of another split is not training."""
    found = Found()
    for piece in pieces:
        values = ast.literal_eval(piece)
        step = values.get("step", values.get("iteration"))
        if step is not None and "split" not in values:
            found.step(step, step=step, epoch=values.get("epoch"), loss=values["loss"])
    return found


def deepspeed(pieces):
    found = Found()
    for piece in pieces:
        if "[Rank 0] step=" in piece:
            step = int(after(piece, "step=", ","))
            found.step(step, step=step)
        elif piece.startswith("steps: "):
            words = piece.split()
            found.step(int(words[1]), step=int(words[1]), loss=number(words[3]), seconds=number(words[7]),
                       throughput=number(words[9]))
    return found


def mmengine(pieces):
    found = Found()
    for piece in pieces:
        where = piece.partition(" - INFO - ")[2].split("]  ")[0].split("]\t")[0]
        if not where.startswith(("Epoch(train)", "Iter(train)", "Epoch [")):
            continue
        step, total = ratio_of(where.rpartition("[")[2])
        epoch = int(after(where, "[", "]")) if where.startswith("Epoch") else None
        found.step((epoch, step), step=step, of=total, epoch=epoch, loss=number(after(piece, " loss: ")))
    return found


def fairseq(pieces):
    found = Found()
    for piece in pieces:
        _, _, tag, *rest = piece.split(" | ")
        if tag == "train_inner" and rest[0].startswith("{"):
            values = json.loads(rest[0])
            found.step(values["num_updates"], step=int(values["num_updates"]), epoch=values["epoch"],
                       loss=number(values["loss"]))
        elif tag == "train_inner":
            epoch, step, total = (int(word.rstrip(":")) for word in rest[0].split()[1:5] if word != "/")
            found.step((epoch, step), step=step, of=total, epoch=epoch, loss=number(after(piece, " loss=")))
        elif rest[0].startswith("{"):
            values = json.loads(rest[0])
            found.epoch(values["epoch"], **{name.replace("train_", "").replace("valid", "val"): number(value)
                                            for name, value in values.items() if name.endswith("_loss")})
        else:
            loss = number(after(piece, "| loss ", " "))
            found.epoch(int(rest[0].split()[1]), **{"val_loss" if tag == "valid" else "loss": loss})
    return found


def ultralytics(pieces):
    """`k/n memory …: 95% bar i/N …` is training, every other bar is not."""
    found = Found()
    for piece in pieces:
        words = piece.split()
        place = ratio_of(words[0])
        if not place or not words[1].endswith("G"):
            continue
        step, total = next(filter(None, (ratio_of(word) for word in words[2:])))
        if step > 0:
            found.step((place[0], step), step=step, of=total, epoch=place[0])
        if step == total:
            found.epoch(place[0])
    return found


def boosting(pieces):
    """`[i]` and a tab begin a round. A number that goes back repeats the best round."""
    found, last = Found(), -1
    for piece in pieces:
        text, tab, rest = piece.partition("]\t")
        if not tab or not text[1:].isdigit() or int(text[1:]) <= last:
            continue
        last = int(text[1:])
        values = [part.replace(": ", ":").rpartition(":")[2] for part in rest.split("\t")]
        found.step(last, step=last, loss=number(values[0]))
    return found


def lightgbm_program(pieces):
    found = Found()
    for piece in pieces:
        if " Iteration:" in piece:
            step = int(after(piece, "Iteration:", ","))
            found.step(step, step=step)
    return found


def workload(pieces):
    found = Found()
    for piece in pieces:
        words = piece.split()
        if words[0] == "step":
            found.step(int(words[1]), step=int(words[1]), loss=number(words[3]), throughput=number(words[5]))
        elif words[:2] == ["eval", "step"]:
            found.step(int(words[2]), step=int(words[2]), val_accuracy=number(words[4]), val_loss=number(words[6]))
    return found


def count(reports, read):
    """How many steps the file tells of. A bar says how many are done, in its epoch: they are added up, and an epoch
    that another follows was done to its end. Other numbers are counted from where they start."""
    steps = [report for report in reports if "step" in report]
    if not steps:
        return None
    numbers = [report["step"] for report in steps]
    if read in (mnist, quickstart):
        return len(steps)
    if read is tqdm_nested:
        ends = [report for report, after in zip(steps, numbers[1:]) if after <= report["step"]]
        return sum(report["of"] for report in ends) + numbers[-1]
    if read in (keras, tqdm) or "of" in steps[0]:
        epochs = {}
        for report in steps:
            whole = report.get("epoch") if read is not hf_trainer else None  # Its one bar is over all epochs.
            epochs.setdefault(whole, []).append(max(report["step"], report.get("of", 0)))
        return sum(max(done) for done in list(epochs.values())[:-1]) + numbers[-1]
    if read is cifar10:
        epochs = {report["epoch"]: report["step"] for report in steps}
        return sum(epochs.values())
    first, last = numbers[0], max(numbers)
    interval = numbers[1] - first
    if first > 1 and first in (interval, interval - 1):  # 10, 20, …; or 9, 19, …, counted from 0
        return last + interval - first
    return last - first + 1


# File: reader, steps that were really done, and why the count differs or is not there.
FILES = {
    "keras_v1_pipe": (keras, 50), "keras_v1_pty": (keras, 50), "keras_v1_val_pipe": (keras, 50),
    "keras_v1_val_pty": (keras, 50), "keras_v1_evaluate_pipe": (keras, 50), "keras_v1_evaluate_pty": (keras, 50),
    "keras_v1_one_epoch_pipe": (keras, 25), "keras_v1_unknown_pipe": (keras, 50),
    "keras_v1_long_pipe": (keras, 50), "keras_v2_pipe": (keras, 50), "keras_v2_val_pipe": (keras, 50),
    "keras_v2_val_pty": (keras, 50), "keras_v2_evaluate_pipe": (keras, 50), "keras2_v1_val_pipe": (keras, 50),
    "keras2_v1_val_pty": (keras, 50), "keras2_v2_val_pipe": (keras, 50), "keras2_v1_evaluate_pipe": (keras, 50),
    "tqdm_plain_pipe": (tqdm, 60), "tqdm_postfix_pipe": (tqdm, 60), "tqdm_postfix_pty": (tqdm, 60),
    "tqdm_slow_pipe": (tqdm, 8), "tqdm_unknown_pipe": (tqdm, 60),
    "tqdm_nested_pipe": (tqdm_nested, 60), "tqdm_nested_pty": (tqdm_nested, 60),
    "tqdm_many_epochs_pipe": (tqdm_nested, 40), "tqdm_many_epochs_pty": (tqdm_nested, 40),
    "lightning_tqdm_pipe": (lightning_tqdm, 50), "lightning_tqdm_val_pipe": (lightning_tqdm, 50),
    "lightning_tqdm_val_pty": (lightning_tqdm, 50),
    "lightning_rich_val_pipe": (lightning_rich, 50, "without a terminal Rich prints the last epoch alone"),
    "lightning_rich_val_pty": (lightning_rich, 50),
    "hf_trainer_pipe": (hf_trainer, 40), "hf_trainer_eval_pipe": (hf_trainer, 40),
    "hf_trainer_eval_pty": (hf_trainer, 40),
    "hf_trainer_no_bar_pipe": (hf_trainer, 40, "without its bar the Trainer tells parts of epochs, no steps"),
    "hf_trainer_v4": (hf_trainer, 40, "without its bar the Trainer tells parts of epochs, no steps"),
    "estimator_hooks_pipe": (estimator, 50, "the last report is of step 40"),
    "estimator_hooks_absl_pty": (estimator, 50, "the last report is of step 40"),
    "estimator_tf1": (estimator, 450, "the last report is of step 401"),
    "slim_pipe": (slim, 40), "slim_tf1": (slim, 40), "retrain": (retrain, 30), "retrain_print": (retrain, 30),
    "tf_cnn_benchmarks": (tf_cnn_benchmarks, 50), "tf_cnn_benchmarks_accuracy": (tf_cnn_benchmarks, 50),
    "object_detection": (object_detection, 300), "object_detection_first": (object_detection, 300),
    "pytorch_imagenet": (imagenet, 50, "the last report is of step 21 of 25"),
    "pytorch_mnist": (mnist, 46), "tutorial": (tutorial, 60), "tutorial_step": (tutorial, 23), "timm": (timm, 46),
    "cifar10": (cifar10, 25000, "the last report of an epoch is of step 12000"), "quickstart": (quickstart, 20),
    "word_language_model": (word_language_model, 80, "the last report is of step 30 of 40"), "dcgan": (dcgan, 302),
    "transfer_learning": (transfer_learning, 183, "only epochs are printed"),
    "tutorial_epochs": (tutorial_epochs, 500, "only epochs are printed"),
    "torchvision": (torchvision, 46), "json_lines": (json_lines, 23), "python_dictionaries": (json_lines, 23),
    "deepspeed": (deepspeed, 40), "deepspeed_pipeline": (deepspeed, 40),
    "mmengine": (mmengine, 46, "the last report is of step 20 of 23"), "mmengine_iterations": (mmengine, 40),
    "mmcv": (mmengine, 46, "the last report is of step 20 of 23"),
    "fairseq": (fairseq, 46, "the last report is of update 40"),
    "fairseq_json": (fairseq, 46, "the last report is of update 40"),
    "ultralytics_tqdm": (ultralytics, 46), "ultralytics_pipe": (ultralytics, 46), "ultralytics_pty": (ultralytics, 46),
    "xgboost_pipe": (boosting, 23), "lightgbm_pipe": (boosting, 23), "lightgbm_early_pipe": (boosting, 8),
    "lightgbm_program": (lightgbm_program, 23),
    "workload": (workload, 541),
}


def main():
    expected = {}
    for name, (read, done, *why) in FILES.items():
        found = read(frames((HERE / f"{name}.txt").read_bytes()))
        entry = {"format": read.__name__, "count": count(found.reports, read), "done": done,
                 "observed": len([report for report in found.reports if "step" in report])}
        if (entry["count"] != done) != bool(why):
            print(f"{name}: count {entry['count']}, done {done}, {why or 'no reason'}")
        if why:
            entry["why"] = why[0]
        entry["reports"] = found.reports
        if found.epochs:
            entry["epochs"] = found.epochs
        expected[f"{name}.txt"] = entry
    missing = {file.name for file in HERE.glob("*.txt")} ^ set(expected)
    if missing:
        print("not the same files:", missing)
    text = json.dumps(expected, indent=1).replace("\n    ", " ").replace("\n   }", " }")
    (HERE / "expected.json").write_text(text + "\n")


main()
