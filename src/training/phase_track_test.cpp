#include "training/phase_track.h"

#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace phase_track_test {

TEST(PhaseTrack, the_last_end_of_a_phase_that_is_nested_in_itself_counts) {
  const ListedTraining training =
      read_lines({"1 pipe step 1", "1 pipe begin input", "1.2 pipe begin input",
                  "1.4 pipe end input", "1.6 pipe end input", "2 pipe step 2"});
  ASSERT_EQ(training.all_phases.size(), 1U);
  EXPECT_DOUBLE_EQ(training.all_phases[0].from_s, 1);
  EXPECT_DOUBLE_EQ(training.all_phases[0].to_s, 1.6);
  ASSERT_NE(training.find_phase_sum("input"), nullptr);
  EXPECT_NEAR(training.find_phase_sum("input")->time_s, 0.6, 1e-9);
  EXPECT_NEAR(*training.steps.at(1).input_wait_s, 0.6, 1e-9);
}

TEST(PhaseTrack, a_lost_end_costs_only_the_phases_of_its_step) {
  const ListedTraining training =
      read_lines({"1 pipe step 1", "1 pipe begin input", "2 pipe step 2", "2.1 pipe begin input",
                  "2.3 pipe end input", "3 pipe step 3"});
  ASSERT_EQ(training.all_phases.size(), 1U);
  EXPECT_DOUBLE_EQ(training.all_phases[0].from_s, 2.1);
  EXPECT_DOUBLE_EQ(training.all_phases[0].to_s, 2.3);
}

TEST(PhaseTrack, without_steps_a_phase_begins_anew) {
  const ListedTraining training =
      read_lines({"1 pipe begin input", "2 pipe begin input", "2.5 pipe end input",
                  "3 pipe begin input", "3.5 pipe end input"});
  ASSERT_EQ(training.all_phases.size(), 2U);
  EXPECT_DOUBLE_EQ(training.all_phases[0].from_s, 2);
}

TEST(PhaseTrack, steps_of_another_sender_end_nothing) {
  const ListedTraining training =
      read_lines({"1 pipe step 1", "1 pipe begin save who=77", "1.1 pipe step 1 who=77",
                  "1.2 pipe begin save who=77", "1.3 pipe step 2", "1.4 pipe begin save who=77",
                  "1.5 pipe end save who=77", "1.6 pipe end save who=77", "2 pipe step 3"});
  ASSERT_EQ(training.all_phases.size(), 1U);
  EXPECT_DOUBLE_EQ(training.all_phases[0].from_s, 1.2);
  EXPECT_DOUBLE_EQ(training.all_phases[0].to_s, 1.6);
}

}  // namespace phase_track_test
}  // namespace trainscope
