#include "analyze/support/breakdown.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace breakdown_test {

std::map<std::string, double> shares(const Diagnosis& diagnosis) {
  const std::set<std::string> known = {"input wait",    "host work",  "device compute", "transfer",
                                       "communication", "checkpoint", "evaluation",     "start-up",
                                       "idle",          "unexplained"};
  std::map<std::string, double> all;
  double sum = 0;
  for (const BreakdownPart& part : diagnosis.breakdown) {
    EXPECT_TRUE(known.contains(part.part)) << part.part;
    all[part.part] = part.share;
    sum += part.share;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  return all;
}

TEST(Breakdown, what_the_job_reports_comes_first) {
  auto parts = shares(PlantedRun().cpu(0.3, 0.3).thread("main", 0.28, 0).steps(0.7).diagnose());
  EXPECT_NEAR(parts["input wait"], 0.7, 0.01);
  EXPECT_NEAR(parts["host work"], 0.28, 0.01);
  EXPECT_NEAR(parts["unexplained"], 0.02, 0.02);
}

TEST(Breakdown, an_unmodified_job_is_divided_by_its_threads_and_its_gpu) {
  auto one = shares(PlantedRun().cpu(0.9, 0.9).thread("main", 0.8, 0.1).diagnose());
  EXPECT_NEAR(one["host work"], 0.9, 0.01) << "running, or waiting for a core";
  PlantedRun run;
  run.cpu(1, 1.05).thread("main", 0.97, 0).level("job.gpu.memory.usage", {}, 1e9);
  run.level("hw.gpu.utilization", {{"gpu", "0"}}, 0.4);
  auto gpu = shares(run.diagnose());
  EXPECT_NEAR(gpu["device compute"], 0.4, 0.01);
  EXPECT_NEAR(gpu["host work"], 0.6, 0.01);
  PlantedRun launches;
  launches.cpu(1, 1.05).thread("main", 0.4, 0).thread("busiest", 0.55, 0);
  launches.level("job.gpu.memory.usage", {}, 1e9).level("hw.gpu.utilization", {{"gpu", "0"}}, 0.2);
  EXPECT_NEAR(shares(launches.diagnose())["host work"], 0.8, 0.01) << "two threads in turn";
}

TEST(Breakdown, the_verdict_says_what_a_blocked_thread_waited_for) {
  auto idle = shares(PlantedRun().cpu(0.001, 0.02).thread("main", 0.001, 0).diagnose());
  EXPECT_GT(idle["idle"], 0.99);
  PlantedRun workers;
  workers.cpu(1.2, 1.25).thread("main", 0.2, 0).thread("worker0", 0.97, 0.01);
  EXPECT_NEAR(shares(workers.diagnose())["input wait"], 0.8, 0.01);
  auto unknown = shares(PlantedRun().cpu(0.5, 0.55).thread("main", 0.5, 0).diagnose());
  EXPECT_NEAR(unknown["unexplained"], 0.5, 0.01);
  EXPECT_EQ(shares(PlantedRun().diagnose())["unexplained"], 1);
}

// Opening files, and making what is saved, keeps the thread busy.
TEST(Breakdown, what_the_verdict_is_about_is_its_part_also_where_the_thread_runs) {
  PlantedRun small;
  small.cpu(0.47, 1).rate("job.cpu.time", {{"mode", "system"}}, 0.5).thread("main", 0.97, 0);
  small.rate("job.io.calls", {{"direction", "read"}}, 40e3);
  small.rate("job.io.bytes", {{"direction", "read"}}, 60e6);
  const Diagnosis files = small.diagnose();
  ASSERT_EQ(files.cause, "small_files");
  auto parts = shares(files);
  EXPECT_NEAR(parts["input wait"], 0.5, 0.01);
  EXPECT_NEAR(parts["host work"], 0.5, 0.04);
  PlantedRun saving;
  std::vector<StoredReport> steps;
  for (int i = 0; i < 100; ++i) {  // one of ten takes 1.1 s
    const double end_s = 2.0 * (i / 10) + 0.1 * (i % 10 + 1) + (i % 10 == 9 ? 1 : 0);
    steps.push_back({end_s, "pipe", *parse_report(fmt::format("step {}", i))});
  }
  const auto is_save = [](int tenth) { return tenth % 20 >= 10; };
  saving.bursts("job.io.bytes", {{"direction", "write"}}, 20e6, is_save);
  saving.bursts("job.disk.io", {{"direction", "write"}}, 20e6, is_save);
  const Diagnosis saves = saving.cpu(0.97, 1).thread("main", 0.97, 0).report(steps).diagnose();
  ASSERT_EQ(saves.verdict, "checkpoint_bound");
  parts = shares(saves);
  EXPECT_NEAR(parts["checkpoint"], 0.5, 0.03);
  EXPECT_NEAR(parts["host work"], 0.5, 0.03);
}

TEST(Breakdown, checkpoints_that_are_reported_count_once) {
  std::vector<StoredReport> reports;
  for (int i = 1; i < 100; ++i) {
    const double end_s = i * 0.2;
    reports.push_back({end_s - 0.1, "pipe", *parse_report("phase checkpoint 0.1")});
    reports.push_back({end_s, "pipe", *parse_report("phase forward 0.1")});
    reports.push_back({end_s, "pipe", *parse_report(fmt::format("step {}", i))});
  }
  auto parts = shares(PlantedRun().cpu(0.3, 0.3).thread("main", 0.3, 0).report(reports).diagnose());
  EXPECT_NEAR(parts["checkpoint"], 0.5, 0.02);
  EXPECT_NEAR(parts["host work"], 0.3, 0.02);
  EXPECT_NEAR(parts["unexplained"], 0.2, 0.03);
}

}  // namespace breakdown_test
}  // namespace trainscope
