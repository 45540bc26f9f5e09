#include "training/step_overview.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace step_overview_test {

Step step_of(int64_t number, double time_s, double duration_s) {
  Step step;
  step.step = number;
  step.time_s = time_s;
  step.duration_s = duration_s;
  step.input_wait_s = duration_s / 4;
  return step;
}

TEST(StepOverview, keeps_the_first_and_the_longest_and_sums_up_the_others) {
  constexpr int64_t kSteps = 3 * StepOverviewFold::kMaxLongest;
  StepOverviewFold fold;
  double now_s = 0;
  for (int64_t i = 1; i <= kSteps; ++i) {
    const double duration_s = i % 1000 == 0 ? 9 : 0.5 + static_cast<double>(i % 7) / 100;
    fold.add(step_of(i, now_s += duration_s, duration_s));
  }
  Survey survey;
  survey.is_warmup[0] = true;
  const StepOverview overview = fold.finish(survey);
  ASSERT_EQ(overview.kept.size(), kMaxWarmup + StepOverviewFold::kMaxLongest);
  EXPECT_EQ(overview.kept[0].step.kind, "warmup");
  EXPECT_EQ(overview.kept[0].before_s, -1);
  EXPECT_EQ(overview.kept[1].step.kind, "step");
  double kept_s = 0, before_s = -1;
  int64_t long_steps = 0;
  for (const StepOverview::Kept& kept : overview.kept) {
    EXPECT_GT(kept.step.time_s, before_s) << "by time";
    before_s = kept.step.time_s;
    if (kept.before_s >= 0) {
      EXPECT_NEAR(kept.step.time_s - kept.before_s, *kept.step.duration_s, 1e-9);
    }
    kept_s += *kept.step.duration_s;
    long_steps += *kept.step.duration_s == 9 ? 1 : 0;
  }
  EXPECT_EQ(long_steps, kSteps / 1000);
  EXPECT_LE(overview.longest_s, 0.56);
  EXPECT_EQ(overview.most_covered, 1);
  EXPECT_NEAR(overview.input_s, (now_s - kept_s) / 4, 1e-6);
  EXPECT_NEAR(overview.rest_s, (now_s - kept_s) * 3 / 4, 1e-6);
}

TEST(StepOverview, steps_without_their_own_time_never_stand_out) {
  StepOverviewFold fold;
  for (int64_t i = 1; i <= 30; ++i) {
    Step step;
    step.step = i;
    step.time_s = static_cast<double>(i);
    step.covers = 10;
    if (i > 1) step.average_s = 0.1;
    fold.add(step);
  }
  const StepOverview overview = fold.finish(Survey());
  EXPECT_EQ(overview.kept.size(), kMaxWarmup);
  EXPECT_EQ(overview.longest_s, 0);
  EXPECT_EQ(overview.most_covered, 10);
  EXPECT_NEAR(overview.rest_s, 20, 1e-9);
}

// Four timed steps, and six of which only waits for data are known.
TEST(Training, knows_which_phases_were_timed_in_some_steps_only) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 10; ++i) {
    const bool is_timed = i <= 4;
    lines.push_back(fmt::format("{}.2 pipe phase input 0.1", i));
    if (is_timed) lines.push_back(fmt::format("{}.5 pipe phase forward 0.1", i));
    if (is_timed) lines.push_back(fmt::format("{}.6 pipe phase forward 0.1", i));
    if (i == 2) lines.push_back(fmt::format("{}.7 pipe phase checkpoint 0.1", i));
    lines.push_back(fmt::format("{}.9 pipe step {} timed={:d}", i, i, is_timed));
  }
  const ListedTraining training = read_lines(lines);
  EXPECT_DOUBLE_EQ(*training.statistics.timed_share, 0.4);
  for (const PhaseSum& sum : training.phase_sums) {
    EXPECT_EQ(sum.is_in_bursts, sum.name == "forward") << sum.name;
    const double expected_s = sum.name == "forward" ? 2 : sum.name == "input" ? 1 : 0.1;
    EXPECT_NEAR(*training.time_in_all_steps(sum), expected_s, 1e-9) << sum.name;
  }
}

TEST(Training, knows_where_its_steps_begin_and_end_and_sums_up_phases) {
  const ListedTraining training =
      read_lines({"1 pipe phase forward 0.5", "1 pipe step 1", "1.9 pipe phase checkpoint 0.4",
                  "2 pipe phase forward 0.25", "2 pipe phase communication 2 who=rank1",
                  "2 pipe step 2 dry=1", "3 pipe phase input 0.5", "3 pipe step 3 dry=0"});
  EXPECT_DOUBLE_EQ(training.begin_s, 0.5) << "where its first phase began";
  EXPECT_DOUBLE_EQ(training.end_s, 3);
  ASSERT_NE(training.find_phase_sum("forward"), nullptr);
  EXPECT_DOUBLE_EQ(training.find_phase_sum("forward")->time_s, 0.75);
  EXPECT_EQ(training.find_phase_sum("communication"), nullptr) << "of another sender";
  EXPECT_DOUBLE_EQ(*training.other_communication_s, 2);
  ASSERT_EQ(training.phases.size(), 1U);
  EXPECT_EQ(training.phases[0].next_step, 2);
  EXPECT_DOUBLE_EQ(*training.device_waits.dry_share(), 0.5);
  EXPECT_DOUBLE_EQ(*training.device_waits.lost_share(), 0);
}

}  // namespace step_overview_test
}  // namespace trainscope
