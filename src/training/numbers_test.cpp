#include "training/numbers.h"

#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace numbers_test {

const SetResults* find_results(const Training& training, std::string_view set) {
  for (const SetResults& each : training.results) {
    if (each.set == set) return &each;
  }
  return nullptr;
}

const TrainingSeries* find_series(const Training& training, std::string_view text) {
  for (const TrainingSeries& each : training.series) {
    if (series_text(each.series) == text) return &each;
  }
  return nullptr;
}

TEST(Numbers, a_value_that_is_not_finite_is_absent_and_noted) {
  const ListedTraining training = read_lines({"1 pipe step 1 loss=0.5", "2 pipe step 2 loss=nan"});
  EXPECT_EQ(training.steps[0].loss, 0.5);
  EXPECT_FALSE(training.steps[1].loss);
  EXPECT_EQ(training.notes, std::vector<std::string>{"loss was not finite at 2.0 s"});
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

TEST(Numbers, of_two_accuracies_one_is_the_accuracy_everywhere) {
  const ListedTraining training =
      read_lines({"1 pipe step 1 balanced_accuracy=0.95 accuracy=0.6 cross_entropy=3 loss=1",
                  "2 pipe step 2 accuracy=0.9 balanced_accuracy=0.7 loss=2 cross_entropy=4"});
  const SetResults& train = *find_results(training, "train");
  EXPECT_EQ(train.accuracy, 0.9);
  EXPECT_EQ(train.best_accuracy, 0.9);
  EXPECT_EQ(train.best_time_s, 2);
  ASSERT_FALSE(train.milestones.empty());
  EXPECT_EQ(train.milestones[2].accuracy, 0.7);
  EXPECT_EQ(train.milestones[2].time_s, 2) << "balanced_accuracy reached it before";
  EXPECT_EQ(training.steps[0].accuracy, 0.6);
  EXPECT_EQ(training.steps[1].accuracy, 0.9);
  EXPECT_EQ(training.steps[1].loss, 2);
  const TrainingSeries& accuracy = *find_series(training, "train.accuracy{set=train;source=pipe}");
  EXPECT_EQ(accuracy.summary.samples, 2);
  EXPECT_EQ(accuracy.summary.max, 0.9);
  EXPECT_EQ(find_series(training, "train.loss{set=train;source=pipe}")->summary.max, 2);
}

TEST(Numbers, points_are_of_the_chosen_name) {
  const ListedTraining training =
      read_lines({"1 pipe step 1 mean_token_accuracy=0.5 balanced_accuracy=0.25"});
  size_t at = 0;
  while (training.series[at].series.metric != "train.accuracy") ++at;
  const auto points = TrainingPoints(training, {at}).read({});
  ASSERT_TRUE(points);
  EXPECT_EQ((*points)[0].value, std::vector<double>{0.5}) << "the first one that was reported";
}

std::vector<double> points_of(const Training& training, std::string_view metric) {
  size_t at = 0;
  while (training.series[at].series.metric != metric) ++at;
  const auto points = TrainingPoints(training, {at}).read({});
  CHECK(points);
  return (*points)[0].value;
}

TEST(Numbers, of_the_train_set_are_those_of_the_sender_of_the_steps) {
  // The sender of the steps has no name, or more steps than the other one.
  for (const auto& [sender, other] : {std::pair("", " who=rank1"), {" who=b", " who=a"}}) {
    const auto line = [](const char* report, const char* who) { return std::string(report) + who; };
    const ListedTraining training = read_lines(
        {line("1 pipe step 1 loss=9 accuracy=0.9 acc=1", other),
         line("1.5 pipe step 1 loss=2 accuracy=0.5", sender),
         line("2 pipe step 2 loss=1 accuracy=0.6", sender),
         line("2.5 pipe step 2 loss=8 accuracy=0.8", other),
         line("3 pipe scalar accuracy 0.75 set=validation", other), line("3 pipe step 3", sender)});
    EXPECT_EQ(training.count, 3);
    EXPECT_EQ(find_series(training, "train.loss{set=train;source=pipe}")->summary.max, 2);
    EXPECT_EQ(points_of(training, "train.loss"), (std::vector<double>{2, 1}));
    const SetResults& train = *find_results(training, "train");
    EXPECT_EQ(train.loss, 1);
    EXPECT_EQ(train.accuracy, 0.6);
    EXPECT_EQ(train.best_accuracy, 0.6);
    EXPECT_EQ(train.milestones.size(), 2U);
    EXPECT_EQ(find_results(training, "validation")->accuracy, 0.75) << "of every sender";
    EXPECT_EQ(training.numbers.size(), 10U) << "the table has all of them";
  }
}

TEST(Numbers, of_other_senders_are_used_where_the_sender_of_the_steps_has_none) {
  const ListedTraining training =
      read_lines({"1 pipe step 1 lr=0.5 accuracy=0.5", "1.5 pipe scalar loss 3 who=logger",
                  "1.5 pipe scalar accuracy 0.9 who=logger", "2.5 pipe scalar loss 2 who=logger"});
  EXPECT_EQ(find_results(training, "train")->loss, 2);
  EXPECT_EQ(find_results(training, "train")->best_accuracy, 0.5);
  EXPECT_EQ(points_of(training, "train.loss"), (std::vector<double>{3, 2}));
}

TEST(Numbers, of_several_accuracies_in_event_files_one_is_joined) {
  const ListedTraining training =
      read_lines({"1 tensorboard step 1 a_accuracy=0.1", "1 tensorboard step 1 accuracy=0.5",
                  "1 tensorboard step 1 loss=3", "2 tensorboard step 2 a_accuracy=0.2",
                  "2 tensorboard step 2 accuracy=0.6", "2 tensorboard step 2 loss=2"});
  ASSERT_EQ(training.steps.size(), 2U);
  EXPECT_EQ(training.steps[0].accuracy, 0.5);
  EXPECT_EQ(training.steps[1].accuracy, 0.6);
  EXPECT_EQ(training.steps[1].loss, 2);
}

TEST(Numbers, a_source_with_other_numbers_does_not_hide_results) {
  const ListedTraining training =
      read_lines({"1 pipe step 5 lr=0.1", "1 tensorboard step 5 loss=0.5",
                  "1 tensorboard scalar accuracy 0.9 set=validation"});
  EXPECT_EQ(training.source, "pipe");
  ASSERT_NE(find_results(training, "train"), nullptr);
  EXPECT_EQ(find_results(training, "train")->loss, 0.5);
  ASSERT_NE(find_results(training, "validation"), nullptr);
  EXPECT_EQ(find_results(training, "validation")->accuracy, 0.9);
}

TEST(Numbers, the_source_of_a_result_is_chosen_per_set) {
  const ListedTraining training =
      read_lines({"1 pipe step 5 loss=0.25", "1 tensorboard step 5 loss=0.5",
                  "1 output scalar accuracy 0.8 set=validation",
                  "2 tensorboard scalar accuracy 0.9 set=validation",
                  "3 output scalar accuracy 0.7 set=validation"});
  EXPECT_EQ(find_results(training, "train")->loss, 0.25);
  ASSERT_NE(find_results(training, "validation"), nullptr);
  EXPECT_EQ(find_results(training, "validation")->accuracy, 0.9) << "of one source only";
  EXPECT_EQ(find_results(training, "validation")->best_accuracy, 0.9);
}

TEST(Numbers, words_for_a_set_mean_the_same_in_every_source) {
  for (const char* line :
       {"scalar accuracy 0.5 set=val", "scalar accuracy 0.5 set=Eval", "epoch 1 eval_accuracy=0.5",
        "step 1 validation_accuracy=0.5", "step 1 accuracy=0.5 set=valid"}) {
    const ListedTraining training = read_lines({std::string("1 pipe ") + line});
    ASSERT_EQ(training.results.size(), 1U) << line;
    EXPECT_EQ(training.results[0].set, "validation") << line;
    EXPECT_EQ(training.results[0].accuracy, 0.5) << line;
  }
  const ListedTraining other = read_lines({"1 pipe epoch 1 loss=1 set=holdout", "1 pipe step 1"});
  ASSERT_EQ(other.results.size(), 1U);
  EXPECT_EQ(other.results[0].set, "holdout");
  EXPECT_EQ(other.epochs[0].values.at("holdout_loss"), 1);
}

TEST(Numbers, a_scalar_that_is_not_finite_is_noted) {
  const ListedTraining training =
      read_lines({"1 tensorboard step 1 lr=inf", "2 tensorboard scalar loss nan set=validation",
                  "3 tensorboard scalar loss nan set=validation"});
  const std::vector<std::string> expected = {
      "lr was not finite at 1.0 s", "loss (validation) was not finite 2 times, first at 2.0 s"};
  EXPECT_EQ(training.notes, expected);
}

// The first step with mixed precision often has gradients that are not finite.
TEST(Numbers, a_loss_that_is_not_finite_is_noted_after_many_other_numbers) {
  const ListedTraining training =
      read_lines({"1 pipe step 1 a=inf b=inf c=inf d=inf e=inf loss=1", "2 pipe step 2 f=nan g=nan",
                  "3 pipe step 3 loss=nan accuracy=nan"});
  const std::vector<std::string> expected = {
      "a was not finite at 1.0 s",    "b was not finite at 1.0 s",
      "c was not finite at 1.0 s",    "d was not finite at 1.0 s",
      "e was not finite at 1.0 s",    "accuracy was not finite at 3.0 s",
      "loss was not finite at 3.0 s", "other numbers were not finite either"};
  EXPECT_EQ(training.notes, expected);
}

}  // namespace numbers_test
}  // namespace trainscope
