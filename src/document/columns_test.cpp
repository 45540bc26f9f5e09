#include "document/columns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "base/json.h"
#include "testing/fake_run.h"

namespace trainscope {
namespace columns_test {

struct Decoded {
  Json header;
  std::vector<std::map<std::string, std::vector<double>>> columns;
};

Decoded decode(const std::string& bytes) {
  Decoded decoded;
  CHECK(bytes.size() >= 8 && bytes.substr(0, 4) == "TSC1");
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 4, sizeof(length));
  EXPECT_EQ((8 + length) % 8, 0U) << "numbers are aligned";
  decoded.header = parse_json(std::string_view(bytes).substr(8, length));
  size_t at = 8 + length;
  for (const Json& column : decoded.header["columns"]) {
    auto& arrays = decoded.columns.emplace_back();
    for (const Json& name : column["arrays"]) {
      std::vector<double> values(column["count"].get<size_t>());
      CHECK(at + values.size() * sizeof(double) <= bytes.size());
      std::memcpy(values.data(), bytes.data() + at, values.size() * sizeof(double));
      at += values.size() * sizeof(double);
      arrays[name.get<std::string>()] = values;
    }
  }
  EXPECT_EQ(at, bytes.size());
  return decoded;
}

constexpr double kPeriodS = 0.1;

// A gauge with single spikes and a counter with single jumps, over so many samples.
FakeRun spiky_run(size_t samples, double late_s = 0) {
  FakeRun run(kPeriodS, kPeriodS * static_cast<double>(samples));
  std::vector<double> times, gauge, counter;
  double total = 0;
  for (size_t i = 0; i < samples; ++i) {
    times.push_back(kPeriodS * static_cast<double>(i) + late_s);
    gauge.push_back(i % 997 == 500 ? 1000 + static_cast<double>(i)
                                   : std::sin(0.01 * static_cast<double>(i)));
    total += i % 1009 == 400 ? 50 : 0.1;
    counter.push_back(total);
  }
  run.add("gauge", {}, Kind::gauge, times, gauge);
  run.last_series().period_s = kPeriodS;
  run.add("counter", {{"device", "sda"}}, Kind::counter, times, counter);
  run.last_series().period_s = kPeriodS;
  run.last_series().unit = "By";
  return run;
}

Decoded query(const RunView& run, const ColumnsQuery& query) {
  Overviews overviews;
  const auto bytes = columns_document(run, query, overviews);
  CHECK(bytes);
  return decode(*bytes);
}

TEST(Columns, few_samples_are_given_as_they_are) {
  const FakeRun run = spiky_run(100);
  const Decoded found = query(run, {.series = {0, 1}, .from_s = 1, .to_s = 3, .points = 100});
  EXPECT_TRUE(found.header["window_s"].is_null());
  EXPECT_EQ(found.header["columns"][0]["reading"], "level");
  EXPECT_EQ(found.header["columns"][1]["reading"], "rate");
  EXPECT_EQ(found.header["columns"][1]["unit"], "By/s");
  EXPECT_EQ(found.header["columns"][1]["name"], "counter{device=sda}");
  const auto& times = found.columns[0].at("time");
  ASSERT_EQ(times.size(), 21U);
  EXPECT_DOUBLE_EQ(times.front(), 1.0);
  EXPECT_DOUBLE_EQ(found.columns[0].at("value")[3], std::sin(0.01 * 13));
  ASSERT_EQ(found.columns[1].at("time").size(), 20U) << "the middles of two samples each";
  EXPECT_NEAR(found.columns[1].at("time")[0], 1.05, 1e-9);
  EXPECT_NEAR(found.columns[1].at("value")[0], 1, 1e-9);
}

// Every value, and every rate between two, is between min and max of the window of its time.
void expect_spikes_within(const RunView& run, const Decoded& found) {
  const double window_s = found.header["window_s"].get<double>();
  for (const size_t series : {0U, 1U}) {
    const Points points = *run.points(series, {});
    std::map<int64_t, std::pair<double, double>> true_extremes;
    for (size_t i = 0; i < points.time_s.size(); ++i) {
      double time_s = points.time_s[i], value = points.value[i];
      if (series == 1) {
        if (i == 0) continue;
        const double since_s = time_s - points.time_s[i - 1];
        value = (value - points.value[i - 1]) / since_s;
        time_s -= since_s / 2;
      }
      const double from_s = found.header["from_s"].get<double>();
      if (time_s < from_s || time_s >= found.header["to_s"].get<double>()) continue;
      const auto window = static_cast<int64_t>(std::floor((time_s - from_s) / window_s + 1e-9));
      auto& [low, high] = true_extremes.try_emplace(window, value, value).first->second;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    const auto& column = found.columns[series];
    double highest = 0, true_highest = 0;
    for (const auto& [window, extremes] : true_extremes)
      true_highest = std::max(true_highest, extremes.second);
    ASSERT_FALSE(column.at("time").empty());
    for (size_t i = 0; i < column.at("time").size(); ++i) {
      EXPECT_LE(column.at("min")[i], column.at("mean")[i]);
      EXPECT_LE(column.at("mean")[i], column.at("max")[i]);
      highest = std::max(highest, column.at("max")[i]);
      const auto window = static_cast<int64_t>(
          std::floor((column.at("time")[i] - found.header["from_s"].get<double>()) / window_s));
      ASSERT_TRUE(true_extremes.contains(window)) << series << " " << window;
    }
    EXPECT_NEAR(highest, true_highest, 1e-6 * true_highest) << "series " << series;
    EXPECT_EQ(column.at("time").size(), true_extremes.size());
  }
}

TEST(Columns, many_samples_become_windows_that_keep_every_spike) {
  const FakeRun run = spiky_run(20'000);
  const Decoded found = query(run, {.series = {0, 1}, .points = 100});
  EXPECT_NEAR(found.header["window_s"].get<double>(), 20, 1e-9);
  EXPECT_EQ(found.columns[0].at("time").size(), 100U);
  expect_spikes_within(run, found);
  expect_spikes_within(
      run, query(run, {.series = {0, 1}, .from_s = 333.3, .to_s = 777.7, .points = 50}));
}

TEST(Columns, so_many_that_they_come_from_overviews_keep_every_spike) {
  const FakeRun run = spiky_run(700'000, 0.03);
  Overviews overviews;
  ColumnsQuery wide{.series = {0, 1}, .points = 500};
  const Decoded first = decode(*columns_document(run, wide, overviews));
  EXPECT_GE(first.header["window_s"].get<double>(), 140);
  expect_spikes_within(run, first);
  wide.from_s = 1234.5;
  wide.to_s = 65432.1;
  const Decoded later = decode(*columns_document(run, wide, overviews));
  EXPECT_LE(later.header["from_s"].get<double>(), 1234.5);
  EXPECT_GT(later.header["from_s"].get<double>(), 1234.5 - later.header["window_s"].get<double>());
  expect_spikes_within(run, later);
}

TEST(Columns, smoothing_is_computed_before_decimation) {
  FakeRun run(1, 20'000);
  std::vector<double> times, values;
  for (int i = 0; i < 20'000; ++i) {
    times.push_back(i);
    values.push_back(i % 2 == 0 ? 0 : 10);
  }
  run.add("gauge", {}, Kind::gauge, times, values);
  run.last_series().period_s = 1;
  const Decoded windows = query(run, {.series = {0}, .points = 100, .smooth_s = 1000});
  ASSERT_EQ(windows.columns[0].at("smooth").size(), 100U);
  for (const double smooth : windows.columns[0].at("smooth")) EXPECT_NEAR(smooth, 5, 0.1);
  EXPECT_EQ(windows.columns[0].at("max")[50], 10) << "what was measured stays visible";
  const Decoded samples =
      query(run, {.series = {0}, .from_s = 100, .to_s = 150, .points = 100, .smooth_s = 4});
  ASSERT_EQ(samples.columns[0].at("smooth").size(), 51U);
  EXPECT_DOUBLE_EQ(samples.columns[0].at("smooth")[0], 4) << "0 10 0 10 0, with those before it";
  EXPECT_DOUBLE_EQ(samples.columns[0].at("smooth")[1], 6);
}

// In the windows of what is shown, the width of the moving mean would be thousands of millions.
TEST(Columns, smoothing_much_wider_than_what_is_shown_takes_little_memory) {
  FakeRun run(0.1, 3600);
  FakeRun fast(0.001, 100);
  for (FakeRun* const each : {&run, &fast}) {
    const double period_s = each->sampling().period_s;
    std::vector<double> times, values;
    for (int i = 0; i * period_s < each->duration_s(); ++i) {
      times.push_back(period_s * i);
      values.push_back(i % 2 == 0 ? 0 : 10);
    }
    each->add("gauge", {}, Kind::gauge, times, values);
    each->last_series().period_s = period_s;
  }
  const Decoded samples = query(
      run, {.series = {0}, .from_s = 1799.95, .to_s = 1800.05, .points = 1000, .smooth_s = 600});
  EXPECT_TRUE(samples.header["window_s"].is_null());
  ASSERT_EQ(samples.columns[0].at("smooth").size(), 1U);
  EXPECT_NEAR(samples.columns[0].at("smooth")[0], 5, 0.01);
  query(run,
        {.series = {0}, .from_s = 1800, .to_s = 1800.0000001, .points = 1000, .smooth_s = 600});
  query(run, {.series = {0}, .from_s = 4000, .points = 1000, .smooth_s = 1e300});
  const Decoded windows =
      query(fast, {.series = {0}, .from_s = 50, .to_s = 50.3, .points = 100, .smooth_s = 99});
  EXPECT_NEAR(windows.header["window_s"].get<double>(), 0.003, 1e-9);
  ASSERT_EQ(windows.columns[0].at("smooth").size(), 100U);
  for (const double smooth : windows.columns[0].at("smooth")) EXPECT_NEAR(smooth, 5, 0.01);
}

// A counter that is read every second in a run with ten samples per second.
FakeRun slow_run(double duration_s) {
  FakeRun run(kPeriodS, duration_s);
  std::vector<double> times, counter;
  for (int i = 0; i <= duration_s; ++i) {
    times.push_back(i);
    counter.push_back(3.0 * i);
  }
  run.add("slow", {}, Kind::counter, times, counter);
  run.last_series().period_s = 1;
  return run;
}

TEST(Columns, rates_of_slow_sources_reach_the_edges) {
  const FakeRun run = slow_run(100);
  const Decoded samples = query(run, {.series = {0}, .from_s = 10.4, .to_s = 13.6, .points = 100});
  EXPECT_EQ(samples.columns[0].at("time"), (std::vector<double>{10.5, 11.5, 12.5, 13.5}));
  const Decoded windows = query(run, {.series = {0}, .from_s = 10.4, .to_s = 30.6, .points = 2});
  double count = 0;
  const TimeWindows both = {10.4, 10.1, 2};
  const auto folded = fold_series(run, {{0, Reading::rate}}, both);
  ASSERT_TRUE(folded);
  for (const FoldedWindow& window : (*folded)[0].windows) count += window.weight;
  EXPECT_DOUBLE_EQ(count, 21) << "seconds: the middles from 10.5 to 30.5";
  EXPECT_EQ(windows.columns[0].at("mean"), (std::vector<double>{3, 3}));
}

TEST(Columns, overviews_of_a_slow_source_that_grows_lose_no_interval) {
  FakeRun before = slow_run(3000.5);
  before.set_status(RunStatus::running);
  const FakeRun after = slow_run(3100);
  Overviews overviews;
  ASSERT_TRUE(overviews.of(before, {{0, Reading::rate}}));
  const auto continued = overviews.of(after, {{0, Reading::rate}});
  ASSERT_TRUE(continued);
  double weight = 0;
  for (const FoldedWindow& window : (*continued)[0]->windows) weight += window.weight;
  EXPECT_NEAR(weight, 3100, 1e-6) << "seconds of all intervals";
}

TEST(Columns, a_gap_has_no_window) {
  FakeRun run(0.1, 1000);
  std::vector<double> times, values;
  for (int i = 0; i < 10'000; ++i) {
    if (i >= 3000 && i < 6000) continue;
    times.push_back(0.1 * i);
    values.push_back(1);
  }
  run.add("gauge", {}, Kind::gauge, times, values);
  run.last_series().period_s = 0.1;
  const Decoded found = query(run, {.series = {0}, .points = 100});
  EXPECT_EQ(found.columns[0].at("time").size(), 70U);
}

// 2 samples a second that are 1, then 20 a second that are 3, then none.
FakeRun uneven_run() {
  FakeRun run(0.05, 1000);
  std::vector<double> times, gauge, counter;
  double total = 0;
  const auto add = [&](double time_s, double value) {
    total += times.empty() ? 0 : (time_s - times.back()) * value;
    times.push_back(time_s);
    gauge.push_back(value);
    counter.push_back(total);
  };
  for (int i = 0; i < 800; ++i) add(0.5 * i, 1);
  for (int i = 0; i < 4000; ++i) add(400 + 0.05 * i, 3);
  run.add("gauge", {}, Kind::gauge, times, gauge);
  run.last_series().period_s = 0.05;
  run.add("counter", {}, Kind::counter, times, counter);
  run.last_series().period_s = 0.05;
  return run;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEST(Columns, weights_give_the_mean_of_all_values_and_the_total_of_a_counter) {
  const FakeRun run = uneven_run();
  const double last = run.points(1, {})->value.back();
  for (const size_t points : {100U, 4000U}) {
    ColumnsQuery wanted{.series = {0, 1}, .points = points, .has_weights = true};
    if (points == 4000) wanted.to_s = 380;  // few enough to be given as they are
    const Decoded found = query(run, wanted);
    const auto &gauge = found.columns[0], &counter = found.columns[1];
    if (found.header["window_s"].is_null()) {
      EXPECT_EQ(gauge.at("weight"), std::vector<double>(gauge.at("time").size(), 1));
      EXPECT_NEAR(dot(counter.at("value"), counter.at("weight")), 380, 0.5);
      continue;
    }
    const auto& weights = gauge.at("weight");
    EXPECT_EQ(std::accumulate(weights.begin(), weights.end(), 0.0), 4800);
    EXPECT_NEAR(dot(gauge.at("mean"), weights) / 4800, (800 * 1 + 4000 * 3) / 4800.0, 1e-9);
    EXPECT_NEAR(dot(counter.at("mean"), counter.at("weight")), last, 1e-6 * last);
  }
  EXPECT_FALSE(query(run, {.series = {0}, .points = 100}).columns[0].contains("weight"));
}

TEST(Columns, wrong_queries_are_errors) {
  const FakeRun run = spiky_run(100);
  for (const ColumnsQuery& wrong :
       {ColumnsQuery{}, ColumnsQuery{.series = {2}},
        ColumnsQuery{.series = std::vector<size_t>(65)}, ColumnsQuery{.series = {0}, .points = 1},
        ColumnsQuery{.series = {0}, .points = 4001},
        ColumnsQuery{.series = {0}, .from_s = 2, .to_s = 1},
        ColumnsQuery{.series = {0}, .smooth_s = -1}}) {
    EXPECT_FALSE(check_columns_query(run, wrong));
  }
}

TEST(Columns, nothing_after_the_end_is_an_empty_answer) {
  const FakeRun run = spiky_run(100);
  const Decoded found = query(run, {.series = {0}, .from_s = 50, .points = 10});
  EXPECT_EQ(found.columns[0].at("time").size(), 0U);
}

TEST(Columns, overviews_of_a_run_that_grows_continue) {
  constexpr double kLateS = 0.03;  // no sample is at the edge of a window
  FakeRun before = spiky_run(100'000, kLateS);
  before.set_status(RunStatus::running);
  const FakeRun after = spiky_run(900'000, kLateS);
  Overviews overviews, fresh;
  const std::vector<WindowQuery> queries = {{0, Reading::level}, {1, Reading::rate}};
  ASSERT_TRUE(overviews.of(before, queries));
  const auto continued = overviews.of(after, queries), once = fresh.of(after, queries);
  ASSERT_TRUE(continued && once);
  for (size_t i = 0; i < queries.size(); ++i) {
    const FoldedSeries &a = *(*continued)[i], &b = *(*once)[i];
    ASSERT_EQ(a.windows.size(), b.windows.size());
    EXPECT_EQ(a.window_s, b.window_s);
    for (size_t w = 0; w < a.windows.size(); ++w) {
      EXPECT_NEAR(a.windows[w].weight, b.windows[w].weight, 1e-6) << i << " " << w;
      EXPECT_NEAR(a.windows[w].max, b.windows[w].max, 1e-6 * std::abs(b.windows[w].max))
          << i << " " << w;
    }
  }
}

TEST(Columns, the_steps_of_a_run_are_thinned) {
  FakeRun run(1, 1000);
  Training training;
  std::vector<Step> steps;
  for (int i = 1; i <= 1000; ++i) {
    Step step;
    step.step = i;
    step.time_s = 0.5 * i;
    steps.push_back(step);
  }
  training.observed = 1000;
  training.details = std::make_shared<ListedSteps>(steps);
  run.set_training(training);
  const Decoded found = decode(*steps_columns(run, 100));
  const auto &times = found.columns[0].at("time"), &numbers = found.columns[0].at("value");
  ASSERT_LE(times.size(), 100U);
  ASSERT_GE(times.size(), 50U);
  for (size_t i = 0; i < times.size(); ++i) EXPECT_DOUBLE_EQ(times[i], numbers[i] / 2);
  EXPECT_EQ(numbers.back(), 1000);
}

}  // namespace columns_test
}  // namespace trainscope
