#include "training/step_groups.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace step_groups_test {

TEST(StepGroups, printed_steps_that_arrive_together_have_no_own_times) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 150; ++i) lines.push_back(fmt::format("3 output step {} loss=1", i));
  const ListedTraining once = read_lines(lines);
  EXPECT_EQ(once.count, 150);
  EXPECT_NE(once.times_reason.find("150 of 150"), std::string::npos) << once.times_reason;
  EXPECT_NE(once.times_reason.find("or they come faster"), std::string::npos)
      << "lines alone do not tell which: " << once.times_reason;
  EXPECT_FALSE(once.statistics.mean_s);
  EXPECT_FALSE(once.statistics.p50_s);
  EXPECT_EQ(once.warmup_steps, 0);
  for (int i = 151; i <= 190; ++i) lines.push_back(fmt::format("7 output step {} loss=1", i));
  const ListedTraining blocks = read_lines(lines);
  EXPECT_DOUBLE_EQ(*blocks.statistics.mean_s, 0.1);
  EXPECT_FALSE(blocks.statistics.p50_s);
  EXPECT_FALSE(blocks.steps.back().duration_s);
  // Printed at the end, whatever it was that took the time before.
  for (std::string& line : lines) line.replace(0, 1, line[0] == '3' ? "6.9" : "7");
  EXPECT_FALSE(read_lines(lines).statistics.mean_s);
}

TEST(StepGroups, a_few_steps_that_arrive_together_do_not_matter) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 100; ++i) {
    lines.push_back(fmt::format("{} output step {}", i == 50 ? 51 : i, i));
  }
  const ListedTraining training = read_lines(lines);
  EXPECT_EQ(training.times_reason, "");
  EXPECT_DOUBLE_EQ(*training.statistics.p50_s, 1);
  EXPECT_DOUBLE_EQ(*training.statistics.p99_s, 1);
  EXPECT_FALSE(training.steps[49].duration_s);
  EXPECT_DOUBLE_EQ(*training.steps[50].average_s, 1);
}

TEST(StepGroups, reported_durations_are_known_however_the_lines_arrive) {
  const ListedTraining training =
      read_lines({"1 output step 1 duration=0.5", "1 output step 2 duration=0.7"});
  EXPECT_EQ(training.times_reason, "");
  EXPECT_DOUBLE_EQ(*training.statistics.mean_s, 0.6);
}

TEST(StepGroups, events_of_the_same_date_have_no_times) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 40; ++i) lines.push_back(fmt::format("{} tensorboard step {}", i / 4, i));
  const ListedTraining seconds = read_lines(lines);
  EXPECT_NE(seconds.times_reason.find("39 of 40 steps have the same date"), std::string::npos)
      << seconds.times_reason;
  EXPECT_FALSE(seconds.statistics.p50_s);
  EXPECT_DOUBLE_EQ(*seconds.statistics.mean_s, 10.0 / 37);  // all after the first second
  const ListedTraining dated = read_lines({"1 tensorboard step 1", "1.25 tensorboard step 2"});
  EXPECT_EQ(dated.times_reason, "");
  EXPECT_DOUBLE_EQ(*dated.statistics.p50_s, 0.25);
}

TEST(StepGroups, lines_of_the_pipe_that_arrive_together_have_no_times) {
  const ListedTraining training = read_lines({"1 pipe step 1", "1 pipe step 2"});
  EXPECT_NE(training.times_reason.find("through the pipe together"), std::string::npos);
  EXPECT_FALSE(training.statistics.p50_s);
}

TEST(StepGroups, coarse_times_are_unknown_times) {
  const ListedTraining training =
      read_lines({"1 output step 1", "2 output step 2", "3 output step 3"}, 100,
                 {{0, std::string(kOutputIsPolled), "no inotify"}});
  EXPECT_NE(training.times_reason.find("no inotify"), std::string::npos);
  EXPECT_DOUBLE_EQ(*training.statistics.mean_s, 1);
  EXPECT_FALSE(training.statistics.p50_s);
}

}  // namespace step_groups_test
}  // namespace trainscope
