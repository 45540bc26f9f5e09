#include "training/survey.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace survey_test {

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

TEST(Survey, a_set_is_not_named_twice_in_the_values_of_an_epoch) {
  const ListedTraining training =
      read_lines({"1 pipe epoch 1 val_loss=0.5 lr=0.1 set=validation", "1 pipe epoch 1 test_f1=1",
                  "1 pipe epoch 1 test_loss=2 set=validation"});
  ASSERT_EQ(training.epochs.size(), 1U);
  const std::map<std::string, double> expected = {
      {"val_loss", 0.5}, {"val_lr", 0.1}, {"test_f1", 1}, {"val_test_loss", 2}};
  EXPECT_EQ(training.epochs[0].values, expected);
}

TEST(Survey, epochs_of_another_source_are_listed_after_many) {
  std::vector<StoredReport> reports;
  const Report epoch = *parse_report("epoch");
  for (int i = 1; i <= 100'001; ++i) reports.push_back({static_cast<double>(i), "output", epoch});
  reports.push_back({100'002, "pipe", *parse_report("step 1")});
  reports.push_back({100'003, "pipe", *parse_report("epoch 7")});
  const ListedTraining training = read_listed(std::move(reports), 200'000);
  ASSERT_EQ(training.epochs.size(), 1U);
  EXPECT_EQ(training.epochs[0].epoch, 7);
}

TEST(Survey, numbers_that_have_no_space_in_a_step_are_noted) {
  std::vector<std::string> lines = {"1 pipe step 1"};
  for (int i = 0; i < 1003; ++i) lines.push_back(fmt::format("1 pipe step 1 n{}=1", i));
  const ListedTraining training = read_lines(lines);
  ASSERT_EQ(training.notes.size(), 1U);
  EXPECT_EQ(training.notes[0],
            "3 numbers are left out: a step was reported again with more than 1000 names");
  EXPECT_EQ(training.steps[0].numbers.size(), 1000U);
}

TEST(Survey, notes_of_the_recorder_are_notes) {
  const Event note{1, std::string(kProgressNote), "3 values are left out"};
  EXPECT_EQ(read_lines({"1 pipe step 1"}, 100, {note}).notes,
            std::vector<std::string>{"3 values are left out"});
}

TEST(Survey, epochs_are_those_of_the_sender_of_the_steps) {
  const ListedTraining ranks =
      read_lines({"1 pipe epoch loss=9 who=rank1", "1.5 pipe step 1", "1.5 pipe step 1 who=rank1",
                  "2 pipe epoch loss=2", "2 pipe epoch loss=8 who=rank1", "3 pipe epoch loss=1"});
  ASSERT_EQ(ranks.epochs.size(), 2U);
  EXPECT_EQ(ranks.epochs[0].values.at("loss"), 2);
  EXPECT_EQ(ranks.epochs[1].epoch, 2);
  EXPECT_EQ(ranks.epochs[1].values.at("loss"), 1);
  const ListedTraining named = read_lines({"1 pipe epoch 1 loss=9 who=a", "2 pipe step 1 who=b",
                                           "3 pipe epoch 1 loss=2 who=b", "4 pipe step 2 who=b"});
  ASSERT_EQ(named.epochs.size(), 1U);
  EXPECT_EQ(named.epochs[0].values.at("loss"), 2);
  const ListedTraining other = read_lines({"1 pipe step 1", "2 pipe epoch 1 loss=3 who=logger"});
  ASSERT_EQ(other.epochs.size(), 1U) << "the sender of the steps reports none";
  EXPECT_EQ(other.epochs[0].values.at("loss"), 3);
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

TEST(Survey, phases_with_many_names_are_left_out_and_noted) {
  std::vector<std::string> lines = {"0.5 pipe step 1"};
  for (int i = 0; i < 1500; ++i) lines.push_back(fmt::format("{} pipe phase step{} 0.5", i + 1, i));
  lines.push_back("1600 pipe phase save 1");
  lines.push_back("1601 pipe phase checkpoint 1");
  const ListedTraining training = read_lines(lines, 2000);
  ASSERT_EQ(training.phases.size(), 1001U) << "1,000 names, and the checkpoint";
  EXPECT_EQ(training.phases.back().name, "checkpoint");
  ASSERT_EQ(training.notes.size(), 1U);
  EXPECT_EQ(training.notes[0], "501 phases are not listed; `trainscope sql` has all of them");
}

TEST(Survey, evaluations_beyond_a_limit_are_part_of_the_steps) {
  std::vector<StoredReport> reports;
  const Report step = *parse_report("step"), evaluation = *parse_report("phase evaluation 0.25");
  for (int i = 1; i <= 100'001; ++i) {
    reports.push_back({i - 0.5, "pipe", evaluation});
    reports.push_back({static_cast<double>(i), "pipe", step});
  }
  reports.push_back({100'002, "pipe", *parse_report("phase checkpoint 0.5")});
  const ListedTraining training = read_listed(std::move(reports), 200'000);
  ASSERT_EQ(training.phases.size(), 1U);
  EXPECT_EQ(training.phases[0].name, "checkpoint");
  EXPECT_DOUBLE_EQ(*training.statistics.p50_s, 1);
  ASSERT_EQ(training.notes.size(), 1U);
  EXPECT_EQ(training.notes[0], "100001 evaluations are too many: they count as part of the steps");
}

TEST(Survey, epochs_beyond_a_limit_are_left_out_and_noted) {
  std::vector<StoredReport> reports;
  const Report epoch = *parse_report("epoch loss=1");
  for (int i = 1; i <= 100'005; ++i) reports.push_back({static_cast<double>(i), "pipe", epoch});
  const ListedTraining training = read_listed(std::move(reports), 200'000);
  EXPECT_EQ(training.epochs.size(), 100'000U);
  EXPECT_EQ(training.reason, "100005 epochs were reported, but no steps");
  ASSERT_EQ(training.notes.size(), 1U);
  EXPECT_EQ(training.notes[0], "only the first 100000 of 100005 epochs are listed");
}

TEST(Survey, values_of_epochs_beyond_a_limit_are_left_out_and_noted) {
  std::vector<StoredReport> reports;
  for (int i = 1; i <= 1001; ++i) {
    Report epoch = *parse_report("epoch");
    for (int k = 0; k < 200; ++k) epoch.numbers.emplace_back(fmt::format("v{}", k), 1);
    reports.push_back({static_cast<double>(i), "pipe", epoch});
  }
  const ListedTraining training = read_listed(std::move(reports), 2000);
  ASSERT_EQ(training.epochs.size(), 1001U);
  EXPECT_EQ(training.epochs[999].values.size(), 200U);
  EXPECT_TRUE(training.epochs[1000].values.empty());
  ASSERT_EQ(training.notes.size(), 1U);
  EXPECT_EQ(training.notes[0], "only the first 200000 values of epochs are listed");
}

TEST(Survey, what_has_too_many_names_is_left_out_and_noted) {
  std::vector<std::string> lines;
  for (int i = 0; i < 1001; ++i) lines.push_back(fmt::format("1 pipe step 1 a{}_accuracy=0.5", i));
  for (int i = 0; i < 10'000; ++i) lines.push_back(fmt::format("2 pipe step 1 who=w{}", i));
  for (int i = 0; i < 10'001; ++i) lines.push_back(fmt::format("3 pipe begin p{} who=w", i));
  const ListedTraining training = read_lines(lines);
  EXPECT_EQ(training.count, 1);
  const std::vector<std::string> expected = {
      "10000 senders reported steps; those of the main process count (w0 reported 1, w1 reported "
      "1, w10 reported 1, and 9996 more)",
      "1 phases are unknown: too many were open at once",
      "1 losses and accuracies are not used: they have too many names",
      "1 steps are not counted: they have too many senders or names"};
  EXPECT_EQ(training.notes, expected);
}

TEST(Survey, an_evaluation_whose_end_was_lost_ends_with_its_step) {
  std::vector<std::string> lines = {"1 pipe step 1", "1.1 pipe begin evaluation"};
  for (int i = 2; i <= 10; ++i) {
    lines.push_back(fmt::format("{} pipe phase forward 0.5", i - 0.1));
    lines.push_back(fmt::format("{} pipe step {}", i, i));
  }
  const ListedTraining training = read_lines(lines, 12);
  ASSERT_NE(training.find_phase_sum("forward"), nullptr);
  EXPECT_NEAR(training.find_phase_sum("forward")->time_s, 8 * 0.5, 1e-9)
      << "all but those before its first step";
  EXPECT_TRUE(training.phases.empty()) << "when it ended is not known";
  EXPECT_NEAR(*training.steps.at(5).duration_s, 1, 1e-9);
  // Steps of the evaluation itself do not end it.
  const ListedTraining own =
      read_lines({"1 pipe step 1", "1.1 pipe begin evaluation", "1.2 pipe step 1 set=validation",
                  "1.4 pipe phase forward 0.1", "1.5 pipe end evaluation", "2 pipe step 2"});
  EXPECT_EQ(own.find_phase_sum("forward"), nullptr);
  EXPECT_EQ(own.phases.size(), 1U);
}

}  // namespace survey_test
}  // namespace trainscope
