#include "training/step_statistics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace step_statistics_test {

TEST(StepStatistics, slow_first_steps_are_warm_up) {
  const ListedTraining training =
      read_lines({"0.1 pipe phase input 0.1", "5 pipe step 1", "6 pipe step 2", "6.1 pipe step 3",
                  "6.2 pipe step 4", "6.3 pipe step 5", "6.4 pipe step 6", "6.5 pipe step 7"});
  EXPECT_EQ(training.warmup_steps, 2);
  EXPECT_EQ(training.steps[2].kind, "step");
  const StepStatistics statistics = training.statistics;
  EXPECT_NEAR(*statistics.mean_s, 0.1, 1e-9);
}

TEST(StepStatistics, a_smaller_last_batch_is_not_the_batch_of_all_steps) {
  std::vector<std::string> lines = {"0 pipe batch 32"};
  for (int i = 1; i <= 10; ++i) lines.push_back(fmt::format("{} pipe step {}", i, i));
  lines.emplace_back("10.5 pipe batch 1");
  lines.emplace_back("11 pipe step 11");
  const ListedTraining training = read_lines(lines);
  EXPECT_NEAR(*training.statistics.throughput, (9 * 32 + 1) / 10.0, 1e-9);
  EXPECT_EQ(training.batch, 32);
}

TEST(StepStatistics, speed_is_that_between_the_first_and_the_last_step) {
  const ListedTraining training =
      read_lines({"60 pipe step 10", "61 pipe step 20", "64 pipe step 50"});
  ASSERT_TRUE(training.steps_per_s);
  EXPECT_NEAR(*training.steps_per_s, 10, 1e-9);
  EXPECT_FALSE(read_lines({"60 pipe step 10"}).steps_per_s);
}

TEST(StepStatistics, batches_give_throughput) {
  const ListedTraining training =
      read_lines({"0 pipe batch 64", "1 pipe step 1", "1.5 pipe step 2", "2 pipe step 3"});
  EXPECT_NEAR(*training.statistics.throughput, 128, 1e-9);
}

TEST(StepStatistics, reported_throughput_is_known_without_step_times) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 40; ++i) {
    lines.push_back(fmt::format("3 output step {} throughput={}", i, i % 2 == 0 ? 100 : 140));
  }
  const ListedTraining training = read_lines(lines);
  EXPECT_FALSE(training.statistics.mean_s);
  ASSERT_TRUE(training.statistics.throughput);
  EXPECT_NEAR(*training.statistics.throughput, 120, 1e-9);
}

}  // namespace step_statistics_test
}  // namespace trainscope
