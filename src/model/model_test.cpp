#include "model/model.h"

#include <gtest/gtest.h>

#include "model/training.h"
#include "testing/fake_run.h"

namespace trainscope {
namespace model_test {

TEST(Model, outcomes_are_found_by_their_names) {
  for (const EndedBy ended_by :
       {EndedBy::running, EndedBy::exit, EndedBy::signal, EndedBy::time_limit, EndedBy::not_started,
        EndedBy::detached, EndedBy::unknown}) {
    EXPECT_EQ(ended_by_from_name(ended_by_name(ended_by)), ended_by);
  }
  EXPECT_EQ(ended_by_name(EndedBy::time_limit), "time_limit");
  EXPECT_EQ(ended_by_name(EndedBy::running), "") << "null in JSON";
  EXPECT_EQ(ended_by_from_name("of a later version"), EndedBy::unknown);
}

TEST(Model, runs_have_the_statuses_of_the_contract) {
  EXPECT_EQ(run_status_name(RunStatus::running), "running");
  EXPECT_EQ(run_status_name(RunStatus::ended), "ended");
  EXPECT_EQ(run_status_name(RunStatus::damaged), "damaged");
}

TEST(Model, points_of_several_series_are_those_of_each) {
  FakeRun run(1, 3);
  run.add("a", {}, Kind::gauge, {0, 1, 2}, {5, 6, 7});
  run.add("b", {}, Kind::gauge, {0, 1, 2}, {8, 9, 10});
  const auto points = run.points_of({1, 0}, {1, std::nullopt});
  ASSERT_TRUE(points);
  ASSERT_EQ(points->size(), 2U);
  EXPECT_EQ((*points)[0].value, (std::vector<double>{9, 10}));
  EXPECT_EQ((*points)[1].value, (std::vector<double>{6, 7}));
}

TEST(Model, only_phases_of_the_thread_that_does_the_steps_are_of_the_training) {
  const auto phase = [](const char* name, const char* who = "") {
    return TrainingPhase{name, who, 0, 1, false};
  };
  EXPECT_TRUE(phase("checkpoint").is_pause());
  EXPECT_TRUE(phase("evaluation").is_pause());
  EXPECT_FALSE(phase("evaluation", "worker").is_pause());
  EXPECT_FALSE(phase("input").is_pause());
  EXPECT_TRUE(phase("input").is_input());
  EXPECT_FALSE(phase("input", "worker").is_input());
  for (const char* name : {"forward", "backward", "compute", "optimizer"}) {
    EXPECT_TRUE(phase(name).is_compute()) << name;
    EXPECT_TRUE(phase(name).is_step_phase()) << name;
    EXPECT_FALSE(phase(name, "worker").is_step_phase()) << name;
  }
  for (const char* name : {"prepare", "transfer", "communication"}) {
    EXPECT_TRUE(phase(name).is_step_phase()) << name;
    EXPECT_FALSE(phase(name).is_compute()) << name;
    EXPECT_FALSE(phase(name, "worker").is_step_phase()) << name;
  }
  EXPECT_FALSE(phase("compile").is_step_phase());
}

TEST(Model, the_mean_of_a_group_stands_in_for_a_duration) {
  Step step;
  EXPECT_FALSE(step.mean_s());
  step.average_s = 2;
  EXPECT_EQ(step.mean_s(), 2);
  step.duration_s = 3;
  EXPECT_EQ(step.mean_s(), 3);
}

}  // namespace model_test
}  // namespace trainscope
