#include "training/timeline_fold.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace timeline_fold_test {

Step step_at(double end_s, double duration_s, double input_s) {
  Step step;
  step.time_s = end_s;
  step.duration_s = duration_s;
  step.input_wait_s = input_s;
  return step;
}

TEST(TimelineFold, waits_are_where_they_were) {
  TimelineFold fold;
  for (int i = 1; i <= 100; ++i) fold.add(step_at(i * 0.1, 0.1, i <= 40 ? 0.08 : 0));
  EXPECT_NEAR(fold.timeline().within(0, 4).input_s, 3.2, 1e-9);
  EXPECT_NEAR(fold.timeline().within(1, 2).input_s, 0.8, 1e-9);
  EXPECT_NEAR(fold.timeline().within(4, 10).input_s, 0, 1e-9);
}

TEST(TimelineFold, a_long_run_has_longer_parts_and_the_same_sums) {
  TimelineFold fold;
  for (int i = 1; i <= 2000; ++i) fold.add(step_at(i, 1, i <= 1000 ? 0.5 : 0.1));
  EXPECT_LE(fold.timeline().parts.size(), TimelineFold::kMostParts);
  EXPECT_NEAR(fold.timeline().within(0, 2000).input_s, 600, 1e-6);
  EXPECT_NEAR(fold.timeline().within(0, 1000).input_s, 500, 4);
}

TEST(TimelineFold, only_steps_before_which_a_device_ran_dry_lose) {
  TimelineFold fold;
  for (int i = 1; i <= 10; ++i) {
    Step step = step_at(i, 1, 0.5);
    if (i > 2) step.dry = i > 6 ? 1 : 0;
    fold.add(step);
  }
  const StepTimeline::Part sum = fold.timeline().within(0, 20);
  EXPECT_NEAR(sum.input_s, 5, 1e-9);
  EXPECT_NEAR(sum.known_s, 8, 1e-9);
  EXPECT_NEAR(sum.lost_s, 2, 1e-9);
}

TEST(TimelineFold, a_step_without_a_time_adds_nothing) {
  TimelineFold fold;
  Step step;
  step.time_s = 5;
  step.input_wait_s = 1;
  fold.add(step);
  EXPECT_TRUE(fold.timeline().parts.empty());
}

}  // namespace timeline_fold_test
}  // namespace trainscope
