#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/planted_sides.h"

namespace trainscope {
namespace observe_steps_test {

using testing::HasSubstr;

// Steps that arrive in groups, as those of a job whose output is buffered; a line is "step N" with
// what is given.
FakeRun grouped_run(int groups, int per_group, double step_s, const std::string& more = "") {
  PlantedNoise noise(static_cast<uint64_t>(groups));
  std::vector<StoredReport> reports;
  double now_s = 0;
  for (int i = 0; i < groups * per_group; ++i) {
    if (i % per_group == 0) now_s += per_group * step_s * (1 + 0.05 * noise.next());
    reports.push_back({now_s, "pipe", *parse_report(fmt::format("step {}{}", i + 1, more))});
  }
  FakeRun run(0.1, now_s + 1);
  run.set_training(read_listed(std::move(reports), now_s + 1));
  return run;
}

TEST(ObserveStepsTest, steps_that_arrived_together_are_one_measurement) {
  PlantedHome home;
  home.add("few a", grouped_run(6, 100, 0.10));
  home.add("few b", grouped_run(6, 100, 0.12));
  const auto few = home.compare({"few a"}, {"few b"});
  ASSERT_TRUE(few);
  EXPECT_TRUE(few->speed.ratio);
  EXPECT_FALSE(few->speed.low) << few->speed.sentence;
  EXPECT_THAT(few->speed.sentence, HasSubstr("too few values"));
  home.add("many a", grouped_run(60, 100, 0.10));
  home.add("many b", grouped_run(61, 100, 0.12));
  const auto many = home.compare({"many a"}, {"many b"});
  ASSERT_TRUE(many && many->speed.low);
  EXPECT_LE(*many->speed.effective_a, 60);
}

TEST(ObserveStepsTest, a_run_whose_step_times_are_unknown_is_not_said_to_have_no_steps) {
  FakeRun run(0.1, 2);
  run.set_training(read_listed({{1, "output", *parse_report("step 1")}}, 2));
  PlantedHome home;
  home.add("one", std::move(run));
  const auto comparison = home.compare({"one"}, {"one"});
  ASSERT_TRUE(comparison);
  EXPECT_THAT(comparison->speed.sentence, HasSubstr("A and B have no step times: "));
}

TEST(ObserveStepsTest, a_reason_is_said_once) {
  FakeRun together(0.1, 20);
  std::vector<StoredReport> lines;
  for (int i = 1; i <= 20; ++i) {
    lines.push_back({1, "output", *parse_report(fmt::format("step {}", i))});
  }
  together.set_training(read_listed(std::move(lines), 2));
  FakeRun silent(0.1, 2);
  silent.set_training(read_listed({}, 2));
  PlantedHome home;
  home.add("together", std::move(together));
  home.add("silent", std::move(silent));
  const auto comparison = home.compare({"together"}, {"silent"});
  ASSERT_TRUE(comparison);
  EXPECT_THAT(comparison->speed.sentence, HasSubstr("A has no step times: 20 of 20 printed steps"));
  const auto other = home.compare({"silent"}, {"silent"});
  EXPECT_THAT(other->speed.sentence, HasSubstr("A and B have no steps: try "));
}

TEST(ObserveStepsTest, a_short_part_of_a_long_run_has_as_many_blocks) {
  PlantedHome home;
  home.add("short", {.seed = 1, .steps = 200});
  home.add("long", {.seed = 2, .steps = 20'000});
  const auto comparison = home.compare({"short"}, {"long"}, {.align = Align::time});
  ASSERT_TRUE(comparison);
  ASSERT_TRUE(comparison->speed.low) << comparison->speed.sentence;
  EXPECT_GT(*comparison->speed.effective_b, 30);
  EXPECT_NEAR(*comparison->b.runs[0].steps, 200, 10);
}

TEST(ObserveStepsTest, blocks_hold_all_steps) {
  for (const int steps : {1, 511, 512, 513, 1024, 1025, 3333}) {
    PlantedHome home;
    home.add("a", {.seed = 1, .steps = steps});
    const auto comparison = home.compare({"a"}, {"a"});
    ASSERT_TRUE(comparison);
    EXPECT_EQ(comparison->a.runs[0].steps, steps);
    if (comparison->speed.effective_a) {
      EXPECT_LE(*comparison->speed.effective_a, 512);
    }
  }
}

TEST(ObserveStepsTest, steps_without_duration_are_not_compared) {
  PlantedHome home;
  home.add("none", grouped_run(300, 1, 0.1, " duration=0"));
  home.add("some", {.seed = 1});
  for (const auto& [a, b, slow] :
       {std::tuple("none", "some", "A"), std::tuple("some", "none", "B")}) {
    const auto comparison = home.compare({a}, {b});
    ASSERT_TRUE(comparison);
    EXPECT_FALSE(comparison->speed.ratio);
    EXPECT_EQ(comparison->speed.verdict, "cannot_tell");
    EXPECT_EQ(comparison->speed.sentence,
              fmt::format("Training speed was not compared: the steps of {} took no time.", slow));
  }
}

}  // namespace observe_steps_test
}  // namespace trainscope
