#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compare/observed_run.h"
#include "compare/planted_sides.h"

namespace trainscope {
namespace metrics_test {

using testing::HasSubstr;
using testing::Not;

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

void add_gauge(FakeRun& run, const std::string& name, const Labels& labels, const char* unit,
               double mean, double noise) {
  PlantedNoise chance(static_cast<uint64_t>(1000 * mean) + 1);
  std::vector<double> times, values;
  for (int i = 0; i < 600; ++i) {
    times.push_back(i * 0.1);
    values.push_back(mean + noise * chance.next());
  }
  run.add(name, labels, Kind::gauge, times, values);
  run.last_series().unit = unit;
}

void add_writes(FakeRun& run, double bytes_per_s) {
  std::vector<double> times, values;
  for (int i = 0; i < 600; ++i) {
    times.push_back(i * 0.1);
    values.push_back(bytes_per_s * i * 0.1);
  }
  run.add("job.io.bytes", {{"direction", "write"}}, Kind::counter, times, values);
  run.last_series().unit = "By";
}

Comparison compare_temperatures(double a, double b) {
  PlantedHome home;
  add_gauge(home.add("a", {.seed = 1}), "hw.gpu.temperature", {{"gpu", "0"}}, "Cel", a, 0.1);
  add_gauge(home.add("b", {.seed = 2}), "hw.gpu.temperature", {{"gpu", "0"}}, "Cel", b, 0.1);
  auto comparison = home.compare({"a"}, {"b"});
  EXPECT_TRUE(comparison);
  return std::move(*comparison);
}

TEST(MetricsTest, temperatures_have_a_difference_and_no_ratio) {
  const Comparison comparison = compare_temperatures(40, 60);
  const ComparedNumber& number = find_compared(comparison, "hw.gpu.temperature")->number;
  EXPECT_FALSE(number.ratio || number.low || number.high);
  EXPECT_NEAR(*number.difference, 20, 0.1);
  EXPECT_LT(*number.difference_low, 20.1);
  EXPECT_GT(*number.difference_high, 19.9);
  EXPECT_EQ(number.verdict, "higher");
  EXPECT_THAT(comparison.behaviour.sentence, HasSubstr("GPU temperature 40.0 °C → 60.0 °C"));
}

// 3 of 80 °C are less than 5 %, and 0.5 of 5 °C are more.
TEST(MetricsTest, temperatures_are_the_same_within_a_degree) {
  const auto verdict = [](double a, double b) {
    return find_compared(compare_temperatures(a, b), "hw.gpu.temperature")->number.verdict;
  };
  EXPECT_EQ(verdict(80, 83), "higher");
  EXPECT_EQ(verdict(5, 5.5), "same");
}

TEST(MetricsTest, a_few_bytes_per_second_are_no_difference) {
  const auto behaviour_with = [](double bytes_per_s) {
    PlantedHome home;
    for (const auto& [path, factor] : {std::pair("a", 1.0), std::pair("b", 3.0)}) {
      FakeRun& run = home.add(path, {.seed = static_cast<uint64_t>(path[0])});
      add_writes(run, factor * bytes_per_s);
    }
    const auto comparison = home.compare({"a"}, {"b"});
    EXPECT_TRUE(comparison);
    return comparison->behaviour.verdict;
  };
  EXPECT_EQ(behaviour_with(1000), "same");
  EXPECT_EQ(behaviour_with(1e6), "different");
}

// Time per time is shown in per cent, as shares are.
TEST(MetricsTest, less_than_a_percentage_point_of_the_time_is_no_difference) {
  const auto verdict = [](double share) {
    PlantedHome home;
    for (const auto& [path, factor] : {std::pair("a", 1.0), std::pair("b", 3.0)}) {
      FakeRun& run = home.add(path, {.seed = static_cast<uint64_t>(path[0])});
      std::vector<double> times, values;
      for (int i = 0; i < 600; ++i) {
        times.push_back(i * 0.1);
        values.push_back(factor * share * i * 0.1);
      }
      run.add("job.cpu.time", {{"mode", "system"}}, Kind::counter, times, values);
      run.last_series().unit = "s";
    }
    const auto comparison = home.compare({"a"}, {"b"});
    EXPECT_TRUE(comparison);
    return find_compared(*comparison, "job.cpu.time")->number.verdict;
  };
  EXPECT_EQ(verdict(0.003), "same");
  EXPECT_EQ(verdict(0.1), "higher");
}

// Writes differ for certain, but by too little to matter; whether the disk does cannot be told.
TEST(MetricsTest, the_p_value_of_the_behaviour_is_of_metrics_that_are_not_the_same) {
  PlantedHome home;
  for (const auto& [path, writes] : {std::pair("a", 1000.0), std::pair("b", 3000.0)}) {
    FakeRun& run = home.add(path, {.seed = static_cast<uint64_t>(path[0])});
    add_gauge(run, "system.disk.utilization", {{"device", "sda"}}, "1", 0.5, 0.3);
    add_writes(run, writes);
  }
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(find_compared(*comparison, "job.io.bytes")->number.verdict, "same");
  EXPECT_LT(*find_compared(*comparison, "job.io.bytes")->number.p_adjusted, 0.001);
  EXPECT_EQ(comparison->behaviour.verdict, "cannot_tell");
  EXPECT_GT(*comparison->behaviour.p, 0.05);
  EXPECT_THAT(comparison->explanations[1].result,
              HasSubstr("of 1 main metric; 2 more are the same"));
}

// Both reach 0.8 and A 0.9: in 800 of 900 steps of 0.1 s, and in 500 of 500 of 0.05 s.
TEST(MetricsTest, time_to_the_highest_accuracy_that_all_reached) {
  PlantedHome home;
  std::vector<std::string> a, b;
  for (const uint64_t i : {1, 2, 3}) {
    a.push_back(fmt::format("a{}", i));
    b.push_back(fmt::format("b{}", i));
    home.add(a.back(), {.seed = i, .steps = 900, .accuracy = 0.9});
    home.add(b.back(), {.seed = 10 + i, .step_s = 0.05, .steps = 500, .accuracy = 0.8});
  }
  const auto between = home.compare(a, b), one_each = home.compare({"a1"}, {"b1"});
  ASSERT_TRUE(between && one_each);
  const ComparedMetric* metric = find_compared(*between, "train.time_to_accuracy");
  ASSERT_NE(metric, nullptr);
  EXPECT_EQ(value_of_label(metric->labels, "accuracy"), "0.8");
  EXPECT_EQ(value_of_label(metric->labels, "set"), "test");
  EXPECT_NEAR(*metric->number.a, 81, 2);
  EXPECT_NEAR(*metric->number.b, 26, 1);
  EXPECT_EQ(metric->number.verdict, "lower");
  const ComparedNumber& single = find_compared(*one_each, "train.time_to_accuracy")->number;
  EXPECT_TRUE(single.ratio);
  EXPECT_FALSE(single.low || single.p);
  EXPECT_EQ(single.verdict, "cannot_tell");
}

// Repeats are few, so that what they show would be lost among the metrics of the hardware.
TEST(MetricsTest, training_and_hardware_are_adjusted_apart) {
  PlantedHome home;
  std::vector<std::string> a, b;
  for (const uint64_t i : {1, 2, 3}) {
    for (const bool is_b : {false, true}) {
      const std::string path = fmt::format("{}{}", is_b ? "b" : "a", i);
      (is_b ? b : a).push_back(path);
      FakeRun& run = home.add(path, {.seed = is_b ? 10 + i : i, .accuracy = is_b ? 0.9 : 0.95});
      for (int cpu = 0; cpu < 40; ++cpu) {
        const Labels labels = {{"device", fmt::format("sd{}", cpu)}};
        const double load = 0.5 + 0.001 * static_cast<double>(run.own_manifest().id.back() % 7);
        add_gauge(run, "system.disk.utilization", labels, "1", load, 0.001);
      }
    }
  }
  const auto comparison = home.compare(a, b);
  ASSERT_TRUE(comparison);
  const ComparedNumber& time = find_compared(*comparison, "train.time_to_accuracy")->number;
  ASSERT_TRUE(time.p && *time.p > 0);
  EXPECT_LE(*time.p_adjusted, 3 * *time.p);
  EXPECT_THAT(comparison->explanations[1].test, HasSubstr("adjusted for 41 metrics"));
}

TEST(MetricsTest, batches_of_another_size_are_part_of_the_answer) {
  PlantedHome home;
  home.add("a", {.seed = 1, .batch = 32});
  home.add("b", {.seed = 2, .step_s = 0.2, .batch = 64});
  home.add("same", {.seed = 3, .step_s = 0.2, .batch = 32});
  const auto comparison = home.compare({"a"}, {"b"}), same = home.compare({"a"}, {"same"});
  ASSERT_TRUE(comparison && same);
  EXPECT_THAT(comparison->speed.sentence, HasSubstr("as many steps per second, and 0.999×"));
  EXPECT_THAT(comparison->speed.sentence, HasSubstr("as many items (batches of 32 → 64), 100 ms"));
  EXPECT_THAT(same->speed.sentence, Not(HasSubstr("items")));
}

TEST(MetricsTest, cost_is_the_step_time_at_the_price_of_the_run) {
  PlantedHome home;
  home.add("a", {.seed = 1, .step_s = 0.36}).own_manifest().tags["price"] = "1 EUR/h";
  home.add("b", {.seed = 2, .step_s = 0.036}).own_manifest().tags["price"] = "4 EUR";
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison && comparison->cost);
  EXPECT_NEAR(*comparison->cost->a, 1e-4, 2e-6);
  EXPECT_NEAR(*comparison->cost->b, 4e-5, 1e-6);
  EXPECT_NEAR(*comparison->cost->ratio, 0.4, 0.01);
  EXPECT_LT(*comparison->cost->low, *comparison->cost->ratio);
  EXPECT_EQ(comparison->cost->verdict, "lower");
  EXPECT_LT(*comparison->cost->p, 0.001);
  EXPECT_EQ(comparison->currency, "EUR");
  EXPECT_EQ(quantity_text(0.25, find_compared(*comparison, "train.cost_per_step")->unit),
            "0.25 EUR");
  EXPECT_EQ(quantity_text(5.612e-6, "EUR/{step}"), "5.61e-06 EUR");
}

TEST(MetricsTest, without_both_prices_in_one_currency_there_is_no_cost) {
  for (const auto& [price, warning] : {std::pair("2 USD", "different currencies"),
                                       std::pair("cheap", "the price 'cheap' cannot be read"),
                                       std::pair("", "a run has no price")}) {
    PlantedHome home;
    home.add("a", {.seed = 1}).own_manifest().tags["price"] = "1 EUR";
    FakeRun& b = home.add("b", {.seed = 2});
    if (*price != 0) b.own_manifest().tags["price"] = price;
    const auto comparison = home.compare({"a"}, {"b"});
    ASSERT_TRUE(comparison);
    EXPECT_FALSE(comparison->cost);
    const auto& all = comparison->warnings;
    const auto found =
        std::find_if(all.begin(), all.end(), [](const auto& one) { return one.id == "price"; });
    ASSERT_NE(found, all.end()) << price;
    EXPECT_THAT(found->summary, HasSubstr(warning));
  }
}

// No run has a price that counts then, so nothing else would say why there is no cost.
TEST(MetricsTest, a_price_that_cannot_be_read_is_warned_of) {
  PlantedHome home;
  for (const char* path : {"a", "b"}) {
    home.add(path, {.seed = static_cast<uint64_t>(path[0])}).own_manifest().tags["price"] =
        "2,49 EUR";
  }
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_THAT(warning_ids(*comparison), HasSubstr("price "));
}

// The other repeats may have cost anything.
TEST(MetricsTest, cost_and_energy_need_all_repeats) {
  PlantedHome home;
  for (const char* path : {"a1", "a2", "b1", "b2"}) {
    const bool is_complete = std::string(path) != "a2";
    FakeRun& run = home.add(path, {.seed = static_cast<uint64_t>(path[0] + path[1]),
                                   .gpu_watts = is_complete ? 100.0 : 0.0});
    if (is_complete) run.own_manifest().tags["price"] = "1 EUR";
  }
  const auto comparison = home.compare({"a1", "a2"}, {"b1", "b2"});
  ASSERT_TRUE(comparison);
  EXPECT_FALSE(comparison->cost);
  EXPECT_FALSE(comparison->energy);
  EXPECT_THAT(warning_ids(*comparison), HasSubstr("price "));
}

// Of one metric nothing has to be adjusted but the certainty of a p-value from within runs.
TEST(MetricsTest, hardware_of_single_runs_is_judged_more_cautiously_than_that_of_repeats) {
  PlantedHome home;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const double cpu = seed % 2 == 1 ? 0.5 : 0.506;
    home.add(std::to_string(seed), {.seed = seed, .cpu = cpu + 0.001 * static_cast<double>(seed)});
  }
  const auto one_each = home.compare({"1"}, {"2"}), repeats = home.compare({"1", "3"}, {"2", "4"});
  ASSERT_TRUE(one_each && repeats);
  const ComparedNumber &single = find_compared(*one_each, "system.cpu.utilization")->number,
                       &several = find_compared(*repeats, "system.cpu.utilization")->number;
  EXPECT_GT(*single.p_adjusted, *single.p);
  EXPECT_EQ(*several.p_adjusted, *several.p);
}

// A difference of 3 % in items per second is one of the speed.
TEST(MetricsTest, throughput_has_the_bound_of_the_speed) {
  PlantedHome home;
  home.add("a", {.seed = 1, .noise = 0.005, .batch = 32});
  home.add("b", {.seed = 2, .step_s = 0.103, .noise = 0.005, .batch = 32});
  const auto comparison = home.compare({"a"}, {"b"});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(find_compared(*comparison, "train.step.duration")->number.verdict, "higher");
  EXPECT_EQ(find_compared(*comparison, "train.throughput")->number.verdict, "lower");
}

TEST(MetricsTest, the_same_behaviour_names_all_bounds) {
  EXPECT_THAT(compare_temperatures(5, 5.5).behaviour.sentence,
              HasSubstr("the same: each metric within 5 %, one percentage point, 1 °C or 100 "
                        "KiB/s of the other side's"));
}

TEST(MetricsTest, prices_are_numbers_per_hour) {
  EXPECT_DOUBLE_EQ(parse_price("2.49")->per_h, 2.49);
  EXPECT_EQ(parse_price("2.49 €/h")->currency, "€");
  EXPECT_EQ(parse_price(" 3 USD ")->currency, "USD");
  for (const char* text : {"", "EUR", "0", "-1 EUR", "inf", "nan", "1 EUR/day", "1 a b", "1 {x}"}) {
    EXPECT_FALSE(parse_price(text)) << text;
  }
}

}  // namespace metrics_test
}  // namespace trainscope
