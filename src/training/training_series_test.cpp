#include "training/training_series.h"

#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace training_series_test {

TEST(TrainingSeries, series_have_the_names_of_the_contract) {
  const ListedTraining training =
      read_lines({"1 pipe step 1 loss=0.5 accuracy=0.8", "2 pipe step 2 loss=0.4",
                  "2 pipe epoch 1 val_loss=1"});
  std::vector<std::string> names;
  for (const TrainingSeries& each : training.series) {
    names.push_back(series_text(each.series));
  }
  const std::vector<std::string> expected = {
      "train.step{source=pipe}", "train.step.duration{source=pipe}",
      "train.loss{set=train;source=pipe}", "train.loss{set=validation;source=pipe}",
      "train.accuracy{set=train;source=pipe}"};
  EXPECT_EQ(names, expected);
}

TEST(TrainingSeries, a_mean_is_that_of_all_steps_however_many_a_report_covers) {
  const ListedTraining training =
      read_lines({"1 pipe step 1", "2 pipe step 2", "12 pipe step 102", "13 pipe step 103"});
  for (const TrainingSeries& each : training.series) {
    if (each.series.metric != "train.step.duration") continue;
    EXPECT_NEAR(each.summary.mean.value_or(0), 12.0 / 102, 1e-9);
    EXPECT_EQ(each.summary.samples, 3);
  }
}

TEST(TrainingSeries, losses_and_accuracies_are_recognised_by_name) {
  for (const char* name : {"loss", "cross_entropy"}) {
    EXPECT_EQ(metric_of_number(name), TrainingMetric::loss) << name;
  }
  for (const char* name : {"accuracy", "acc", "balanced_accuracy", "mean_token_accuracy"}) {
    EXPECT_EQ(metric_of_number(name), TrainingMetric::accuracy) << name;
  }
  for (const char* name : {"top5_accuracy", "top_k_categorical_accuracy", "train_loss", "lr", ""}) {
    EXPECT_FALSE(metric_of_number(name)) << name;
  }
}

}  // namespace training_series_test
}  // namespace trainscope
