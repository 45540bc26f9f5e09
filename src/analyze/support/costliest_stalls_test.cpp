#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace costliest_stalls_test {

// Steps of 0.1 s. Every twentieth takes longer, seven in all, each by 0.1 s more than the one
// before: the last one from 17.2 to 18.2 s.
std::vector<StoredReport> stalled() {
  std::vector<StoredReport> reports;
  double time_s = 0;
  for (int i = 1; time_s < kLengthS - 1; ++i) {
    time_s += 0.1 + (i % 20 == 0 && i <= 140 ? 0.2 + 0.005 * i : 0);
    reports.push_back({time_s, "output", *parse_report(fmt::format("step {}", i))});
  }
  return reports;
}

const Finding* costliest(const Diagnosis& diagnosis) {
  const auto found = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                  [](const Finding& f) { return f.id == "costliest_stalls"; });
  return found == diagnosis.findings.end() ? nullptr : &*found;
}

TEST(CostliestStalls, are_five_by_cost) {
  PlantedRun run;
  const Diagnosis d = run.cpu(0.9, 0.95).thread("main", 0.9, 0).report(stalled()).diagnose();
  const Finding* found = costliest(d);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, "info");
  ASSERT_EQ(found->evidence.size(), 5U);
  EXPECT_TRUE(found->evidence[0].starts_with("900 ms at ")) << found->evidence[0];
  EXPECT_TRUE(found->evidence[4].starts_with("500 ms at ")) << found->evidence[4];
  EXPECT_NE(found->summary.find("5 of 7"), std::string::npos) << found->summary;
  EXPECT_NEAR(*found->time_lost_s, 0.9 + 0.8 + 0.7 + 0.6 + 0.5, 0.05);
  EXPECT_NEAR(*found->max_speedup, 1 / (1 - 3.5 / 19), 0.02);
}

TEST(CostliestStalls, have_what_the_machine_did_meanwhile) {
  PlantedRun run;
  run.thread("main", 0.9, 0).report(stalled());
  // In the last and costliest one the job reads; before it computes.
  const auto in_last = [](int tenth) { return tenth >= 172 && tenth < 182; };
  const auto before = [](int tenth) { return tenth < 172; };
  run.bursts("job.cpu.time", {{"mode", "user"}}, 0.09, before);
  run.bursts("job.disk.io", {{"direction", "read"}}, 20e6, in_last);
  const Diagnosis d = run.diagnose();
  const Finding* found = costliest(d);
  ASSERT_NE(found, nullptr);
  const std::string& last = found->evidence.at(0);
  EXPECT_NE(last.find("CPU of the job 0 cores (0.8"), std::string::npos) << last;
  EXPECT_NE(last.find("reads from storage 191 MiB/s ("), std::string::npos) << last;
  EXPECT_EQ(found->evidence.at(1).find("reads from storage"), std::string::npos);
  EXPECT_EQ(last.find("writes"), std::string::npos) << "not recorded";
}

TEST(CostliestStalls, have_no_numbers_that_are_sampled_more_seldom_than_they_last) {
  const auto last_with = [](double period_s) {
    PlantedRun run;
    run.thread("main", 0.9, 0).report(stalled()).cpu(0.9, 0.95);
    run.bursts("job.disk.io", {{"direction", "read"}}, 20e6,
               [](int tenth) { return tenth >= 172 && tenth < 182; });
    const Diagnosis d = run.every(period_s).diagnose();
    const Finding* const found = costliest(d);
    return found == nullptr ? "" : found->evidence.at(0);
  };
  EXPECT_NE(last_with(0.1).find("reads from storage"), std::string::npos) << last_with(0.1);
  EXPECT_EQ(last_with(1).find("reads from storage"), std::string::npos) << last_with(1);
  EXPECT_NE(last_with(1).find("CPU of the job"), std::string::npos) << last_with(1);
}

TEST(CostliestStalls, a_steady_run_has_none) {
  PlantedRun run;
  EXPECT_EQ(costliest(run.cpu(0.9, 0.95).steps(0.3).diagnose()), nullptr);
}

}  // namespace costliest_stalls_test
}  // namespace trainscope
