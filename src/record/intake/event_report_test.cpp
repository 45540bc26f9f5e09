#include "record/intake/event_report.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace event_report_test {

std::string line(std::string_view folder, std::string_view tag, int64_t step = 7) {
  const auto report = report_of_event(folder, tag, step, 0.5);
  return report ? format_report(*report) : "";
}

TEST(EventReport, knows_the_names_that_frameworks_give) {
  // Keras
  EXPECT_EQ(line("train", "batch_loss"), "step 7 loss=0.5");
  EXPECT_EQ(line("train", "epoch_accuracy"), "epoch 7 accuracy=0.5");
  EXPECT_EQ(line("validation", "epoch_loss"), "epoch 7 loss=0.5 set=validation");
  EXPECT_EQ(line("validation", "evaluation_loss_vs_iterations"),
            "scalar loss 0.5 step=7 set=validation");
  // Estimators, retrain.py
  EXPECT_EQ(line("model", "loss"), "step 7 loss=0.5");
  EXPECT_EQ(line("train", "cross_entropy_1"), "step 7 cross_entropy_1=0.5");
  EXPECT_EQ(line("eval", "accuracy"), "scalar accuracy 0.5 step=7 set=validation");
  // PyTorch
  EXPECT_EQ(line("runs", "Loss/train"), "step 7 loss=0.5");
  EXPECT_EQ(line("runs", "Loss/test"), "scalar loss 0.5 step=7 set=test");
  // Lightning, Hugging Face
  EXPECT_EQ(line("version_0", "train_loss_step"), "step 7 loss=0.5");
  EXPECT_EQ(line("version_0", "val_loss"), "scalar loss 0.5 step=7 set=validation");
  EXPECT_EQ(line("version_0", "epoch"), "");
  EXPECT_EQ(line("runs", "train/learning_rate"), "step 7 learning_rate=0.5");
  EXPECT_EQ(line("runs", "eval/loss"), "scalar loss 0.5 step=7 set=validation");
}

TEST(EventReport, makes_names_of_any_tag) {
  EXPECT_EQ(line("x", "a b\nc=d"), "step 7 a_b_c_d=0.5");
  EXPECT_EQ(line("x", "train"), "");
  EXPECT_EQ(line("x", "loss", -1), "");
}

}  // namespace event_report_test
}  // namespace trainscope
