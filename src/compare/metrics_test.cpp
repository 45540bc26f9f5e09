#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/planted_sides.h"

namespace trainscope {
namespace metrics_test {

using testing::HasSubstr;

TEST(MetricsTest, the_step_time_has_the_verdict_of_the_speed) {
  PlantedHome home;
  home.add("a", {.seed = 1, .noise = 0.01});
  home.add("b", {.seed = 2, .step_s = 0.103, .noise = 0.01});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->speed.verdict, "slower") << comparison->speed.sentence;
  const ComparedNumber& step_time = find_compared(*comparison, "train.step.duration")->number;
  EXPECT_EQ(step_time.verdict, "higher");
  EXPECT_EQ(step_time.p_adjusted, comparison->speed.p);
}

TEST(MetricsTest, a_metric_that_a_repeat_lacks_is_not_compared) {
  PlantedHome home;
  home.add("a1", {.seed = 1, .gpu_watts = 100});
  home.add("a2", {.seed = 2});
  home.add("b1", {.seed = 3, .gpu_watts = 200});
  home.add("b2", {.seed = 4, .gpu_watts = 200});
  const auto comparison = home.compare({"a1", "a2"}, {"b1", "b2"});
  ASSERT_TRUE(comparison);
  const ComparedNumber& power = find_compared(*comparison, "hw.gpu.power")->number;
  EXPECT_EQ(power.reason, "not recorded in all runs of A");
  EXPECT_EQ(power.verdict, "cannot_tell");
  EXPECT_FALSE(power.p);
  EXPECT_FALSE(power.ratio);
}

TEST(MetricsTest, energies_of_different_things_are_not_compared) {
  PlantedHome home;
  FakeRun& a = home.add("a", {.seed = 1});
  std::vector<double> times, joules;
  for (int i = 0; i < 600; ++i) {
    times.push_back(i * 0.1);
    joules.push_back(i * 5.0);
  }
  a.add("hw.energy", {{"sensor", "package-0"}}, Kind::counter, times, joules);
  home.add("b", {.seed = 2, .gpu_watts = 200});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_FALSE(comparison->energy);
  int energies = 0;
  for (const ComparedMetric& metric : comparison->metrics) {
    if (metric.name != "train.energy_per_step") continue;
    ++energies;
    EXPECT_NE(metric.number.a.has_value(), metric.number.b.has_value());
    EXPECT_THAT(metric.number.reason, HasSubstr("not recorded in "));
    EXPECT_EQ(metric.number.verdict, "cannot_tell");
  }
  EXPECT_EQ(energies, 2);
}

// Three repeats that vary by 0.5 % are enough for 2 %, but not to tell 1 % from 0 or from 2 %.
TEST(MetricsTest, what_would_tell_a_smaller_difference_is_stated) {
  PlantedHome home;
  std::vector<std::string> a, b;
  for (const int i : {0, 1, 2}) {
    a.push_back(fmt::format("a{}", i));
    b.push_back(fmt::format("b{}", i));
    const auto seed = static_cast<uint64_t>(i + 1);
    home.add(a.back(), {.seed = seed, .step_s = 0.0995 + 0.0005 * i, .noise = 1e-4});
    home.add(b.back(), {.seed = 10 + seed, .step_s = 0.1005 + 0.0005 * i, .noise = 1e-4});
  }
  const auto comparison = home.compare(a, b);
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->speed.verdict, "cannot_tell") << comparison->speed.sentence;
  EXPECT_THAT(comparison->speed.sentence,
              HasSubstr("repeats per side would find a difference of 1 %"));
}

// A's two runs differ so much that its step time cannot be told from 0.
TEST(MetricsTest, a_speed_without_a_lower_bound_is_certainly_slower_all_the_same) {
  PlantedHome home;
  home.add("a1", {.seed = 1, .step_s = 0.01});
  home.add("a2", {.seed = 2, .step_s = 0.3});
  home.add("b1", {.seed = 3, .step_s = 5, .steps = 50});
  home.add("b2", {.seed = 4, .step_s = 5.05, .steps = 50});
  const auto comparison = home.compare({"a1", "a2"}, {"b1", "b2"});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->speed.low, 0);
  ASSERT_TRUE(comparison->speed.high);
  EXPECT_LT(*comparison->speed.high, 1 / 1.05);
  EXPECT_EQ(check_fail_if({0.05}, comparison->speed), FailIfAnswer::fires);
  EXPECT_THAT(comparison->speed.sentence, HasSubstr("× [0.0"));
}

}  // namespace metrics_test
}  // namespace trainscope
