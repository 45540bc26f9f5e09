#include "training/tracks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace tracks_test {

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

TEST(Tracks, other_senders_of_steps_are_stated) {
  const ListedTraining ranks =
      read_lines({"1 pipe step 1", "1 pipe step 1 who=rank1", "2 pipe step 2",
                  "2 pipe step 2 who=rank1", "3 pipe step 3", "3 pipe phase input 1 who=rank2"});
  EXPECT_EQ(ranks.count, 3);
  ASSERT_EQ(ranks.other_step_senders.size(), 1U);
  EXPECT_EQ(ranks.other_step_senders[0].who, "rank1");
  EXPECT_EQ(ranks.other_step_senders[0].observed, 2);
  EXPECT_EQ(ranks.notes,
            std::vector<std::string>{
                "2 processes reported steps; those of rank 0 count (rank1 reported 2)"});
  const ListedTraining threads =
      read_lines({"1 pipe step 1", "1 pipe step 1 who=77.Thread-1", "2 pipe step 2 who=78"});
  EXPECT_EQ(threads.notes,
            std::vector<std::string>{"3 senders reported steps; those of the main process count "
                                     "(77.Thread-1 reported 1, 78 reported 1)"});
}

TEST(Tracks, of_many_senders_a_few_are_named) {
  std::vector<std::string> lines;
  for (int rank = 1; rank < 8; ++rank)
    lines.push_back(fmt::format("1 pipe step 1 who=rank{}", rank));
  EXPECT_EQ(
      read_lines(lines).notes,
      std::vector<std::string>{"7 processes reported steps; those of rank1 count (rank2 "
                               "reported 1, rank3 reported 1, rank4 reported 1, and 3 more)"});
}

TEST(Tracks, steps_that_were_sent_for_safety_are_no_other_sender) {
  const ListedTraining training =
      read_lines({"1 pipe step 1 who=instrument", "1 pipe step 1", "1 pipe step 1 who=rank1",
                  "1 pipe step 1 who=rank1.instrument"});
  EXPECT_EQ(training.other_step_senders.size(), 1U);
  EXPECT_TRUE(read_lines({"1 pipe step 1 who=instrument"}).other_step_senders.empty());
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

TEST(Tracks, a_number_whose_steps_are_those_of_several_processes_hides_no_other) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 100; ++i) {
    lines.push_back(fmt::format("{} tensorboard step {} alpha=1", i, i));
    if (i > 20) lines.push_back(fmt::format("{}.5 tensorboard step {} alpha=1", i, i - 2));
    if (i % 2 == 0) lines.push_back(fmt::format("{} tensorboard step {} loss=1", i, i));
  }
  EXPECT_EQ(read_lines(lines, 200).count, 100);
}

}  // namespace tracks_test
}  // namespace trainscope
