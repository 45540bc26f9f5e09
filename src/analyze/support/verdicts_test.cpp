// What must not mislead a verdict: runs in which something known happens.
#include <gtest/gtest.h>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace verdicts_test {

StoredReport line_at(double time_s, const std::string& line) {
  return {time_s, "pipe", *parse_report(line)};
}

// Steps of 0.1 s from one time to another, each with a phase that fills `share` of it.
std::vector<StoredReport> steps_between(double from_s, double to_s, const std::string& phase,
                                        double share) {
  std::vector<StoredReport> reports;
  const int count = static_cast<int>((to_s - from_s) / 0.1 + 0.5);
  for (int i = 1; i <= count; ++i) {
    const double end_s = from_s + i * 0.1;
    reports.push_back(line_at(end_s - 1e-4, fmt::format("phase {} {}", phase, 0.1 * share)));
    reports.push_back(line_at(end_s, fmt::format("step {}", i)));
  }
  return reports;
}

const Finding* find_finding(const Diagnosis& diagnosis, std::string_view id) {
  for (const Finding& finding : diagnosis.findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

double part_of(const Diagnosis& diagnosis, std::string_view name) {
  for (const BreakdownPart& part : diagnosis.breakdown) {
    if (part.part == name) return part.share;
  }
  return 0;
}

// The main thread computes all the time.
PlantedRun computing() {
  PlantedRun run;
  run.cpu(0.96, 0.98).thread("main", 0.94, 0.01);
  return run;
}

TEST(Verdicts, compute_phases_alone_do_not_mean_that_nothing_waits) {
  PlantedRun run;
  run.cpu(0.2, 0.25).thread("main", 0.2, 0);
  run.rate("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, 0.7);
  run.rate("job.disk.io", {{"direction", "read"}}, 200e6);
  run.report(steps_between(0, 19.9, "backward", 0.1));
  EXPECT_EQ(run.diagnose().verdict, "input_bound");
  EXPECT_EQ(run.diagnose().cause, "storage");
}

TEST(Verdicts, phases_count_without_steps) {
  std::vector<StoredReport> reports;
  for (int i = 1; i < 200; ++i) reports.push_back(line_at(i * 0.1, "phase input 0.09"));
  PlantedRun run;
  run.cpu(0.02, 0.04).thread("main", 0.02, 0).report(reports);
  const Diagnosis d = run.diagnose();
  EXPECT_EQ(d.verdict, "input_bound");
  EXPECT_NEAR(*d.findings.at(0).max_speedup, 10, 0.5);
  EXPECT_NEAR(part_of(d, "input wait"), 0.9, 0.02);
}

TEST(Verdicts, a_save_outside_of_the_steps_is_no_part_of_them) {
  std::vector<StoredReport> at_end = steps_between(0, 10, "forward", 0.9);
  at_end.push_back(line_at(19.9, "phase checkpoint 9.8"));
  const Diagnosis last = computing().report(at_end).diagnose();
  EXPECT_EQ(last.verdict, "cpu_bound");
  EXPECT_EQ(raised(last), "");
  const Finding* const shutdown = find_finding(last, "shutdown_checkpoint");
  ASSERT_NE(shutdown, nullptr);
  EXPECT_FALSE(shutdown->max_speedup);
  EXPECT_EQ(shutdown->summary, "1 checkpoint pause took 9.8 s after the last step");
  std::vector<StoredReport> at_begin = steps_between(10, 19.9, "forward", 0.9);
  at_begin.push_back(line_at(9.9, "phase checkpoint 9.8"));
  const Diagnosis first = computing().report(at_begin).diagnose();
  EXPECT_EQ(first.verdict, "cpu_bound");
  EXPECT_NE(find_finding(first, "startup_checkpoint"), nullptr);
  // Between the steps it counts.
  std::vector<StoredReport> between = steps_between(0, 5, "forward", 0.9);
  for (StoredReport& each : steps_between(15, 19.9, "forward", 0.9)) between.push_back(each);
  between.push_back(line_at(14.9, "phase checkpoint 9.8"));
  EXPECT_EQ(computing().report(between).diagnose().verdict, "checkpoint_bound");
}

TEST(Verdicts, copies_to_a_gpu_that_nobody_saw_may_limit) {
  PlantedRun run;
  run.cpu(0.3, 0.35).thread("main", 0.3, 0);
  std::vector<StoredReport> reports = steps_between(0, 19.9, "transfer", 0.66);
  reports.push_back(line_at(0.11, "phase input 0.001"));
  const Diagnosis d = run.report(reports).diagnose();
  EXPECT_EQ(d.verdict, "unknown");
  ASSERT_FALSE(d.alternatives.empty());
  EXPECT_EQ(d.alternatives[0].verdict, "transfer_bound");
  ASSERT_FALSE(d.missing.empty());
  EXPECT_TRUE(d.missing[0].starts_with("what the GPU does")) << d.missing[0];
}

TEST(Verdicts, a_slow_first_batch_is_start_up) {
  std::vector<StoredReport> reports = steps_between(8, 19.9, "forward", 0.9);
  reports.push_back(line_at(8.0, "phase input 7.9"));
  PlantedRun run;
  run.changing("job.cpu.time", {{"mode", "user"}}, 8, 0.02, 0.96);
  run.changing("job.thread.time", {{"role", "main"}, {"state", "running"}}, 8, 0.02, 0.95);
  run.changing("job.thread.time", {{"role", "main"}, {"state", "blocked"}}, 8, 0.98, 0.05);
  const Diagnosis d = run.report(reports).diagnose();
  EXPECT_EQ(d.verdict, "cpu_bound") << "what the machine did meanwhile is start-up too";
  EXPECT_NEAR(d.over_time.at(0).from_s, 8, 0.01);
  EXPECT_EQ(raised(d), "");
  EXPECT_EQ(find_finding(d, "pauses_input"), nullptr);
  EXPECT_NEAR(part_of(d, "start-up"), 7.9 / 19.8, 0.02);
  EXPECT_LT(part_of(d, "input wait"), 0.01);
}

TEST(Verdicts, the_slow_first_batch_of_a_later_epoch_is_input) {
  std::vector<StoredReport> reports = steps_between(0, 5, "input", 0.01);
  for (StoredReport& each : steps_between(15, 19.9, "input", 0.01)) reports.push_back(each);
  reports.push_back(line_at(15.05, "phase input 9.9"));
  const Diagnosis nameless = computing().report(reports).diagnose();
  EXPECT_EQ(nameless.verdict, "input_bound");
  EXPECT_EQ(nameless.findings.at(0).summary.find("epoch"), std::string::npos);
  reports.push_back(line_at(5.01, "epoch 1"));
  const Diagnosis named = computing().report(reports).diagnose();
  EXPECT_EQ(named.verdict, "input_bound") << "that the job reports its epochs changes nothing";
  EXPECT_NEAR(part_of(named, "input wait"), part_of(nameless, "input wait"), 1e-9);
  EXPECT_EQ(
      named.findings.at(0).summary,
      "50 % of the step time is spent waiting for data, most of it for the first batches of later "
      "epochs");
  EXPECT_TRUE(named.findings.at(0).advice.starts_with("keep the loading workers"))
      << named.findings.at(0).advice;
}

PlantedRun pinned_to_four_cpus(const std::string& host) {
  PlantedRun run;
  run.host(host).cpu(3.9, 64).thread("main", 0.3, 0.68);
  for (const char* const cpu : {"0", "1", "2", "3"}) {
    run.rate("system.cpu.time", {{"cpu", cpu}, {"state", "user"}}, 0.98);
  }
  run.rate("system.cpu.time", {{"cpu", "64"}, {"state", "user"}}, 1);
  return run;
}

TEST(Verdicts, others_count_only_on_the_cpus_of_the_job) {
  const Diagnosis known =
      pinned_to_four_cpus(
          R"({"threads": 128, "allowed_cpus": 4, "job_cpus": 4, "allowed_cpu_list": "0-3"})")
          .diagnose();
  EXPECT_EQ(known.verdict, "cpu_bound");
  EXPECT_EQ(known.cause, "oversubscribed");
  // Which CPUs these are is not known: neither is how much of them others use.
  const Diagnosis unknown =
      pinned_to_four_cpus(R"({"threads": 128, "allowed_cpus": 4, "job_cpus": 4})").diagnose();
  EXPECT_EQ(unknown.verdict, "cpu_bound");
}

TEST(Verdicts, traffic_that_a_job_cannot_have_received_is_not_its_own) {
  const auto sleeping = [](double cores) {
    PlantedRun run;
    run.cpu(cores, cores + 0.1).thread("main", cores, 0);
    run.rate("system.network.io", {{"device", "eth0"}, {"direction", "receive"}}, 272e6);
    return run.diagnose().verdict;
  };
  EXPECT_EQ(sleeping(0.0005), "idle");
  EXPECT_EQ(sleeping(0.05), "unknown") << "it may receive that";
}

TEST(Verdicts, a_job_that_does_nothing_while_others_work_may_be_their_client) {
  const Diagnosis d = PlantedRun().cpu(0.001, 1.6).thread("main", 0.001, 0).diagnose();
  EXPECT_EQ(d.verdict, "unknown");
  ASSERT_EQ(d.missing.size(), 2U);
  EXPECT_NE(d.missing[0].find("trainscope attach PID"), std::string::npos) << d.missing[0];
  PlantedRun gpu;
  gpu.cpu(0.001, 0.02).thread("main", 0.001, 0).level("job.gpu.memory.usage", {}, 0);
  gpu.level("hw.gpu.utilization", {{"gpu", "0"}}, 0.9);
  EXPECT_EQ(gpu.diagnose().verdict, "unknown");
}

TEST(Verdicts, confidences_have_one_scale) {
  size_t with_alternatives = 0;
  for (const double cores : {0.1, 0.5, 0.9, 1.4, 1.95}) {
    for (const double machine : {1.0, 1.5, 1.98}) {
      for (const double runnable : {0.0, 0.15, 0.3, 0.6}) {
        PlantedRun run;
        run.cpu(cores, std::max(cores, machine));
        run.thread("main", std::min(cores, 1 - runnable), runnable).steps(0.12);
        const Diagnosis d = run.diagnose();
        double sum = d.confidence;
        for (const auto& other : d.alternatives) {
          sum += other.confidence;
          EXPECT_LE(other.confidence, d.verdict == "unknown" ? 0.5 : d.confidence);
          ++with_alternatives;
        }
        EXPECT_LE(sum, 1 + 1e-9);
        for (const Finding& finding : d.findings) {
          if (d.verdict == "unknown" || !finding.confidence) continue;
          EXPECT_LE(*finding.confidence, d.confidence + 1e-9) << finding.id;
        }
      }
    }
  }
  EXPECT_GT(with_alternatives, 10U);
}

TEST(Verdicts, some_waiting_for_data_is_worth_a_warning) {
  const Diagnosis d = computing().steps(0.1).diagnose();
  EXPECT_EQ(d.verdict, "cpu_bound");
  EXPECT_EQ(raised(d), "input_wait ");
  ASSERT_NE(find_finding(d, "input_wait"), nullptr);
  EXPECT_EQ(find_finding(d, "input_wait")->severity, "warning");
  EXPECT_NEAR(*find_finding(d, "input_wait")->max_speedup, 1 / 0.9, 0.02);
  EXPECT_EQ(raised(computing().steps(0.04).diagnose()), "");
}

TEST(Verdicts, a_millisecond_before_each_step_is_no_warning) {
  std::vector<StoredReport> reports;
  for (int i = 1; i * 0.016 < 19.9; ++i) {
    reports.push_back(line_at(i * 0.016 - 0.015, "phase input 0.001"));
    reports.push_back(line_at(i * 0.016, fmt::format("step {}", i)));
  }
  EXPECT_EQ(raised(computing().report(reports).diagnose()), "");
}

TEST(Verdicts, only_what_was_measured_bounds_a_speed_up) {
  const Diagnosis crowded = PlantedRun().cpu(1.95, 1.97).thread("main", 0.3, 0.68).diagnose();
  EXPECT_EQ(crowded.cause, "oversubscribed");
  EXPECT_FALSE(crowded.findings.at(0).max_speedup) << "all cores do the job's work";
  // Kernels that fill a tenth of the GPU nearly all the time.
  PlantedRun small;
  small.cpu(1.0, 1.05).thread("main", 0.97, 0).level("job.gpu.memory.usage", {}, 1e9);
  small.level("hw.gpu.utilization", {{"gpu", "0"}}, 0.8);
  small.level("hw.gpu.sm_active", {{"gpu", "0"}}, 0.1);
  const Diagnosis launch = small.diagnose();
  EXPECT_EQ(launch.verdict, "launch_bound");
  EXPECT_NEAR(*launch.findings.at(0).max_speedup, 1.25, 0.01);
}

TEST(Verdicts, work_of_the_fp32_units_is_compute) {
  const auto gpu = [](double fp32) {
    PlantedRun run;
    run.cpu(0.3, 0.35).thread("main", 0.3, 0).level("job.gpu.memory.usage", {}, 1e9);
    run.level("hw.gpu.utilization", {{"gpu", "0"}}, 0.99);
    run.level("hw.gpu.sm_active", {{"gpu", "0"}}, 0.95);
    run.level("hw.gpu.tensor_active", {{"gpu", "0"}}, 0.0);
    run.level("hw.gpu.fp32_active", {{"gpu", "0"}}, fp32);
    run.level("hw.gpu.dram_active", {{"gpu", "0"}}, 0.8);
    return run.diagnose().verdict;
  };
  EXPECT_EQ(gpu(0.6), "gpu_bound");
  EXPECT_EQ(gpu(0.05), "gpu_memory_bound");
}

TEST(Verdicts, a_worker_that_lives_for_a_while_only_is_not_the_slowest) {
  PlantedRun run;
  run.cpu(1.95, 1.97).thread("main", 0.1, 0);
  run.thread("worker0", 0.95, 0).thread("worker1", 0.9, 0);
  run.changing("job.thread.time", {{"role", "worker2"}, {"state", "running"}}, 4, 0.02, 0);
  run.changing("job.thread.time", {{"role", "worker2"}, {"state", "blocked"}}, 4, 0.98, 0);
  EXPECT_EQ(run.diagnose().verdict, "input_bound");
  EXPECT_EQ(run.diagnose().cause, "decoding");
}

TEST(Verdicts, a_job_that_sleeps_is_worth_a_word) {
  const Diagnosis idle = PlantedRun().cpu(0.001, 0.02).thread("main", 0.001, 0).diagnose();
  EXPECT_EQ(raised(idle), "idle ");
  EXPECT_FALSE(idle.findings.at(0).max_speedup);
}

TEST(Verdicts, reported_waits_never_leave_a_computing_job_without_a_verdict) {
  for (const char* const phase : {"input", "communication", "checkpoint"}) {
    std::string before = "cpu_bound";
    int changes = 0;
    for (int percent = 2; percent <= 40; ++percent) {
      const double share = percent / 100.0;
      const Diagnosis d = computing().report(steps_between(0, 19.9, phase, share)).diagnose();
      EXPECT_NE(d.verdict, "unknown") << phase << " " << percent << " %";
      changes += d.verdict != before ? 1 : 0;
      before = d.verdict;
    }
    EXPECT_EQ(changes, 1) << phase;
  }
}

TEST(Verdicts, a_missing_phase_or_metric_is_named) {
  PlantedRun own;
  own.cpu(0.4, 0.45).thread("main", 0.4, 0).report(steps_between(0, 19.9, "data", 0.5));
  const Diagnosis named = own.diagnose();
  EXPECT_EQ(named.verdict, "unknown");
  ASSERT_EQ(named.missing.size(), 2U);
  EXPECT_NE(named.missing[0].find("run --instrument"), std::string::npos) << named.missing[0];
  EXPECT_NE(named.missing[1].find("'data' does, which takes 50 %"), std::string::npos)
      << named.missing[1];
  const Diagnosis blind = PlantedRun().steps(0).diagnose();
  ASSERT_EQ(blind.missing.size(), 2U);
  EXPECT_NE(blind.missing[1].find("job.cpu.time"), std::string::npos) << blind.missing[1];
}

TEST(Verdicts, of_what_is_missing_nothing_hides_the_rest) {
  PlantedRun run;
  run.thread("main", 0.3, 0).report(steps_between(0, 19.9, "transfer", 0.66));
  const Diagnosis d = run.diagnose();
  EXPECT_EQ(d.verdict, "unknown");
  ASSERT_EQ(d.missing.size(), 3U);
  EXPECT_TRUE(d.missing[0].starts_with("what the GPU does")) << d.missing[0];
  EXPECT_NE(d.missing[1].find("run --instrument"), std::string::npos) << d.missing[1];
  EXPECT_NE(d.missing[2].find("job.cpu.time"), std::string::npos) << d.missing[2];
}

TEST(Verdicts, a_cold_cache_says_what_it_was_seen_by) {
  PlantedRun run;
  run.cpu(0.3, 0.35).thread("main", 0.3, 0);
  run.rate("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, 0.6);
  run.changing("job.disk.io", {{"direction", "read"}}, 10, 50e6, 0);
  run.rate("job.io.bytes", {{"direction", "read"}}, 50e6);
  const Diagnosis d = run.diagnose();
  EXPECT_EQ(d.cause, "cold_cache");
  size_t seen = 0;
  for (const auto& judged : d.judged) {
    for (const Diagnosis::Seen& each : judged.seen) {
      seen += each.what.find("quarter") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_EQ(seen, 2U);
}

TEST(Verdicts, few_steps_in_a_long_run_need_more_steps) {
  const Diagnosis d = computing().report(steps_between(0, 1, "forward", 0.9)).diagnose();
  EXPECT_EQ(d.verdict, "unknown");
  ASSERT_EQ(d.missing.size(), 1U);
  EXPECT_TRUE(d.missing[0].starts_with("more steps: ")) << d.missing[0];
  EXPECT_NE(find_finding(d, "shutdown"), nullptr);
}

TEST(Verdicts, much_time_before_and_after_the_steps_is_told) {
  const Diagnosis d = computing().report(steps_between(5, 12, "forward", 0.9)).diagnose();
  const Finding* const startup = find_finding(d, "startup");
  ASSERT_NE(startup, nullptr);
  EXPECT_EQ(startup->severity, "info");
  EXPECT_NEAR(*startup->to_s, 5, 0.02);
  const Finding* const shutdown = find_finding(d, "shutdown");
  ASSERT_NE(shutdown, nullptr);
  EXPECT_NEAR(*shutdown->from_s, 12, 0.02);
  EXPECT_NEAR(*shutdown->time_lost_s, 8, 0.02);
  EXPECT_FALSE(shutdown->max_speedup);
  EXPECT_EQ(shutdown->evidence.at(0), "8.0 s of 20.0 s, 40 % of the run");
  EXPECT_EQ(shutdown->evidence.at(1), "CPU of the job meanwhile: 0.96 cores (job.cpu.time)");
  const Diagnosis whole = computing().steps(0.01).diagnose();
  EXPECT_EQ(find_finding(whole, "startup"), nullptr);
  EXPECT_EQ(find_finding(whole, "shutdown"), nullptr);
}

TEST(Verdicts, steps_that_are_reported_together_may_go_on_after_the_last_report) {
  std::vector<StoredReport> reports;
  for (int i = 1; i <= 3; ++i) {
    reports.push_back(line_at(4.0 * i, fmt::format("step {}", 100 * i)));
  }
  const Diagnosis d = computing().report(reports).diagnose();
  EXPECT_EQ(find_finding(d, "startup"), nullptr);
  EXPECT_EQ(find_finding(d, "shutdown"), nullptr);
}

// Steps that take 0.1 s with these two phases.
Diagnosis with_both(const std::string& first, double first_s, const std::string& second,
                    double second_s) {
  std::vector<StoredReport> reports;
  for (int i = 1; i < 200; ++i) {
    const double end_s = i * 0.1;
    reports.push_back(line_at(end_s - second_s, fmt::format("phase {} {}", first, first_s)));
    reports.push_back(line_at(end_s - 1e-4, fmt::format("phase {} {}", second, second_s)));
    reports.push_back(line_at(end_s, fmt::format("step {}", i)));
  }
  PlantedRun run;
  return run.cpu(0.2, 0.25).thread("main", 0.2, 0).report(reports).diagnose();
}

TEST(Verdicts, of_two_parts_that_the_job_reports_the_larger_one_is_the_verdict) {
  EXPECT_EQ(with_both("input", 0.03, "checkpoint", 0.045).verdict, "checkpoint_bound");
  EXPECT_EQ(with_both("input", 0.045, "checkpoint", 0.03).verdict, "input_bound");
  EXPECT_EQ(with_both("input", 0.03, "communication", 0.045).verdict, "communication_bound");
  EXPECT_EQ(with_both("communication", 0.03, "checkpoint", 0.045).verdict, "checkpoint_bound");
  const Diagnosis d = with_both("input", 0.03, "checkpoint", 0.045);
  EXPECT_EQ(raised(d), "checkpoint input_wait ");
  ASSERT_EQ(d.alternatives.size(), 1U);
  EXPECT_EQ(d.alternatives[0].verdict, "input_bound");
}

}  // namespace verdicts_test
}  // namespace trainscope
