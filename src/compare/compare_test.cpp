#include "compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compare/planted_sides.h"

namespace trainscope {
namespace compare_test {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(CompareTest, a_slow_down_of_30_percent_is_found_with_its_size) {
  PlantedHome home;
  home.add("a", {.seed = 1});
  home.add("b", {.seed = 2, .step_s = 0.13});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  const ComparedSpeed& speed = comparison->speed;
  EXPECT_EQ(speed.verdict, "slower");
  EXPECT_NEAR(*speed.ratio, 1 / 1.3, 0.02);
  EXPECT_LT(*speed.low, 1 / 1.3);
  EXPECT_GT(*speed.high, 1 / 1.3);
  EXPECT_LT(*speed.high - *speed.low, 0.05);
  EXPECT_LT(*speed.p, 0.001);
  EXPECT_THAT(speed.sentence, HasSubstr("B is slower: 0.768× ["));
  EXPECT_THAT(speed.sentence, HasSubstr("these two runs"));
  EXPECT_EQ(find_compared(*comparison, "train.step.duration")->number.verdict, "higher");
}

TEST(CompareTest, the_same_job_twice_does_not_differ) {
  PlantedHome home;
  home.add("a", {.seed = 3});
  home.add("b", {.seed = 4});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->speed.verdict, "same") << comparison->speed.sentence;
  EXPECT_THAT(comparison->speed.sentence, HasSubstr("equally fast within 2 %"));
  EXPECT_EQ(comparison->behaviour.verdict, "same") << comparison->behaviour.sentence;
}

TEST(CompareTest, a_run_compared_with_itself_is_the_same_and_warned_of) {
  PlantedHome home;
  home.add("a", {});
  const auto comparison = home.compare({"a"}, {"a"});
  ASSERT_TRUE(comparison);
  EXPECT_DOUBLE_EQ(*comparison->speed.ratio, 1);
  EXPECT_EQ(comparison->speed.p, 1);
  EXPECT_THAT(warning_ids(*comparison), HasSubstr("same_run "));
}

TEST(CompareTest, runs_without_steps_are_compared_by_behaviour_alone) {
  PlantedHome home;
  for (const char* path : {"a", "b"}) {
    FakeRun run(0.1, 60);
    std::vector<double> times, load;
    PlantedNoise noise(path[0]);
    for (int i = 0; i < 600; ++i) {
      times.push_back(i * 0.1);
      load.push_back((path[0] == 'a' ? 0.756 : 0.144) + 0.001 * noise.next());
    }
    run.add("system.cpu.utilization", {{"cpu", "all"}}, Kind::gauge, times, load);
    home.add(path, std::move(run));
  }
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_FALSE(comparison->speed.ratio);
  EXPECT_EQ(comparison->speed.verdict, "cannot_tell");
  EXPECT_THAT(comparison->speed.sentence, HasSubstr("was not compared: A and B have no steps"));
  EXPECT_EQ(comparison->behaviour.verdict, "different");
  EXPECT_THAT(comparison->behaviour.sentence, HasSubstr("processor 75.6 % → 14.4 %"));
}

TEST(CompareTest, repeats_make_a_statement_about_configurations) {
  PlantedHome home;
  std::vector<std::string> a, b;
  for (uint64_t i = 0; i < 5; ++i) {
    // Runs differ from each other by up to 2 %.
    const double run_level = 1 + 0.005 * static_cast<double>(i);
    a.push_back(fmt::format("a{}", i));
    b.push_back(fmt::format("b{}", i));
    home.add(a.back(), {.seed = 10 + i, .step_s = 0.1 * run_level});
    home.add(b.back(), {.seed = 20 + i, .step_s = 0.08 * run_level});
  }
  const auto comparison = home.compare(a, b);
  ASSERT_TRUE(comparison);
  EXPECT_TRUE(comparison->is_between_runs);
  EXPECT_EQ(comparison->speed.verdict, "faster");
  EXPECT_NEAR(*comparison->speed.ratio, 1.25, 0.02);
  EXPECT_THAT(comparison->speed.sentence, HasSubstr("over 5 runs of A and 5 of B"));
  EXPECT_THAT(warning_ids(*comparison), Not(HasSubstr("few_repeats")));
}

TEST(CompareTest, repeats_that_vary_more_than_they_differ_cannot_be_told_apart) {
  PlantedHome home;
  home.add("a1", {.seed = 1, .step_s = 0.100});
  home.add("a2", {.seed = 2, .step_s = 0.110});
  home.add("b1", {.seed = 3, .step_s = 0.104});
  home.add("b2", {.seed = 4, .step_s = 0.114});
  const auto one_each = home.compare({"a1"}, {"b1"});
  const auto repeats = home.compare({"a1", "a2"}, {"b1", "b2"});
  ASSERT_TRUE(one_each && repeats);
  EXPECT_EQ(one_each->speed.verdict, "slower");
  EXPECT_EQ(repeats->speed.verdict, "cannot_tell") << repeats->speed.sentence;
  EXPECT_THAT(repeats->speed.sentence, HasSubstr("repeats per side would find"));
}

// The ratio to steps that took next to no time is no number.
TEST(CompareTest, steps_of_no_time_have_no_speed) {
  PlantedHome home;
  home.add("a", {.seed = 1});
  home.add("b", {.seed = 2});
  for (const char* text : {"0", "1e-320"}) {
    std::vector<StoredReport> reports;
    for (int i = 1; i <= 100; ++i) {
      const std::string line = fmt::format("step {} duration={}", i, text);
      reports.push_back({0.01 * i, "pipe", *parse_report(line)});
    }
    home.add("b", {.seed = 2}).set_training(read_listed(std::move(reports), 60));
    const auto comparison = home.compare({"a"}, {"b"});
    ASSERT_TRUE(comparison);
    EXPECT_FALSE(comparison->speed.ratio) << text;
    EXPECT_EQ(comparison->speed.verdict, "cannot_tell");
    EXPECT_EQ(comparison->speed.reason, "the steps of B took no time");
  }
}

TEST(CompareTest, one_step_is_no_evidence) {
  PlantedHome home;
  home.add("a", {.seed = 1, .steps = 1});
  home.add("b", {.seed = 2, .steps = 300});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->speed.verdict, "cannot_tell");
  EXPECT_FALSE(comparison->speed.low);
  EXPECT_FALSE(comparison->speed.p);
  EXPECT_THAT(comparison->speed.sentence, HasSubstr("each side needs at least 8"));
}

TEST(CompareTest, warm_up_and_checkpoints_are_no_part_of_the_step_time) {
  PlantedHome home;
  home.add("a", {.seed = 1});
  home.add("b", {.seed = 1, .warmup = 5, .checkpoint_s = 3});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->speed.verdict, "same") << comparison->speed.sentence;
  EXPECT_EQ(comparison->b.runs[0].warmup_steps, 5);
  EXPECT_EQ(comparison->b.runs[0].steps, 595);
  EXPECT_NEAR(comparison->a.runs[0].from_s, 1, 1e-9);
  EXPECT_NEAR(comparison->b.runs[0].from_s, 1 + 5 * 0.5, 0.5);  // hardware metrics begin there too
}

TEST(CompareTest, the_start_of_workers_is_no_part_of_the_step_time) {
  PlantedHome home;
  home.add("a", {.seed = 1, .input_share = 0.2});
  home.add("b", {.seed = 2, .input_share = 0.2, .first_wait_s = 10});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->speed.verdict, "same") << comparison->speed.sentence;
  EXPECT_EQ(comparison->b.runs[0].warmup_steps, 1);
  EXPECT_EQ(comparison->b.runs[0].steps, 599);
  EXPECT_NEAR(comparison->b.runs[0].from_s, 1 + 10 + 0.1, 0.05);
}

TEST(CompareTest, alignment_limits_what_is_compared) {
  PlantedHome home;
  home.add("a", {.seed = 1, .steps = 600});
  home.add("b", {.seed = 2, .step_s = 0.2, .steps = 200});
  const auto by_step = home.compare({"a"}, {"b"}, {.align = Align::step});
  ASSERT_TRUE(by_step);
  EXPECT_EQ(by_step->a.runs[0].steps, by_step->b.runs[0].steps);
  const auto by_time = home.compare({"a"}, {"b"}, {.align = Align::time});
  ASSERT_TRUE(by_time);
  const ComparedRun &a = by_time->a.runs[0], &b = by_time->b.runs[0];
  EXPECT_NEAR(a.to_s - a.from_s, b.to_s - b.from_s, 1e-9);
  EXPECT_NEAR(*a.steps, 2 * *b.steps, 20);
  home.add("none", {.steps = 0});
  const auto without = home.compare({"a"}, {"none"}, {.align = Align::step});
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message(), HasSubstr("--align time"));
}

// Its steps are known, so the reason is not one of the run.
TEST(CompareTest, a_part_in_which_no_step_ended_is_said_to_be_one) {
  PlantedHome home;
  home.add("a", {.seed = 1, .step_s = 0.1, .steps = 20});
  home.add("b", {.seed = 2, .step_s = 10, .steps = 20});
  const auto comparison = home.compare({"a"}, {"b"}, {.align = Align::time});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->speed.reason,
            "B has no steps: none ended in the part that --align compares");
}

TEST(CompareTest, the_run_that_lacks_steps_is_named) {
  PlantedHome home;
  home.add("a1", {.seed = 1});
  home.add("a2", {.seed = 2, .steps = 0});
  home.add("b", {.seed = 3});
  const auto some = home.compare({"a1", "a2"}, {"b"}), all = home.compare({"b"}, {"a2"});
  ASSERT_TRUE(some && all);
  EXPECT_THAT(some->speed.reason, StartsWith("run run0000002 of A has no steps: "));
  EXPECT_THAT(all->speed.reason, StartsWith("B has no steps: "));
}

TEST(CompareTest, the_difference_is_divided_over_the_parts_of_a_step) {
  PlantedHome home;
  home.add("a", {.seed = 1, .step_s = 0.10, .noise = 0.01, .input_share = 0.2});
  home.add("b", {.seed = 2, .step_s = 0.14, .noise = 0.01, .input_share = 0.4});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  ASSERT_GE(comparison->attribution.size(), 2U);
  const AttributedPart& first = comparison->attribution[0];
  EXPECT_EQ(first.part, "input wait");  // 0.02 → 0.056; compute 0.08 → 0.084
  EXPECT_NEAR(first.difference_s, 0.036, 0.001);
  EXPECT_NEAR(*first.share, 0.9, 0.03);
  EXPECT_THAT(comparison->why, HasSubstr("per step come from input"));
}

TEST(CompareTest, without_phases_the_reason_is_unknown) {
  PlantedHome home;
  home.add("a", {.seed = 1});
  home.add("b", {.seed = 2, .step_s = 0.2});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_THAT(comparison->why, HasSubstr("unknown: A reports no phases"));
}

TEST(CompareTest, energy_is_that_of_a_step) {
  PlantedHome home;
  home.add("a", {.seed = 1, .gpu_watts = 200});
  home.add("b", {.seed = 2, .step_s = 0.05, .gpu_watts = 300});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison && comparison->energy);
  EXPECT_EQ(comparison->energy_of, "GPU");
  EXPECT_NEAR(*comparison->energy->a, 20, 0.5);
  EXPECT_NEAR(*comparison->energy->b, 15, 0.5);
  EXPECT_EQ(comparison->energy->verdict, "lower");
}

TEST(CompareTest, counters_are_compared_as_rates) {
  PlantedHome home;
  for (const auto& [path, rate] : {std::pair("a", 1e6), std::pair("b", 3e6)}) {
    FakeRun& run = home.add(path, {.seed = static_cast<uint64_t>(path[0])});
    std::vector<double> times, values;
    for (int i = 0; i < 600; ++i) {
      times.push_back(i * 0.1);
      values.push_back(1e6 + rate * i * 0.1);
    }
    run.add("system.network.io", {{"device", "eth0"}, {"direction", "receive"}}, Kind::counter,
            times, values);
    run.last_series().unit = "By";
  }
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  const ComparedMetric* metric = find_compared(*comparison, "system.network.io");
  ASSERT_NE(metric, nullptr);
  EXPECT_EQ(metric->unit, "By/s");
  EXPECT_NEAR(*metric->number.a, 1e6, 1e-2);
  EXPECT_NEAR(*metric->number.ratio, 3, 1e-6);
  EXPECT_EQ(metric->number.verdict, "higher");
}

TEST(CompareTest, temperatures_of_single_cores_are_left_out) {
  PlantedHome home;
  for (const char* path : {"a", "b"}) {
    FakeRun& run = home.add(path, {.seed = static_cast<uint64_t>(path[0])});
    for (const char* sensor : {"coretemp Core 12", "coretemp Package id 0"}) {
      run.add("hw.temperature", {{"sensor", sensor}}, Kind::gauge, {0, 10, 20, 30},
              {50, 50, 50, 50});
    }
  }
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  const auto is_temperature = [](const ComparedMetric& metric) {
    return metric.name == "hw.temperature";
  };
  EXPECT_EQ(std::count_if(comparison->metrics.begin(), comparison->metrics.end(), is_temperature),
            1);
}

TEST(CompareTest, a_metric_of_one_side_has_no_verdict) {
  PlantedHome home;
  home.add("a", {.seed = 1});
  home.add("b", {.seed = 2, .gpu_watts = 100});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  const ComparedMetric* metric = find_compared(*comparison, "hw.gpu.power");
  ASSERT_NE(metric, nullptr);
  EXPECT_FALSE(metric->number.a);
  EXPECT_EQ(metric->number.verdict, "cannot_tell");
  EXPECT_EQ(metric->number.reason, "not recorded in A");
}

TEST(CompareTest, both_answers_are_explained) {
  PlantedHome home;
  home.add("a", {.seed = 1});
  home.add("b", {.seed = 2});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  ASSERT_EQ(comparison->explanations.size(), 2U);
  EXPECT_THAT(comparison->explanations[0].null_hypothesis, HasSubstr("time per step is the same"));
  EXPECT_THAT(comparison->explanations[0].result, HasSubstr("p = "));
  EXPECT_THAT(comparison->explanations[1].test, HasSubstr("Holm"));
}

}  // namespace compare_test
}  // namespace trainscope
