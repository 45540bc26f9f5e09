#include "export/support/series_filter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "testing/fake_run.h"

namespace trainscope {

namespace csv_exporter {
extern const Exporter entry;
}
namespace jsonl_exporter {
extern const Exporter entry;
}

namespace series_filter_test {

Series counter_of(double period_s) {
  Series series;
  series.metric = "bytes";
  series.unit = "By";
  series.kind = Kind::counter;
  series.period_s = period_s;
  return series;
}

ExportOptions rates(int64_t every_ns = 0) {
  ExportOptions options;
  options.rates = true;
  options.every_ns = every_ns;
  return options;
}

// "1=10 2=20": times and rates.
std::string text_of(const Values& values) {
  std::string text;
  for (size_t i = 0; i < values.time_s.size(); ++i) {
    text +=
        (i == 0 ? "" : " ") + number_text(values.time_s[i]) + "=" + number_text(values.value[i]);
  }
  return text;
}

std::string rates_of(const Values& samples, double period_s = 1) {
  SeriesFilter filter(counter_of(period_s), rates());
  return text_of(filter.add(samples));
}

TEST(rates, the_first_sample_has_none) {
  EXPECT_EQ(rates_of({{0}, {100}}), "");
  EXPECT_EQ(rates_of({{0, 1, 3}, {100, 110, 150}}), "1=10 3=20");
  EXPECT_EQ(rates_of({{0, 1}, {5, 5}}), "1=0") << "nothing happened, which is known";
}

TEST(rates, a_gap_has_none) {
  // Two missed samples are no gap: the rate is that of the longer time.
  EXPECT_EQ(rates_of({{0, 3, 4}, {0, 30, 50}}), "3=10 4=20");
  EXPECT_EQ(rates_of({{0, 4, 5}, {0, 40, 60}}), "5=20");
  // Late by almost half a period, and early by it.
  EXPECT_EQ(rates_of({{0, 3.4}, {0, 34}}), "3.4=10");
  EXPECT_EQ(rates_of({{0.4, 4}, {0, 36}}), "");
  EXPECT_EQ(rates_of({{0, 100}, {0, 1000}}, 0), "100=10") << "no pace, no gap";
}

TEST(rates, a_counter_that_went_back_has_none_there) {
  EXPECT_EQ(rates_of({{0, 1, 2, 3}, {100, 110, 4, 10}}), "1=10 3=6");
}

TEST(rates, of_samples_with_the_same_time_the_last_counts) {
  EXPECT_EQ(rates_of({{0, 1, 1, 1, 2}, {0, 1, 2, 3, 5}}, 0), "1=3 2=2");
}

TEST(rates, continue_from_one_part_to_the_next) {
  SeriesFilter filter(counter_of(1), rates());
  EXPECT_EQ(text_of(filter.add({{0, 1}, {0, 10}})), "1=10");
  EXPECT_EQ(text_of(filter.add({{2}, {40}})), "2=30");
}

TEST(rates, of_a_bucket_are_its_increase_over_its_time) {
  SeriesFilter filter(counter_of(1), rates(4'000'000'000));
  // [0, 4): 30 in 3 s. [4, 8): 1 in 2 s: it went back at 6. [8, 12): nothing is known after a gap.
  Values out = filter.add({{0, 1, 2, 3, 4, 5, 6, 10, 13}, {0, 10, 20, 30, 30, 31, 2, 50, 80}});
  filter.finish_bucket(out);
  EXPECT_EQ(text_of(out), "0=10 4=0.5 12=10");
}

TEST(rates, add_up_to_the_increase_of_the_counter) {
  // A period that microseconds do not divide, and ticks that are late.
  Values samples;
  for (int i = 0; i < 1000; ++i) samples.add(i / 3.0 + (i % 7) * 0.001, i * i);
  SeriesFilter filter(counter_of(1 / 3.0), rates());
  const Values out = filter.add(samples);
  ASSERT_EQ(out.value.size(), 999U);
  double sum = 0, before_s = 0;
  for (size_t i = 0; i < out.value.size(); ++i) {
    const double time_s = std::round(out.time_s[i] * 1e6) / 1e6;  // as it is written
    const double increase = out.value[i] * (time_s - before_s);
    EXPECT_NEAR(increase, samples.value[i + 1] - samples.value[i], 1e-9 * (1 + increase));
    sum += std::round(increase);
    before_s = time_s;
  }
  EXPECT_EQ(sum, 999 * 999);
}

TEST(rates, change_unit_and_kind_of_counters_only) {
  Series series = counter_of(1);
  EXPECT_EQ(exported_series(series, rates()).unit, "By/s");
  EXPECT_EQ(exported_series(series, rates()).kind, Kind::gauge);
  EXPECT_EQ(exported_series(series, {}).unit, "By");
  series.unit = "s";
  EXPECT_EQ(exported_series(series, rates()).unit, "1");
  series.derived = true;
  EXPECT_FALSE(becomes_rate(series, rates()));
  series = counter_of(1);
  series.kind = Kind::gauge;
  EXPECT_EQ(exported_series(series, rates()).unit, "By");
}

std::string exported(const Exporter& exporter, const RunView& run, const ExportOptions& options) {
  std::string out;
  EXPECT_TRUE(exporter.write(run, options, [&](std::string_view text) -> Status {
    for (const char c : text) out += c == '\r' ? "" : std::string(1, c);
    return {};
  }));
  return out;
}

FakeRun counter_and_gauge() {
  FakeRun run(1, 4);
  run.add("bytes", {}, Kind::counter, {0, 1, 2, 3}, {0, 10, 30, 5});
  run.last_series().unit = "By";
  run.add("level", {}, Kind::gauge, {0, 1, 2, 3}, {7, 8, 9, 10});
  return run;
}

TEST(rates, of_both_forms_of_csv) {
  ExportOptions options = rates();
  EXPECT_EQ(exported(csv_exporter::entry, counter_and_gauge(), options),
            "time_s,metric,labels,value\n"
            "0.000000,level,,7\n"
            "1.000000,bytes,,10\n"
            "1.000000,level,,8\n"
            "2.000000,bytes,,20\n"
            "2.000000,level,,9\n"
            "3.000000,level,,10\n");
  options.wide = true;
  EXPECT_EQ(exported(csv_exporter::entry, counter_and_gauge(), options),
            "time_s,bytes,level\n"
            "0.000000,,7\n"
            "1.000000,10,8\n"
            "2.000000,20,9\n"
            "3.000000,,10\n");
  options.every_ns = 2'000'000'000;
  EXPECT_EQ(exported(csv_exporter::entry, counter_and_gauge(), options),
            "time_s,bytes,level\n0.000000,10,7.5\n2.000000,20,9.5\n");
}

TEST(rates, are_named_in_the_header_of_json_lines) {
  ExportOptions options = rates();
  options.metrics = {"bytes"};
  const std::string text = exported(jsonl_exporter::entry, counter_and_gauge(), options);
  EXPECT_NE(text.find("\"unit\":\"By/s\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"rates\":true"), std::string::npos) << text;
  EXPECT_NE(text.find("{\"time_s\":1.000000,\"metric\":\"bytes\",\"labels\":{},\"value\":10}\n"),
            std::string::npos)
      << text;
}

}  // namespace series_filter_test
}  // namespace trainscope
