#include "training/numbers.h"

#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace {

TEST(Numbers, a_value_that_is_not_finite_is_absent_and_noted) {
  const ListedTraining training = read_lines({"1 pipe step 1 loss=0.5", "2 pipe step 2 loss=nan"});
  EXPECT_EQ(training.steps[0].loss, 0.5);
  EXPECT_FALSE(training.steps[1].loss);
  ASSERT_EQ(training.notes.size(), 1U);
  EXPECT_NE(training.notes[0].find("loss is not a number"), std::string::npos);
}

TEST(Numbers, milestones_state_when_an_accuracy_was_reached) {
  const ListedTraining training =
      read_lines({"1 pipe step 1 loss=2", "1.5 pipe scalar accuracy 0.62 set=test",
                  "2 pipe step 2 loss=1", "2.5 pipe scalar accuracy 0.91 set=test",
                  "3 pipe epoch 1 val_accuracy=0.4", "4 pipe scalar accuracy 0.9 set=test"});
  const std::vector<SetResults> all = training.results;
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].set, "train");
  EXPECT_EQ(all[0].loss, 1);
  EXPECT_EQ(all[1].accuracy, 0.4);
  const SetResults& test = all[2];
  EXPECT_EQ(test.accuracy, 0.9);
  EXPECT_EQ(test.best_accuracy, 0.91);
  EXPECT_DOUBLE_EQ(test.best_time_s, 2.5);
  ASSERT_EQ(test.milestones.size(), 7U);  // 50, 60, then 70, 80, 85, 90, 91 %
  EXPECT_DOUBLE_EQ(test.milestones[1].time_s, 1.5);
  EXPECT_EQ(test.milestones[1].step, 1);
  EXPECT_DOUBLE_EQ(test.milestones[6].time_s, 2.5);
  EXPECT_EQ(test.milestones[6].step, 2);
}

TEST(Numbers, an_accuracy_of_another_set_is_not_that_of_the_step) {
  const ListedTraining training = read_lines(
      {"1 pipe step 1 accuracy=0.5 test_accuracy=0.9", "2 pipe step 2 test_accuracy=0.8"});
  EXPECT_EQ(training.steps[0].accuracy, 0.5);
  EXPECT_FALSE(training.steps[1].accuracy);
}

}  // namespace
}  // namespace trainscope
