// The lines that training programs print. Adding one is adding a row here and a captured file in
// test/data/printed.
#include "record/printed.h"

namespace trainscope {

namespace {

constexpr PrintedFormat kFormats[] = {
    {.name = "keras epoch",
     .hint = "Epoch ",
     .pattern = R"(^Epoch (?<epoch>\d+)/\d+\s*$)",
     .example = "Epoch 3/10"},
    {.name = "keras",
     .hint = "/step",
     .pattern = R"(^\s*(?<step>\d+)/(?<of>\d+) .*?(?:ms|s|us|ns|m)/step)",
     .list = true,
     .example = "12/32 ━━━━━━━━ 1s 20ms/step - accuracy: 0.87 - loss: 0.34"},
    {.name = "slim",
     .hint = "global step ",
     .pattern =
         R"(global step (?<step>\d+): loss = (?<loss>[-+.\deEinfa]+) \((?<seconds>[\d.]+) sec/step)",
     .example = "INFO:tensorflow:global step 100: loss = 2.1234 (0.340 sec/step)"},
    {.name = "estimator",
     .hint = "step = ",
     .pattern = R"(loss = (?<loss>[-+.\deEinfa]+),(?: [^,]*,)* step = (?<step>\d+))",
     .example = "INFO:tensorflow:loss = 2.3025, step = 100 (0.345 sec)"},
    {.name = "estimator, step first",
     .hint = "step = ",
     .pattern = R"(\bstep = (?<step>\d+),.*?\bloss = (?<loss>[-+.\deEinfa]+))",
     .example = "INFO:tensorflow:step = 101, loss = 0.52 (0.345 sec)"},
    {.name = "retrain, accuracy",
     .hint = "Train accuracy = ",
     .pattern = R"(Step (?<step>\d+): Train accuracy = (?<percent>[\d.]+)%)",
     .example = "2017-05-15 10:12:44.541412: Step 10: Train accuracy = 81.0%"},
    {.name = "retrain, loss",
     .hint = "Cross entropy = ",
     .pattern = R"(Step (?<step>\d+): Cross entropy = (?<loss>[-+.\deEinfa]+))",
     .example = "2017-05-15 10:12:44.541494: Step 10: Cross entropy = 1.412"},
    {.name = "retrain, validation",
     .hint = "Validation accuracy = ",
     .pattern = R"(Step (?<step>\d+): Validation accuracy = (?<percent>[\d.]+)%)",
     .set = "validation",
     .example = "2017-05-15 10:12:44.712313: Step 10: Validation accuracy = 74.0% (N=100)"},
    {.name = "tf_cnn_benchmarks",
     .hint = "images/sec: ",
     .pattern = R"(^(?<step>\d+)\s+images/sec: (?<throughput>[\d.]+) \+/- [\d.]+ )"
                R"(\(jitter = [\d.]+\)\s+(?<loss>[-+.\deEinfa]+))",
     .example = "10\timages/sec: 123.4 +/- 0.5 (jitter = 1.2)\t7.412"},
    {.name = "lightning",
     .hint = "it/s",
     .pattern = R"(^Epoch (?<epoch>\d+):\s+\d+%\|[^|]*\|\s*(?<step>\d+)/(?<of>\d+) \[[^\]]*?it/s)",
     .list = true,
     .example =
         "Epoch 2:  45%|████▌     | 45/100 [00:01<00:01, 44.2it/s, v_num=0, train_loss=0.31]"},
    {.name = "tqdm",
     .hint = "%|",
     .pattern = R"(\d+%\|[^|]*\|\s*(?<step>\d+)/(?<of>\d+) \[)",
     .list = true,
     .example = " 45%|████▌     | 45/100 [00:01<00:01, 44.2it/s, loss=0.31]"},
    {.name = "hugging face",
     .hint = "'loss': ",
     .pattern = R"(^\{'loss': '?(?<loss>[-+.\deEinfa]+)'?,)",
     .example = "{'loss': 0.5, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.1}"},
};

}  // namespace

std::span<const PrintedFormat> printed_formats() { return kFormats; }

}  // namespace trainscope
