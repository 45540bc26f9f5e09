// The lines that training programs print. To add a format, add a row here and a captured file in
// test/data/printed. NUM stands for a number, NOT_OTHER for a lookahead that excludes bars of
// downloads, validation and the like.
#include "record/intake/printed.h"

namespace trainscope {

namespace {

constexpr PrintedFormat kFormats[] = {
    {.name = "keras, epoch",
     .begins = "Epoch ",
     .pattern = R"(^Epoch (?<epoch>\d+)/\d+\s*$)",
     .kind = PrintedFormat::Kind::epoch_begins,
     .example = "Epoch 3/10"},
    {.name = "keras",
     .hint = "/",
     .pattern =
         R"(^\s*(?<step>\d+)/(?:(?<of>\d+)|Unknown) (?=\s*[━\[\-\d])(?=.*(?:/step|- ETA: )))"
         R"((?=(?:.*?- loss: (?<loss>NUM))?))"
         R"((?=(?:.*?- (?:(?:sparse_)?categorical_|binary_)?acc(?:uracy)?: (?<accuracy>NUM))?))"
         R"((?=(?:.*?- val_loss: (?<val_loss>NUM))?))"
         R"((?=(?:.*?- val_(?:(?:sparse_)?categorical_|binary_)?acc(?:uracy)?: (?<val_accuracy>NUM))?))",
     .kind = PrintedFormat::Kind::bar_of_epoch,
     .example = "12/32 ━━━━━━━━ 1s 20ms/step - accuracy: 0.87 - loss: 0.34"},
    {.name = "tqdm, Lightning, Hugging Face",
     .hint = "|",
     .second_hint = "<",
     .pattern =
         R"(^NOT_OTHER(?:(?=[^|\[]*?Epoch:?\s*+\[?(?<epoch>\d+))?)(?:[^|%\[\r\n]*?:\s++)?\s*+(?:\d+%)?\|[^|]*\|\s*)"
         R"((?<step>\d+)/(?<of>\d+) \[[\d:]+<[\d:?]+,)"
         R"((?=(?:.*?[ ,](?:train[_/])?loss(?:_step)?=(?<loss>NUM))?))"
         R"((?=(?:.*?[ ,](?:train[_/])?acc(?:uracy)?=(?<accuracy>NUM))?))"
         R"((?=(?:.*?[ ,]val[_/]loss=(?<val_loss>NUM))?))",
     .kind = PrintedFormat::Kind::bar,
     .example =
         "Epoch 2:  45%|████▌     | 45/100 [00:01<00:01, 44.2it/s, v_num=0, train_loss=0.31]"},
    {.name = "tqdm without a total",
     .hint = "it [",
     .pattern = R"(^NOT_OTHER(?:[^|%\[\r\n]*?:\s++)?(?<step>[1-9]\d*)it \[[\d:]+,)"
                R"((?=(?:.*?[ ,](?:train[_/])?loss(?:_step)?=(?<loss>NUM))?))",
     .example = "train: 55it [00:01, 45.63it/s, loss=0.0364]"},
    {.name = "rich (Lightning)",
     .begins = "Epoch ",
     .pattern =
         R"(^Epoch (?<epoch>\d+)/\S+\s+[━╸╺ ]*(?<step>\d+)/(?<of>\d+)\s+[-\d:]+ • [-\d:]+\s+)"
         R"((?=(?:.*?\btrain_loss(?:_step)?: (?<loss>NUM))?))"
         R"((?=(?:.*?\bval_loss: (?<val_loss>NUM))?))",
     .example = "Epoch 0/1  ━━━━━━━━━━━ 3/25 0:00:00 • 0:00:01 31.99it/s train_loss: 0.903"},
    {.name = "Hugging Face, numbers",
     .begins = "{",
     .hint = "'epoch': ",
     .pattern = R"(^\{(?!'train_runtime')(?=(?:.*'loss': '?(?<loss>NUM))?))"
                R"((?=(?:.*'eval_loss': '?(?<val_loss>NUM))?))"
                R"((?=(?:.*'eval_accuracy': '?(?<val_accuracy>NUM))?))",
     .kind = PrintedFormat::Kind::numbers,
     .example = "{'loss': '1.024', 'grad_norm': '1.354', 'epoch': '0.5'}"},
    {.name = "estimator",
     .hint = "step = ",
     .pattern = R"(\bloss = (?<loss>NUM),(?: [^,]+,)*? step = (?<step>\d+))",
     .example = "INFO:tensorflow:loss = 2.3025, step = 100 (0.345 sec)"},
    {.name = "slim",
     .hint = "global step ",
     .pattern =
         R"(\bglobal step (?<step>\d+): loss = (?<loss>NUM) \((?<seconds>[\d.]+) sec/step\))",
     .example = "INFO:tensorflow:global step 100: loss = 2.1234 (0.340 sec/step)"},
    {.name = "retrain",
     .hint = "Step ",
     .pattern = R"(\bStep (?<step>\d+): (?:Train accuracy = (?<percent>NUM)%|)"
                R"(Cross entropy = (?<loss>NUM)|Validation accuracy = (?<val_percent>NUM)%))",
     .example = "2017-05-15 10:12:44.541412: Step 10: Train accuracy = 81.0%"},
    {.name = "tf_cnn_benchmarks",
     .hint = "images/sec: ",
     .pattern = R"((?:^|\s)(?<step>\d+)\s+images/sec: (?<throughput>NUM) \+/- NUM )"
                R"(\(jitter = NUM\)\s+(?<loss>NUM)(?:\s+(?<accuracy>NUM)\s+NUM)?)",
     .example = "10\timages/sec: 123.4 +/- 0.5 (jitter = 1.2)\t7.412"},
    {.name = "Object Detection API",
     .hint = "per-step time",
     .pattern = R"(\bStep (?<step>\d+) per-step time (?<seconds>[\d.]+)s(?: loss=(?<loss>NUM))?)",
     .example = "INFO:tensorflow:Step 100 per-step time 0.345s loss=0.990"},
    {.name = "PyTorch's imagenet example",
     .begins = "Epoch: [",
     .pattern = R"(^Epoch: \[(?<epoch>\d+)\]\[\s*(?<step>\d+)/(?<of>\d+)\])"
                R"((?=(?:.*?\bLoss\s+(?<loss>NUM))?)(?=(?:.*?\bAcc@1\s+(?<percent>NUM))?))",
     .example = "Epoch: [0][11/25]\tTime  0.345 ( 0.400)\tLoss 6.9000e+00 (6.9500e+00)"},
    {.name = "trainscope-workload",
     .begins = "step ",
     .pattern = R"(^step (?<step>\d+) loss (?<loss>NUM)(?: images/s (?<throughput>NUM))?)",
     .example = "step 100 loss 0.9633 images/s 3886"},
    // It evaluates its test set, as its pipe and its event files state.
    {.name = "trainscope-workload, evaluation",
     .begins = "eval step ",
     .pattern = R"(^eval step (?<step>\d+) accuracy (?<test_accuracy>NUM) loss (?<test_loss>NUM))",
     .example = "eval step 938 accuracy 0.8726 loss 0.3468"},
    // Its step may be one of the evaluation's own. A line that names no loss after the first such
    // step names none after the next: it is given up at once.
    {.name = "any evaluation with a loss",
     .hint = "oss",
     .second_hint = "al",
     .pattern = R"((?i)(?:^|[\s:|\[(])(?:val|valid|validation|eval|evaluation)\b[\s:,|\])-]*+)"
                R"((?:at\s+)?(?:global[_ ]?)?(?:step|iter(?:ation)?)\b[\s:=#\[]*\d+\b)"
                R"((?:(?=.*?\bloss\b[\s:=]*(?<val_loss>NUM))|(*COMMIT)(*FAIL)))"
                R"((?=(?:.*?\bacc(?:uracy)?\b[\s:=]*(?<val_accuracy>NUM))?))",
     .kind = PrintedFormat::Kind::numbers,
     .example = "[eval] step 950: loss 0.25, acc 0.9"},
    {.name = "any test with a loss",
     .hint = "oss",
     .second_hint = "est",
     .pattern = R"((?i)(?:^|[\s:|\[(])test(?:ing)?\b[\s:,|\])-]*+)"
                R"((?:at\s+)?(?:global[_ ]?)?(?:step|iter(?:ation)?)\b[\s:=#\[]*\d+\b)"
                R"((?:(?=.*?\bloss\b[\s:=]*(?<test_loss>NUM))|(*COMMIT)(*FAIL)))"
                R"((?=(?:.*?\bacc(?:uracy)?\b[\s:=]*(?<test_accuracy>NUM))?))",
     .kind = PrintedFormat::Kind::numbers,
     .example = "Test iter 950, loss 0.25, acc 0.9"},
    {.name = "any step with a loss",
     .hint = "oss",
     .second_hint = "te",
     .pattern = R"((?i)\b(?:global[_ ]?)?(?:step|iter(?:ation)?)\b[\s:=#\[]*(?<step>\d+))"
                R"((?:\s*(?:/|of)\s*(?<of>\d+))?\b)"
                R"((?:(?=.*?\bloss\b[\s:=]*(?<loss>NUM))|(*COMMIT)(*FAIL)))"
                R"((?=(?:.*?\bacc(?:uracy)?\b[\s:=]*(?<accuracy>NUM))?))",
     .example = "iter 250: loss 2.1453, time 120.3ms"},
};

}  // namespace

std::span<const PrintedFormat> printed_formats() { return kFormats; }

}  // namespace trainscope
