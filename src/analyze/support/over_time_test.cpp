#include "analyze/support/over_time.h"

#include <gtest/gtest.h>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace over_time_test {

std::string spans_text(const Diagnosis& diagnosis) {
  std::string text;
  for (const Diagnosis::Span& span : diagnosis.over_time) {
    text += fmt::format("{:.0f}-{:.0f} {} ", span.from_s, span.to_s, span.verdict);
  }
  return text;
}

// Reads from storage until `warm_s`, then computes.
PlantedRun warming_up(double warm_s) {
  PlantedRun run;
  run.changing("job.cpu.time", {{"mode", "user"}}, warm_s, 0.2, 0.97);
  run.changing("system.cpu.time", {{"cpu", "all"}, {"state", "user"}}, warm_s, 0.25, 1);
  const auto main = [&](const char* state, double before, double after) {
    run.changing("job.thread.time", {{"role", "main"}, {"state", state}}, warm_s, before, after);
  };
  main("running", 0.2, 0.97);
  main("runnable", 0, 0.01);
  main("blocked", 0.8, 0.02);
  run.changing("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, warm_s, 0.75, 0);
  run.changing("job.disk.io", {{"direction", "read"}}, warm_s, 200e6, 0);
  return run;
}

TEST(OverTime, a_cache_that_warms_up_is_seen) {
  const Diagnosis d = warming_up(8).diagnose();
  EXPECT_EQ(spans_text(d), "0-8 input_bound 8-20 cpu_bound ");
  EXPECT_GT(d.over_time.at(0).confidence, 0.5);
  size_t found = 0;
  for (const Finding& finding : d.findings) {
    EXPECT_EQ(finding.is_of_part, finding.id == "cpu") << finding.id;
    if (finding.id != "input_storage") continue;
    ++found;
    EXPECT_NEAR(*finding.from_s, 0, 0.01);
    EXPECT_NEAR(*finding.to_s, 8, 0.01);
    EXPECT_NEAR(*finding.time_lost_s, 0.75 * 8, 0.2) << "of these eight seconds only";
    EXPECT_NEAR(*finding.max_speedup, 20 / (20 - 0.75 * 8), 0.05);
  }
  EXPECT_EQ(found, 1U);
}

TEST(OverTime, reads_that_come_from_memory_later_make_a_cold_cache) {
  const auto reading = [](double later) {
    PlantedRun run;
    run.cpu(0.2, 0.25).thread("main", 0.2, 0).rate("job.io.bytes", {{"direction", "read"}}, 100e6);
    run.rate("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, 0.7);
    run.changing("job.disk.io", {{"direction", "read"}}, 12, 100e6, later);
    return run.diagnose();
  };
  EXPECT_EQ(reading(1e6).verdict, "input_bound");
  EXPECT_EQ(reading(1e6).cause, "cold_cache");
  EXPECT_EQ(reading(50e6).cause, "storage");
}

TEST(OverTime, a_short_disturbance_makes_no_span) {
  EXPECT_EQ(spans_text(warming_up(2).diagnose()), "0-20 cpu_bound ");
  EXPECT_EQ(spans_text(warming_up(20).diagnose()), "0-20 input_bound ");
}

TEST(OverTime, what_alternates_does_not_flicker) {
  PlantedRun run;
  run.cpu(0.9, 0.95);
  const auto is_even = [](int tenth) { return tenth / 20 % 2 == 0; };
  const auto is_odd = [](int tenth) { return tenth / 20 % 2 == 1; };
  run.bursts("job.thread.time", {{"role", "main"}, {"state", "running"}}, 0.1, is_even);
  run.bursts("job.thread.time", {{"role", "main"}, {"state", "blocked"}}, 0.1, is_odd);
  run.bursts("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, 0.1, is_odd);
  run.rate("job.disk.io", {{"direction", "read"}}, 200e6);
  EXPECT_EQ(run.diagnose().over_time.size(), 1U) << spans_text(run.diagnose());
}

TEST(OverTime, reported_waits_are_seen_where_they_were) {
  std::vector<StoredReport> reports;
  for (int i = 1; i < 200; ++i) {
    const double end_s = i * 0.1, wait_s = end_s > 12 ? 0.085 : 0.001;
    reports.push_back(
        {end_s - 0.1 + wait_s, "pipe", *parse_report(fmt::format("phase input {}", wait_s))});
    reports.push_back({end_s, "pipe", *parse_report(fmt::format("step {}", i))});
  }
  PlantedRun run;
  run.changing("job.cpu.time", {{"mode", "user"}}, 12, 0.97, 0.15);
  run.changing("job.thread.time", {{"role", "main"}, {"state", "running"}}, 12, 0.97, 0.15);
  run.changing("job.thread.time", {{"role", "main"}, {"state", "blocked"}}, 12, 0.03, 0.85);
  const Diagnosis d = run.report(reports).diagnose();
  ASSERT_EQ(d.over_time.size(), 2U) << spans_text(d);
  EXPECT_EQ(d.over_time[0].verdict, "cpu_bound");
  EXPECT_NEAR(d.over_time[0].to_s, 12, 1.1);
  EXPECT_EQ(d.over_time[1].verdict, "input_bound");
}

TEST(OverTime, a_steady_run_is_one_span_with_its_verdict) {
  const Diagnosis d = PlantedRun().cpu(0.96, 0.98).thread("main", 0.94, 0.01).diagnose();
  ASSERT_EQ(d.over_time.size(), 1U);
  EXPECT_EQ(d.over_time[0].verdict, d.verdict);
  EXPECT_EQ(d.over_time[0].confidence, d.confidence);
}

}  // namespace over_time_test
}  // namespace trainscope
