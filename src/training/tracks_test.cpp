#include "training/tracks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace {

TEST(Tracks, the_pipe_precedes_the_other_sources) {
  const ListedTraining training =
      read_lines({"1 output step 1", "1.1 pipe step 1", "2 output step 2", "3 output step 3"});
  EXPECT_EQ(training.source, "pipe");
  EXPECT_EQ(training.count, 1);
  EXPECT_EQ(training.unused_sources, std::vector<std::string>{"output"});
}

TEST(Tracks, of_two_other_sources_the_one_with_more_steps_counts) {
  EXPECT_EQ(read_lines({"1 output step 1", "2 output step 2", "2 tensorboard step 2"}).source,
            "output");
  EXPECT_EQ(read_lines({"1 output step 1", "2 tensorboard step 2"}).source, "tensorboard");
}

TEST(Tracks, if_all_senders_have_a_name_the_one_with_most_reports_counts) {
  const ListedTraining training = read_lines(
      {"0.5 pipe phase input 0.4 who=rank1", "1 pipe step 1 who=rank1", "1.5 pipe step 1 who=77",
       "2 pipe step 2 who=rank1", "2.1 pipe phase input 0.1 who=77"});
  EXPECT_EQ(training.count, 2);
  EXPECT_NEAR(*training.steps[0].input_wait_s, 0.4, 1e-9);
  EXPECT_EQ(training.all_phases[1].who, "77");
}

TEST(Tracks, a_printed_bar_does_not_replace_a_rank) {
  const ListedTraining training =
      read_lines({"1 pipe step 1 who=rank1", "2 pipe step 2 who=rank1", "2 output step 1"});
  EXPECT_EQ(training.source, "pipe");
  EXPECT_EQ(training.count, 2);
}

TEST(Tracks, every_number_of_event_files_has_its_own_axis) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 40; ++i) {
    lines.push_back(fmt::format("{} tensorboard step {} loss={}", i, i, 1.0 / i));
    lines.push_back(fmt::format("{} tensorboard step {} accuracy=0.5", i, i));
    if (i % 10 == 0) lines.push_back(fmt::format("{} tensorboard step {} lr=0.1", i, i / 10));
  }
  const ListedTraining training = read_lines(lines);
  EXPECT_EQ(training.count, 40);
  EXPECT_EQ(training.steps[3].loss, 0.25);
  EXPECT_EQ(training.steps[3].accuracy, 0.5);
}

TEST(Tracks, events_that_are_read_twice_count_once) {
  const ListedTraining training =
      read_lines({"1 tensorboard step 1 loss=2", "2 tensorboard step 2 loss=1",
                  "1 tensorboard step 1 loss=2", "2 tensorboard step 2 loss=1"});
  EXPECT_EQ(training.count, 2);
  EXPECT_EQ(training.numbers.size(), 2U);
}

TEST(Tracks, printed_steps_that_may_be_of_another_process_are_not_counted) {
  const std::vector<Event> events = {{1.5, std::string(kOutputIsShared), "process 7 writes too"}};
  const ListedTraining refused =
      read_lines({"1 output step 1 loss=1", "2 output step 2"}, 100, events);
  EXPECT_FALSE(refused.count);
  EXPECT_NE(refused.reason.find("process 7 writes too"), std::string::npos);
  EXPECT_TRUE(refused.numbers.empty());
  EXPECT_EQ(read_lines({"1 output step 1", "2 pipe step 2"}, 100, events).count, 1);
}

TEST(Tracks, steps_of_another_set_are_not_steps_of_the_training) {
  const ListedTraining training = read_lines(
      {"1 pipe step 499 loss=1", "2 pipe step 500 loss=1", "3 pipe step 0 loss=2 set=validation",
       "4 pipe step loss=3 set=validation", "5 pipe step 501 loss=1 set=train"});
  EXPECT_EQ(training.count, 3);
  EXPECT_EQ(training.observed, 3);
  ASSERT_EQ(training.results.size(), 2U);
  EXPECT_EQ(training.results[1].set, "validation");
  EXPECT_EQ(training.results[1].loss, 3);
  const ListedTraining none = read_lines({"1 pipe step 1 set=test", "2 pipe step 2 set=test"});
  EXPECT_FALSE(none.count);
  EXPECT_EQ(none.reason, "2 steps of other sets were reported, but none of the training");
}

}  // namespace
}  // namespace trainscope
