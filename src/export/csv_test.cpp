#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "export/export.h"
#include "export/support/selection.h"
#include "testing/fake_run.h"

namespace trainscope {

namespace csv_exporter {
extern const Exporter entry;
}
namespace jsonl_exporter {
extern const Exporter entry;
}

namespace csv_test {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

FakeRun two_streams() {
  FakeRun run(0.1, 1.25);
  std::vector<double> times, counts;
  for (int i = 0; i <= 12; ++i) {
    if (i >= 3 && i <= 6) continue;  // the fast stream has a gap
    times.push_back(i * 0.1 + 0.000001);
    counts.push_back(i);
  }
  run.add("fast", {{"a", "x,y"}}, Kind::counter, times, counts);
  std::vector<double> gauge(times.size(), 2);
  gauge[1] = kNone;
  gauge[2] = 0.1 + 0.2;
  run.add("level", {}, Kind::gauge, times, gauge);
  run.add("slow", {}, Kind::gauge, {0.00005, 0.5, 1.00005}, {10, 20, 30});
  run.add_absent("gone");
  return run;
}

std::string write(const Exporter& exporter, const RunView& run, const ExportOptions& options) {
  std::string out;
  const Status done = exporter.write(run, options, [&](std::string_view text) -> Status {
    out += text;
    return {};
  });
  if (!done) return "error: " + done.error().message();
  std::string lines;
  for (const char c : out) {
    if (c != '\r') lines += c;
  }
  return lines;
}

TEST(csv, long_form_is_in_order_of_time_with_exact_values) {
  ExportOptions options;
  options.range = {0.0, 0.25};
  EXPECT_EQ(write(csv_exporter::entry, two_streams(), options),
            "time_s,metric,labels,value\n"
            "0.000001,fast,\"a=x,y\",0\n"
            "0.000001,level,,2\n"
            "0.000050,slow,,10\n"
            "0.100001,fast,\"a=x,y\",1\n"
            "0.200001,fast,\"a=x,y\",2\n"
            "0.200001,level,,0.30000000000000004\n");
}

TEST(csv, integers_and_others_are_written_as_short_as_they_can_be) {
  FakeRun run(1, 9);
  run.add("a", {}, Kind::gauge, {0, 1, 2, 3, 4, 5, 6, 7, 8},
          {0, -0.0, 1, -7, 999'999'999'999'999, 1e15, 1e16, 0.5, 1e300});
  EXPECT_EQ(write(csv_exporter::entry, run, {}),
            "time_s,metric,labels,value\n"
            "0.000000,a,,0\n"
            "1.000000,a,,-0\n"
            "2.000000,a,,1\n"
            "3.000000,a,,-7\n"
            "4.000000,a,,999999999999999\n"
            "5.000000,a,,1000000000000000\n"
            "6.000000,a,,1e+16\n"
            "7.000000,a,,0.5\n"
            "8.000000,a,,1e+300\n");
}

// Times that do not increase: no sample is lost.
TEST(csv, samples_of_the_same_time_are_all_written) {
  FakeRun run(1, 4);
  run.add("a", {}, Kind::gauge, {1, 1, 2}, {1, 2, 3});
  run.add("b", {}, Kind::gauge, {0, 1}, {4, 5});
  EXPECT_EQ(write(csv_exporter::entry, run, {}),
            "time_s,metric,labels,value\n"
            "0.000000,b,,4\n"
            "1.000000,a,,1\n"
            "1.000000,a,,2\n"
            "1.000000,b,,5\n"
            "2.000000,a,,3\n");
}

TEST(csv, lines_end_as_rfc_4180_says) {
  std::string out;
  const FakeRun run = two_streams();
  ASSERT_TRUE(csv_exporter::entry.write(run, {}, [&](std::string_view text) -> Status {
    out += text;
    return {};
  }));
  EXPECT_TRUE(out.starts_with("time_s,metric,labels,value\r\n"));
  EXPECT_TRUE(out.ends_with("\r\n"));
}

TEST(csv, wide_form_keeps_samples_of_one_series_with_the_same_time) {
  FakeRun run(0.1, 1);
  run.add("step", {}, Kind::counter, {0.2, 0.2, 0.2}, {1, 2, 3});
  run.add("loss", {}, Kind::gauge, {0.2, 0.2, 0.2}, {9, 8, 7});
  ExportOptions options;
  options.wide = true;
  EXPECT_EQ(write(csv_exporter::entry, run, options),
            "time_s,step,loss\n"
            "0.200000,1,9\n"
            "0.200000,2,8\n"
            "0.200000,3,7\n");
}

TEST(csv, wide_form_puts_slow_values_beside_their_tick_and_invents_none) {
  ExportOptions options;
  options.wide = true;
  EXPECT_EQ(write(csv_exporter::entry, two_streams(), options),
            "time_s,\"fast{a=x,y}\",level,slow\n"
            "0.000001,0,2,10\n"
            "0.100001,1,,\n"
            "0.200001,2,0.30000000000000004,\n"
            "0.500000,,,20\n"  // in the gap of the fast stream: its own row
            "0.700001,7,2,\n"
            "0.800001,8,2,\n"
            "0.900001,9,2,\n"
            "1.000001,10,2,30\n"
            "1.100001,11,2,\n"
            "1.200001,12,2,\n");
}

TEST(csv, resampling_takes_means_of_gauges_and_the_last_of_counters) {
  ExportOptions options;
  options.every_ns = 500'000'000;
  options.metrics = {"fast", "slow"};
  EXPECT_EQ(write(csv_exporter::entry, two_streams(), options),
            "time_s,metric,labels,value\n"
            "0.000000,fast,\"a=x,y\",2\n"
            "0.000000,slow,,10\n"
            "0.500000,fast,\"a=x,y\",9\n"
            "0.500000,slow,,20\n"
            "1.000000,fast,\"a=x,y\",12\n"
            "1.000000,slow,,30\n");
  options.wide = true;
  options.metrics = {"level"};
  EXPECT_EQ(write(csv_exporter::entry, two_streams(), options),
            "time_s,level\n0.000000,1.15\n0.500000,2\n1.000000,2\n");
}

TEST(csv, metrics_by_name_and_pattern) {
  ExportOptions options;
  options.range = {0.0, 0.05};
  options.metrics = {"s*", "level"};
  EXPECT_EQ(write(csv_exporter::entry, two_streams(), options),
            "time_s,metric,labels,value\n0.000001,level,,2\n0.000050,slow,,10\n");
  options.metrics = {"gone"};  // known but absent: nothing, and no error
  EXPECT_EQ(write(csv_exporter::entry, two_streams(), options), "time_s,metric,labels,value\n");
  options.metrics = {"levle"};
  const std::string error = write(csv_exporter::entry, two_streams(), options);
  EXPECT_NE(error.find("no metric 'levle'"), std::string::npos);
  EXPECT_NE(error.find("level"), std::string::npos);
  options.metrics = {"gona"};  // a hint names metrics that this run has
  EXPECT_EQ(write(csv_exporter::entry, two_streams(), options).find("gone"), std::string::npos);
}

// So long that it takes several windows: nothing is lost or doubled between them.
TEST(csv, windows_leave_nothing_out) {
  FakeRun run(0.01, 2000);
  std::vector<double> times, values;
  for (int i = 0; i <= 200'000; ++i) {
    times.push_back(i * 0.01);
    values.push_back(i);
  }
  run.add("a", {}, Kind::counter, times, values);
  size_t lines = 0;
  ASSERT_TRUE(csv_exporter::entry.write(run, {}, [&](std::string_view text) -> Status {
    for (const char c : text) lines += c == '\n' ? 1 : 0;
    return {};
  }));
  EXPECT_EQ(lines, 200'002U);
}

// A bucket that begins where a window does, of samples that are in it by less than rounding.
TEST(csv, windows_do_not_cut_a_bucket) {
  FakeRun run(0.01, 2000);
  std::vector<double> times, values;
  for (int i = 0; i < 200'000; ++i) {
    times.push_back(i * 0.01);
    values.push_back(i / 3);
  }
  run.add("a", {}, Kind::gauge, times, values);
  ExportOptions options;
  options.every_ns = 30'000'000;
  const std::string text = write(csv_exporter::entry, run, options);
  EXPECT_NE(text.find("\n1966.050000,a,,65535\n"), std::string::npos);
  EXPECT_EQ(text.find("\n1966.050000,"), text.rfind("\n1966.050000,"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 66'667);
}

TEST(csv, a_damaged_duration_does_not_mean_millions_of_windows) {
  FakeRun run(0.001, 9e9);
  run.add("a", {}, Kind::gauge, {0, 0.001, 4e9}, {1, 2, 3});
  size_t windows = 0, samples = 0;
  ASSERT_TRUE(for_each_window(run, {0}, {}, [&](const Window& window) -> Status {
    samples += window.series[0].value.size();
    return ++windows > 1'000'000 ? Status(Error("too many")) : Status();
  }));
  EXPECT_EQ(samples, 3U);
}

TEST(csv, an_error_of_the_sink_ends_it) {
  const FakeRun run = two_streams();
  const Status done = csv_exporter::entry.write(
      run, {}, [](std::string_view) -> Status { return Error("the disk is full"); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "the disk is full");
}

TEST(jsonl, a_header_and_one_object_a_sample) {
  ExportOptions options;
  options.range = {0.0, 0.05};
  options.metrics = {"fast", "slow"};
  const std::string text = write(jsonl_exporter::entry, two_streams(), options);
  EXPECT_NE(text.find("\"schema\":\"trainscope.export/1\""), std::string::npos);
  EXPECT_NE(text.find("\n{\"time_s\":0.000001,\"metric\":\"fast\",\"labels\":{\"a\":\"x,y\"},"
                      "\"value\":0}\n{\"time_s\":0.000050,\"metric\":\"slow\",\"labels\":{},"
                      "\"value\":10}\n"),
            std::string::npos)
      << text;
}

}  // namespace csv_test
}  // namespace trainscope
