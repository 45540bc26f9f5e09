#include "training/survey.h"

#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace {

TEST(Survey, epochs_alone_give_no_count) {
  const ListedTraining training =
      read_lines({"1 tensorboard epoch 0 loss=2", "2 tensorboard epoch 1 loss=1"});
  EXPECT_FALSE(training.count);
  EXPECT_EQ(training.reason, "2 epochs were reported, but no steps");
  EXPECT_EQ(training.epochs.size(), 2U);
  EXPECT_EQ(training.epochs[1].values.at("loss"), 1);
}

TEST(Survey, values_of_an_epoch_are_kept_by_set) {
  const ListedTraining training = read_lines(
      {"1 tensorboard epoch 0 loss=0.25", "1 tensorboard epoch 0 loss=0.75 set=validation"});
  ASSERT_EQ(training.epochs.size(), 1U);
  EXPECT_EQ(training.epochs[0].values.at("loss"), 0.25);
  EXPECT_EQ(training.epochs[0].values.at("val_loss"), 0.75);
}

TEST(Survey, the_reason_for_no_steps_states_what_to_do) {
  const std::string ways = read_lines({}).reason;
  for (const char* way : {"trainscope send", "--tensorboard", "--steps-from"}) {
    EXPECT_NE(ways.find(way), std::string::npos) << ways;
  }
  EXPECT_LE(ways.size(), 67U) << "with its label it fits 80 columns";
  const Event unseen{1, std::string(kOutputIsUnseen), "stdout is /dev/null"};
  EXPECT_EQ(read_lines({}, 100, {unseen}).reason, "no steps: stdout is /dev/null");
  const Event pattern{1, std::string(kStepsPattern), R"(it (?<step>\d+))"};
  EXPECT_NE(read_lines({}, 100, {unseen, pattern}).reason.find(R"(--steps-from 'it (?<step>\d+)')"),
            std::string::npos);
  EXPECT_EQ(read_lines({"1 pipe step 1"}, 100, {unseen, pattern}).reason, "");
}

}  // namespace
}  // namespace trainscope
