// The lines that training programs print. To add a format, add a row here, a captured file in
// test/data/printed and a row in docs/guide/progress.md. NUM stands for a number, COUNT for an
// integer that may have commas between thousands, NOT_OTHER for a lookahead that excludes bars of
// downloads, validation and the like, NOT_HELD_OUT_ for a word that is not "val" or "test",
// OTHER_SETS for the numbers after such a word, MEMBERS for members of a JSON object (or a printed
// dictionary) before the one that follows, JSON_NUMBERS for the numbers of one.
#include "record/intake/printed.h"

namespace trainscope {

namespace {

constexpr PrintedFormat kFormats[] = {
    {.name = "keras, epoch",
     .begins = "Epoch ",
     .pattern = R"(^Epoch (?<epoch>\d+)/\d+\s*$)",
     .kind = PrintedFormat::Kind::epoch_begins,
     .example = "Epoch 3/10"},
    {.name = "PyTorch's quickstart, epoch",
     .begins = "Epoch ",
     .pattern = R"(^Epoch (?<epoch>\d+)\s*$)",
     .kind = PrintedFormat::Kind::epoch_begins,
     .example = "Epoch 3"},
    // Before the other bars: the text before this one is the row of a table.
    {.name = "Ultralytics",
     .begins = " ",
     .hint = "G ",
     .second_hint = "%",
     .pattern = R"(^\s+(?<epoch>\d+)/\d+\s+[\d.e+]+G\s[^%|]*?:\s+\d+%[ |━╸─█▏▎▍▌▋▊▉]*+)"
                R"((?<step>\d+)/(?<of>\d+)\s)",
     .example = "      1/100      2.1G      1.2      1.5      1.1         12        640: "
                "100% ━━━━━━━━━━━━ 125/125 12.3it/s 10.2s"},
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
    {.name = "JSON lines",
     .begins = "{",
     .hint = "step",
     .pattern =
         R"(^(?=\{\s*+MEMBERS["'](?:global_)?step["']\s*+:\s*+(?<step>\d+)\s*+[,}])JSON_NUMBERS)",
     .example = R"({"step": 3, "loss": 0.5})"},
    {.name = "JSON lines of iterations",
     .begins = "{",
     .hint = "iter",
     .pattern =
         R"(^(?=\{\s*+MEMBERS["']iter(?:ation)?["']\s*+:\s*+(?<step>\d+)\s*+[,}])JSON_NUMBERS)",
     .example = R"({"iteration": 3, "lr": 0.001, "loss": 0.5})"},
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
     .example = "Epoch: [0][11/25]\tTime  0.345 ( 0.400)\tLoss 6.9000e+00 (6.9500e+00)",
     .may_count_from_zero = true},
    {.name = "torchvision's reference scripts",
     .begins = "Epoch: [",
     .hint = "eta: ",
     .pattern = R"(^Epoch: \[(?<epoch>\d+)(?:/\d+)?\]\s+\[\s*(?<index>\d+)/(?<of>\d+)\]\s+eta: )"
                R"((?=(?:.*?\slr: (?<lr>NUM))?)(?=(?:.*?\simg/s: (?<throughput>NUM))?))"
                R"((?=(?:.*?\sloss: (?<loss>NUM))?)(?=(?:.*?\sacc1: (?<percent>NUM))?))",
     .example = "Epoch: [0]  [  10/1251]  eta: 0:10:00  lr: 0.1  img/s: 256.0  loss: 6.9 (7.0)  "
                "acc1: 1.5 (1.2)  time: 0.42  data: 0.01"},
    {.name = "torchvision's reference scripts, epoch",
     .begins = "Epoch: [",
     .hint = "] Total time: ",
     .pattern = R"(^Epoch: \[(?<epoch>\d+)(?:/\d+)?\] Total time: )",
     .example = "Epoch: [0] Total time: 0:08:47"},
    {.name = "timm",
     .begins = "Train: ",
     .pattern = R"(^Train: (?<epoch>\d+) \[\s*(?<index>\d+)/(?<of>\d+) \(\s*\d+%\)\])"
                R"((?=(?:.*?\bLoss:\s+(?<loss>NUM))?)(?=(?:.*?\bLR: (?<lr>NUM))?))"
                R"((?=(?:.*?\bTime: [\d.]+s,\s+(?<throughput>NUM)/s)?))",
     .example = "Train: 0 [  50/1251 (  4%)]  Loss: 6.94 (6.95)  Time: 0.421s, 2432.11/s  "
                "(0.430s, 2381.40/s)  LR: 1.000e-05  Data: 0.010 (0.012)"},
    // Its numbers are items of the dataset.
    {.name = "PyTorch's MNIST example",
     .begins = "Train Epoch: ",
     .pattern = R"(^Train Epoch: (?<epoch>\d+) \[(?<item>\d+)/(?<items>\d+) \(\s*[\d.]+%\)\])"
                R"((?=(?:.*?\b[Ll]oss: (?<loss>NUM))?))",
     .example = "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.300000"},
    {.name = "PyTorch's MNIST example, test",
     .begins = "Test set: ",
     .pattern = R"(^Test set: Average loss: (?<test_loss>NUM), )"
                R"(Accuracy: (?<test_right>\d+)/(?<test_all>\d+))",
     .kind = PrintedFormat::Kind::numbers,
     .example = "Test set: Average loss: 0.0478, Accuracy: 9843/10000 (98%)"},
    // Its numbers are items too.
    {.name = "PyTorch's quickstart",
     .begins = "loss: ",
     .hint = "[",
     .pattern = R"(^loss: (?<loss>NUM)\s+\[\s*(?<item>\d+)/\s*(?<items>\d+)\]\s*$)",
     .example = "loss: 2.303494  [   64/60000]"},
    {.name = "PyTorch's quickstart, test",
     .begins = " Accuracy: ",
     .hint = "Avg loss: ",
     .pattern = R"(^ Accuracy: (?<test_percent>NUM)%, Avg loss: (?<test_loss>NUM))",
     .kind = PrintedFormat::Kind::numbers,
     .example = " Accuracy: 50.9%, Avg loss: 2.154182"},
    {.name = "PyTorch's CIFAR-10 tutorial",
     .begins = "[",
     .hint = "] loss: ",
     .pattern = R"(^\[(?<epoch>\d+),\s*(?<step>\d+)\] loss: (?<loss>NUM)\s*$)",
     .example = "[1,  2000] loss: 2.179"},
    {.name = "PyTorch's DCGAN tutorial",
     .begins = "[",
     .hint = "Loss_D: ",
     .pattern = R"(^\[(?<epoch>\d+)/\d+\]\[(?<index>\d+)/(?<of>\d+)\]\s+Loss_D: (?<loss_d>NUM))"
                R"(\s+Loss_G: (?<loss_g>NUM))",
     .example = "[0/5][50/1583]\tLoss_D: 0.4172\tLoss_G: 5.1288\tD(x): 0.8922\tD(G(z)): 0.1"},
    {.name = "PyTorch's word language model",
     .begins = "| epoch ",
     .hint = " batches | lr ",
     .pattern = R"(^\| epoch\s+(?<epoch>\d+) \|\s+(?<step>\d+)/\s*(?<of>\d+) batches \|)"
                R"( lr (?<lr>NUM)(?=(?:.*?\| loss\s+(?<loss>NUM))?))",
     .example = "| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 12.34 | loss  7.65 | "
                "ppl  2100.12"},
    {.name = "PyTorch's word language model, epoch",
     .begins = "| end of epoch ",
     .pattern = R"(^\| end of epoch\s+(?<epoch>\d+) \| time:\s*[\d.]+s \| )"
                R"(valid loss\s+(?<val_loss>NUM))",
     .example = "| end of epoch   1 | time: 36.81s | valid loss  5.55 | valid ppl   257.20"},
    {.name = "PyTorch's word language model, test",
     .begins = "| End of training | test loss ",
     .pattern = R"(^\| End of training \| test loss\s+(?<test_loss>NUM))",
     .kind = PrintedFormat::Kind::numbers,
     .example = "| End of training | test loss  5.47 | test ppl   237.50"},
    {.name = "PyTorch's transfer learning tutorial",
     .begins = "train Loss: ",
     .pattern = R"(^train Loss: (?<loss>NUM) Acc: (?<accuracy>NUM))",
     .kind = PrintedFormat::Kind::epoch_ends,
     .example = "train Loss: 0.4866 Acc: 0.7582"},
    {.name = "PyTorch's transfer learning tutorial, validation",
     .begins = "val Loss: ",
     .pattern = R"(^val Loss: (?<val_loss>NUM) Acc: (?<val_accuracy>NUM))",
     .kind = PrintedFormat::Kind::numbers,
     .example = "val Loss: 0.2353 Acc: 0.9085"},
    {.name = "tutorials with an epoch",
     .begins = "Epoch",
     .hint = "oss",
     .pattern =
         R"((?i)^Epoch[ :]*\[?(?<epoch>\d+)(?:/\d+)?\]?[,:|]?\s+(?:[-|]\s+)?)"
         R"((?:step|batch|iter(?:ation)?)[ :]*\[?(?<step>COUNT)(?:/(?<of>COUNT))?\]?\b)"
         R"((?=.*?NOT_HELD_OUT_loss\b[\s:=]*(?<loss>NUM)))"
         R"((?=(?:.*?NOT_HELD_OUT_acc(?:uracy)?\b[\s:=]*(?:(?<percent>(?>NUM))\s*%|(?<accuracy>(?>NUM))))?))"
         R"(OTHER_SETS)",
     .example = "Epoch [1/5], Step [3/600], Loss: 0.5",
     .may_count_from_zero = true},
    // A line that also names a step is a step.
    {.name = "tutorials with epochs alone",
     .begins = "Epoch",
     .hint = "oss",
     .pattern =
         R"((?i)^Epoch[ :]*\[?(?<epoch>\d+)(?:/\d+)?\]?[\s,:|-]+)"
         R"((?!.*\b(?:step|batch|iter(?:ation)?)\b[\s:=#\[]*\d))"
         R"((?:(?:train(?:ing)?|avg|average|mean)\b[ _.]?)?loss\b[\s:=]*(?<loss>NUM))"
         R"((?=(?:.*?\bval(?:id(?:ation)?)?[ _]loss\b[\s:=]*(?<val_loss>NUM))?))"
         R"((?=(?:.*?\btest[ _]loss\b[\s:=]*(?<test_loss>NUM))?))"
         R"((?=(?:.*?(?:[,|;-]\s*|\btrain(?:ing)?[ _])acc(?:uracy)?\b[\s:=]*(?<accuracy>(?>NUM)))?))"
         R"((?=(?:.*?\bval(?:id(?:ation)?)?[ _]acc(?:uracy)?\b[\s:=]*(?<val_accuracy>(?>NUM)))?))"
         R"((?=(?:.*?\btest[ _]acc(?:uracy)?\b[\s:=]*(?<test_accuracy>(?>NUM)))?))",
     .example = "Epoch 1/12, Loss: 0.19, Val Loss: 0.25, Accuracy: 93.5%"},
    {.name = "MMEngine",
     .hint = "(train)",
     .pattern = R"(\b(?:Epoch\(train\)\s+\[(?<epoch>\d+)\]|Iter\(train\)\s+))"
                R"(\[\s*(?<step>\d+)/(?<of>\d+)\])"
                R"((?=(?:.*?\slr: (?<lr>NUM))?)(?=(?:.*?\sloss: (?<loss>NUM))?))",
     .example = "11/16 12:00:00 - mmengine - INFO - Epoch(train)  [1][  50/1250]  lr: 1.0000e-02  "
                "eta: 0:10:00  time: 0.5000  data_time: 0.0100  loss: 0.6931"},
    {.name = "MMEngine, evaluation",
     .hint = "Epoch(val)",
     .second_hint = "accuracy/top1: ",
     .pattern = R"(\bEpoch\(val\).*?\baccuracy/top1: (?<val_percent>NUM))",
     .kind = PrintedFormat::Kind::numbers,
     .example =
         "11/16 12:00:00 - mmengine - INFO - Epoch(val) [1][10/10]    accuracy/top1: 75.2000"},
    {.name = "MMCV",
     .hint = "][",
     .second_hint = "data_time: ",
     .pattern = R"(\bEpoch \[(?<epoch>\d+)\]\[(?<step>\d+)/(?<of>\d+)\]\s+lr: (?<lr>NUM))"
                R"((?=(?:.*?\sloss: (?<loss>NUM))?))",
     .example = "2021-06-01 12:00:00,123 - mmdet - INFO - Epoch [1][50/7330]\tlr: 1.978e-03, "
                "eta: 8:20:00, time: 0.410, data_time: 0.053, memory: 3858, loss: 1.2345"},
    {.name = "DeepSpeed",
     .hint = "[Rank 0] step=",
     .pattern = R"(\[Rank 0\] step=(?<step>\d+), skipped=\d+, lr=\[(?<lr>NUM)?)",
     .example = "[2026-11-16 12:00:00,123] [INFO] [logging.py:107:log_dist] [Rank 0] step=10, "
                "skipped=0, lr=[0.001], mom=[(0.9, 0.999)]"},
    {.name = "DeepSpeed, pipelines",
     .begins = "steps: ",
     .pattern = R"(^steps: (?<step>\d+) loss: (?<loss>NUM) .*?iter time \(s\): (?<seconds>NUM))"
                R"((?: samples/sec: (?<throughput>NUM))?)",
     .example = "steps: 10 loss: 0.5000 iter time (s): 0.123 samples/sec: 260.163"},
    {.name = "fairseq",
     .hint = "/ ",
     .second_hint = "epoch ",
     .pattern = R"(\bepoch (?<epoch>\d+):\s+(?<step>\d+) / (?<of>\d+) (?=[^\s=]+=))"
                R"((?=(?:.*?\bloss=(?<loss>NUM))?)(?=(?:.*?\blr=(?<lr>NUM))?))",
     .example = "2022-06-01 12:00:00 | INFO | train_inner | epoch 001:     50 / 1250 loss=10.5, "
                "ppl=1448, num_updates=50, lr=1.25e-05"},
    {.name = "fairseq, epoch",
     .hint = "| loss ",
     .second_hint = "epoch ",
     .pattern = R"(\bepoch (?<epoch>\d+) \| (?:valid on '[^']*' subset \| loss (?<val_loss>NUM)|)"
                R"(loss (?<loss>NUM)) \|)",
     .example = "2022-06-01 12:10:00 | INFO | valid | epoch 001 | valid on 'valid' subset | "
                "loss 8.7 | ppl 415.87 | num_updates 1250"},
    {.name = "fairseq, JSON",
     .hint = "\"num_updates\": ",
     .pattern = R"(\{"epoch": (?<epoch>\d+), "update": [\d.]+, )"
                R"((?=(?:.*?"loss": "?(?<loss>NUM))?)(?=(?:.*?"lr": "?(?<lr>NUM))?))"
                R"(.*?"num_updates": "?(?<step>\d+))",
     .example = R"(2022-06-01 12:00:00 | INFO | train_inner | {"epoch": 1, "update": 0.04, )"
                R"("loss": "10.5", "num_updates": "50", "lr": "1.25e-05"})"},
    {.name = "fairseq, JSON of an epoch",
     .hint = "{\"epoch\": ",
     .second_hint = "_num_updates\": ",
     .pattern = R"(\{"epoch": (?<epoch>\d+), )"
                R"("(?:train_loss": "?(?<loss>NUM)|valid_loss": "?(?<val_loss>NUM)))",
     .example = R"(2022-06-01 12:10:00 | INFO | valid | {"epoch": 1, "valid_loss": "8.7", )"
                R"("valid_num_updates": "1250"})"},
    {.name = "XGBoost",
     .begins = "[",
     .hint = "]\t",
     .second_hint = "-",
     .pattern = R"(^\[(?<step>\d+)\]\t(?=[^\s:]+-[^\s:]+:NUM(?:\+NUM)?(?:\s|$)))"
                R"((?=(?:.*?\btrain-[^\s:]*logloss:(?<loss>NUM))?))"
                R"((?=(?:.*?\b(?:eval|val|valid\w*)-[^\s:]*logloss:(?<val_loss>NUM))?))"
                R"((?=(?:.*?\btest-[^\s:]*logloss:(?<test_loss>NUM))?))",
     .kind = PrintedFormat::Kind::rounds,
     .example = "[12]\ttrain-logloss:0.3512\teval-logloss:0.4023"},
    {.name = "LightGBM",
     .begins = "[",
     .hint = "]\t",
     .second_hint = "'s ",
     .pattern = R"(^\[(?<step>\d+)\]\t(?=[^\t:]+'s [^\t:]+: NUM))"
                R"((?=(?:.*?\btrain(?:ing)?'s [^\t:]*logloss: (?<loss>NUM))?))"
                R"((?=(?:.*?\bvalid\w*'s [^\t:]*logloss: (?<val_loss>NUM))?))",
     .kind = PrintedFormat::Kind::rounds,
     .example = "[12]\ttraining's binary_logloss: 0.3512\tvalid_1's binary_logloss: 0.4023"},
    {.name = "LightGBM's program",
     .begins = "[LightGBM] [Info] Iteration:",
     .pattern = R"(^\[LightGBM\] \[Info\] Iteration:(?<step>\d+), \S+ [^:]+ : NUM)",
     .example = "[LightGBM] [Info] Iteration:12, training l2 : 0.234567"},
    {.name = "trainscope-workload",
     .begins = "step ",
     .pattern = R"(^step (?<step>\d+) loss (?<loss>NUM)(?: images/s (?<throughput>NUM))?\s*$)",
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
     .pattern =
         R"((?i)\b(?:global[_ ]?)?(?:step|iter(?:ation)?)\b[\s:=#\[]*(?<step>COUNT))"
         R"((?:\s*(?:/|of)\s*(?<of>COUNT))?\b)"
         R"((?:(?=.*?NOT_HELD_OUT_(?:train(?:ing)?_)?loss\b[\s:=]*(?<loss>NUM))|)"
         R"((?=.*?\b(?:val|valid|validation|eval|test)[ _]loss\b[\s:=]*NUM)|(*COMMIT)(*FAIL)))"
         R"((?=(?:.*?NOT_HELD_OUT_acc(?:uracy)?\b[\s:=]*(?<accuracy>NUM))?)OTHER_SETS)",
     .example = "iter 250: loss 2.1453, time 120.3ms",
     .may_count_from_zero = true},
};

}  // namespace

std::span<const PrintedFormat> printed_formats() { return kFormats; }

}  // namespace trainscope
