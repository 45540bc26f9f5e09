// Rules about a GPU, judged by runs in which something known happens.
#include <gtest/gtest.h>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace device_test {

// The main thread is busy, the GPU is not.
PlantedRun waiting_gpu(double cores) {
  PlantedRun run;
  run.cpu(cores, cores + 0.05).thread("main", 0.97, 0).level("job.gpu.memory.usage", {}, 1e9);
  run.level("hw.gpu.utilization", {{"gpu", "0"}}, 0.4);
  return run;
}

TEST(Device, a_main_thread_that_reads_prepares_data_and_one_that_does_not_launches) {
  PlantedRun reads = waiting_gpu(1);
  reads.rate("job.io.bytes", {{"direction", "read"}}, 9e6);
  const Diagnosis diagnosis = reads.diagnose();
  EXPECT_EQ(diagnosis.verdict, "input_bound");
  EXPECT_EQ(diagnosis.cause, "decoding");
  ASSERT_FALSE(diagnosis.alternatives.empty());
  EXPECT_EQ(diagnosis.alternatives.front().verdict, "launch_bound");
  PlantedRun launches = waiting_gpu(1);
  launches.rate("job.io.bytes", {{"direction", "read"}}, 1e4);
  EXPECT_EQ(launches.diagnose().verdict, "launch_bound");
}

TEST(Device, a_job_that_computes_on_many_cores_is_not_launch_bound) {
  EXPECT_NE(waiting_gpu(8).diagnose().verdict, "launch_bound");
}

TEST(Device, few_items_per_step_are_why_a_gpu_waits_for_launches) {
  const auto cause = [](int batch, double active = 0.1) {
    std::vector<StoredReport> reports = {
        {0.05, "pipe", *parse_report(fmt::format("batch {}", batch))}};
    for (int i = 1; i < 200; ++i) {
      reports.push_back({i * 0.1, "pipe", *parse_report(fmt::format("step {}", i))});
    }
    PlantedRun run = waiting_gpu(1);
    run.level("hw.gpu.sm_active", {{"gpu", "0"}}, active);
    return run.report(std::move(reports)).diagnose().cause;
  };
  EXPECT_EQ(cause(4), "small_batch");
  EXPECT_EQ(cause(4, 0.32), "host_code") << "few large items fill the multiprocessors";
  EXPECT_EQ(cause(256), "host_code");
}

TEST(Device, a_busy_gpu_of_somebody_else_does_not_count) {
  PlantedRun run;
  run.cpu(0.05, 1.0).thread("main", 0.97, 0);
  run.level("job.gpu.memory.usage", {{"gpu", "3"}}, 1e9);
  run.level("hw.gpu.utilization", {{"gpu", "3"}}, 0.2);
  run.level("hw.gpu.utilization", {{"gpu", "0"}}, 1.0);
  EXPECT_EQ(run.diagnose().verdict, "launch_bound");
}

TEST(Device, where_the_owner_of_memory_is_unknown_a_working_gpu_is_the_jobs) {
  PlantedRun run;
  run.cpu(1, 1.05).thread("main", 0.99, 0).level("hw.gpu.utilization", {{"gpu", "0"}}, 0.99);
  EXPECT_EQ(run.diagnose().verdict, "gpu_bound");
}

TEST(Device, the_evidence_of_a_busy_gpu_has_its_utilization_once) {
  std::vector<StoredReport> reports;
  for (int i = 1; i < 200; ++i) {
    reports.push_back({i * 0.1, "pipe", *parse_report(fmt::format("step {} dry=0", i))});
  }
  PlantedRun run;
  run.cpu(1, 1.05).thread("main", 0.99, 0).level("job.gpu.memory.usage", {}, 1e9);
  run.level("hw.gpu.utilization", {{"gpu", "0"}}, 0.97).report(std::move(reports));
  const Diagnosis diagnosis = run.diagnose();
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings[0].id, "gpu");
  int lines = 0;
  for (const std::string& line : diagnosis.findings[0].evidence) {
    lines += line.starts_with("GPU utilization") ? 1 : 0;
  }
  EXPECT_EQ(lines, 1);
}

TEST(Device, a_worker_whose_past_came_in_one_row_is_not_busier_than_one_core) {
  PlantedRun run;
  run.cpu(0.6, 0.65).thread("main", 0.1, 0);
  run.rate("job.thread.time", {{"role", "worker0"}, {"state", "running"}}, 0.9);
  run.rate("job.thread.time", {{"role", "worker0"}, {"state", "blocked"}}, 1.1);
  size_t found = 0;
  for (const auto& judged : run.diagnose().judged) {
    for (const Diagnosis::Seen& seen : judged.seen) {
      if (seen.what != "busiest worker running" || !seen.value) continue;
      EXPECT_NEAR(*seen.value, 0.45, 1e-6);
      ++found;
    }
  }
  EXPECT_GT(found, 0U);
}

// A GPU that computes as much as this, and is slowed down for these shares of the time.
Diagnosis slowed(double busy, double by_heat, double by_power) {
  PlantedRun run;
  run.cpu(0.3, 0.35).thread("main", 0.3, 0).level("job.gpu.memory.usage", {}, 1e9);
  run.level("hw.gpu.utilization", {{"gpu", "0"}}, busy);
  run.rate("hw.gpu.throttle.time", {{"gpu", "0"}, {"reason", "hw_thermal"}}, by_heat / 2);
  run.rate("hw.gpu.throttle.time", {{"gpu", "0"}, {"reason", "sw_thermal"}}, by_heat);
  run.rate("hw.gpu.throttle.time", {{"gpu", "0"}, {"reason", "sw_power"}}, by_power);
  return run.diagnose();
}

TEST(Device, a_busy_gpu_that_heat_slows_down_is_throttled) {
  const Diagnosis diagnosis = slowed(0.97, 0.4, 0);
  EXPECT_EQ(diagnosis.verdict, "throttled");
  EXPECT_EQ(diagnosis.cause, "thermal");
  ASSERT_FALSE(diagnosis.findings.empty());
  EXPECT_EQ(diagnosis.findings[0].summary, "heat slows the GPU down 40 % of the time");
  EXPECT_EQ(diagnosis.findings[0].severity, "critical");
  EXPECT_EQ(diagnosis.findings[0].advice, "improve the cooling");
  EXPECT_FALSE(diagnosis.findings[0].max_speedup) << "how much slower it was is not known";
  EXPECT_EQ(slowed(0.97, 0.05, 0).verdict, "gpu_bound") << "now and then";
}

TEST(Device, a_power_limit_alone_is_how_a_busy_gpu_works) {
  const Diagnosis diagnosis = slowed(0.97, 0, 1);
  EXPECT_EQ(diagnosis.verdict, "gpu_bound");
  ASSERT_FALSE(diagnosis.alternatives.empty());
  EXPECT_EQ(diagnosis.alternatives[0].verdict, "throttled");
  const auto rule = std::find_if(diagnosis.judged.begin(), diagnosis.judged.end(),
                                 [](const auto& judged) { return judged.rule == "throttled"; });
  ASSERT_NE(rule, diagnosis.judged.end());
  EXPECT_NEAR(rule->strength, 0.4, 1e-9);
  EXPECT_EQ(slowed(0.97, 0.4, 1).cause, "thermal") << "heat is the surer of the two";
}

TEST(Device, an_idle_gpu_is_slowed_down_by_nothing) {
  for (const auto& judged : slowed(0.2, 0.9, 1).judged) {
    if (judged.rule != "throttled") continue;
    EXPECT_EQ(judged.strength, 0);
    EXPECT_FALSE(judged.seen.empty());
  }
  EXPECT_NE(slowed(0.2, 0.9, 1).verdict, "throttled");
}

// Steps of 0.1 s that copy to the GPU for some of it.
Diagnosis copying(double share, std::optional<double> busy) {
  std::vector<StoredReport> reports;
  for (int i = 1; i < 200; ++i) {
    reports.push_back(
        {i * 0.1 - 1e-4, "pipe", *parse_report(fmt::format("phase transfer {}", 0.1 * share))});
    reports.push_back({i * 0.1, "pipe", *parse_report(fmt::format("step {}", i))});
  }
  PlantedRun run;
  run.cpu(0.3, 0.35).thread("main", 0.3, 0).level("job.gpu.memory.usage", {}, 1e9);
  if (busy) run.level("hw.gpu.utilization", {{"gpu", "0"}}, *busy);
  return run.report(std::move(reports)).diagnose();
}

const Finding* transfer_of(const Diagnosis& diagnosis) {
  for (const Finding& finding : diagnosis.findings) {
    if (finding.id == "transfer") return &finding;
  }
  return nullptr;
}

TEST(Device, copies_bound_no_more_than_the_time_in_which_the_gpu_does_not_compute) {
  const Diagnosis busy = copying(0.5, 0.6), idle = copying(0.5, 0.3), unknown = copying(0.5, {});
  ASSERT_NE(transfer_of(busy), nullptr);
  EXPECT_NEAR(*transfer_of(busy)->max_speedup, 1 / 0.6, 0.01);
  EXPECT_NEAR(*transfer_of(busy)->advice_speedup, 1 / 0.6, 0.01);
  ASSERT_NE(transfer_of(idle), nullptr);
  EXPECT_NEAR(*transfer_of(idle)->max_speedup, 2, 0.03);
  EXPECT_NEAR(*transfer_of(idle)->advice_speedup, 2, 0.03);
  if (transfer_of(unknown) != nullptr) {
    EXPECT_FALSE(transfer_of(unknown)->max_speedup) << "how busy it is was not recorded";
    EXPECT_FALSE(transfer_of(unknown)->advice_speedup);
  }
}

}  // namespace device_test
}  // namespace trainscope
