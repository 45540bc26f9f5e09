#include <gtest/gtest.h>

#include <set>

#include "analyze/support/planted_run.h"
#include "analyze/support/rule.h"

namespace trainscope {
namespace diagnose_test {

TEST(Diagnose, reported_waiting_for_data_bounds_the_speed_up) {
  const Diagnosis d = PlantedRun().cpu(0.3, 0.3).steps(0.7).diagnose();
  EXPECT_EQ(d.verdict, "input_bound");
  EXPECT_GT(d.confidence, 0.9);
  ASSERT_FALSE(d.findings.empty());
  EXPECT_EQ(d.findings[0].id, "input_wait");
  EXPECT_EQ(d.findings[0].severity, "critical");
  EXPECT_NEAR(*d.findings[0].max_speedup, 1 / 0.3, 0.05);
  EXPECT_FALSE(d.findings[0].advice.empty());
}

TEST(Diagnose, a_clean_run_has_a_verdict_and_nothing_to_mend) {
  const Diagnosis d =
      PlantedRun().cpu(0.96, 0.98).thread("main", 0.94, 0.01).steps(0.04).diagnose();
  EXPECT_EQ(d.verdict, "cpu_bound");
  EXPECT_EQ(d.cause, "single_thread");
  EXPECT_EQ(raised(d), "");
}

TEST(Diagnose, all_cores_and_more_threads_than_cores_are_told_apart) {
  EXPECT_EQ(PlantedRun().cpu(1.95, 1.97).thread("main", 0.97, 0.02).diagnose().cause, "all_cores");
  const Diagnosis d = PlantedRun().cpu(1.95, 1.97).thread("main", 0.3, 0.68).diagnose();
  EXPECT_EQ(d.verdict, "cpu_bound");
  EXPECT_EQ(d.cause, "oversubscribed");
  EXPECT_EQ(raised(d), "cpu ");
}

TEST(Diagnose, one_thread_is_told_from_several) {
  const auto cause = [](double cores, double main, double other) {
    PlantedRun run;
    return run.cpu(cores, cores)
        .thread("main", main, 0)
        .thread("busiest", other, 0)
        .diagnose()
        .cause;
  };
  EXPECT_EQ(cause(1.05, 0.97, 0.05), "single_thread");
  EXPECT_EQ(cause(1.45, 0.9, 0.52), "") << "neither one thread nor all cores";
  EXPECT_EQ(cause(1.9, 0.95, 0.93), "all_cores");
}

TEST(Diagnose, many_small_reads_are_input) {
  const auto reading = [](double calls, double bytes, double kernel) {
    PlantedRun run;
    run.cpu(0.97 - kernel, 1).rate("job.cpu.time", {{"mode", "system"}}, kernel);
    run.thread("main", 0.97, 0).rate("job.io.calls", {{"direction", "read"}}, calls);
    return run.rate("job.io.bytes", {{"direction", "read"}}, bytes).diagnose();
  };
  EXPECT_EQ(reading(40e3, 60e6, 0.5).verdict, "input_bound");
  EXPECT_EQ(reading(40e3, 60e6, 0.5).cause, "small_files");
  EXPECT_EQ(reading(40e3, 60e6, 0.05).verdict, "cpu_bound") << "the kernel does little";
  EXPECT_EQ(reading(200, 60e6, 0.5).verdict, "cpu_bound") << "large reads";
}

// A run of two seconds does not know for how long its main thread waited.
TEST(Diagnose, a_job_that_sleeps_is_not_contended_though_others_wait_for_cores) {
  const auto crowded = [](double job_cores) {
    PlantedRun run;
    run.cpu(job_cores, 1.98);
    run.rate("system.pressure.time", {{"kind", "some"}, {"resource", "cpu"}}, 0.6);
    return run.diagnose().verdict;
  };
  EXPECT_EQ(crowded(0.5), "contended");
  EXPECT_NE(crowded(0.01), "contended");
}

TEST(Diagnose, strangers_that_take_the_cores_are_named) {
  const Diagnosis d = PlantedRun().cpu(0.9, 1.98).thread("main", 0.55, 0.4).diagnose();
  EXPECT_EQ(d.verdict, "contended");
  // The same waiting without strangers is the job's own doing.
  EXPECT_NE(PlantedRun().cpu(1.95, 1.98).thread("main", 0.55, 0.4).diagnose().verdict, "contended");
  PlantedRun ranks;
  ranks.cpu(0.9, 1.98).thread("main", 0.55, 0.4).rate(kRanksCpuTime, {}, 0.95);
  EXPECT_NE(ranks.diagnose().verdict, "contended") << "ranks of a job are not its neighbours";
  // So is waiting under the job's own CPU limit.
  PlantedRun limited;
  limited.cpu(0.5, 1.5).thread("main", 0.5, 0.48).rate("cgroup.cpu.throttled_time", {}, 0.48);
  EXPECT_EQ(limited.diagnose().verdict, "quota_bound");
  EXPECT_TRUE(limited.diagnose().alternatives.empty());
}

TEST(Diagnose, a_busy_worker_in_front_of_a_waiting_main_thread_is_input) {
  PlantedRun one;
  one.cpu(1.2, 1.25).thread("main", 0.2, 0).thread("worker0", 0.97, 0.01);
  EXPECT_EQ(one.diagnose().verdict, "input_bound");
  EXPECT_EQ(one.diagnose().cause, "few_workers");
  PlantedRun uneven;
  uneven.cpu(1.3, 1.35).thread("main", 0.2, 0).thread("worker0", 0.97, 0).thread("worker1", 0.1, 0);
  EXPECT_EQ(uneven.diagnose().cause, "slow_worker");
  PlantedRun all;
  all.cpu(1.95, 1.97).thread("main", 0.1, 0.1).thread("worker0", 0.9, 0).thread("worker1", 0.9, 0);
  EXPECT_EQ(all.diagnose().cause, "decoding");
  // The main thread is mostly busy; one worker more could still bring something.
  PlantedRun nearly;
  nearly.cpu(1.65, 1.68).thread("main", 0.68, 0).thread("worker0", 0.97, 0);
  EXPECT_EQ(nearly.diagnose().verdict, "input_bound");
  EXPECT_EQ(nearly.diagnose().cause, "few_workers");
  // Cores that others use are not free for more workers; nor do workers fill them.
  PlantedRun taken;
  taken.cpu(1.2, 1.98).thread("main", 0.2, 0).thread("worker0", 0.97, 0.01);
  EXPECT_EQ(taken.diagnose().verdict, "input_bound");
  EXPECT_EQ(taken.diagnose().cause, "");
}

TEST(Diagnose, waiting_for_storage_needs_reads_that_reach_it) {
  PlantedRun cold;
  cold.cpu(0.2, 0.25).thread("main", 0.2, 0);
  cold.rate("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, 0.7);
  cold.rate("job.disk.io", {{"direction", "read"}}, 200e6);
  EXPECT_EQ(cold.diagnose().verdict, "input_bound");
  EXPECT_EQ(cold.diagnose().cause, "storage");
  PlantedRun saving;
  saving.cpu(0.6, 0.65).thread("main", 0.5, 0);
  saving.rate("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, 0.45);
  saving.rate("job.disk.io", {{"direction", "read"}}, 0);
  saving.rate("job.disk.io", {{"direction", "write"}}, 50e6);
  EXPECT_EQ(saving.diagnose().verdict, "checkpoint_bound");
}

TEST(Diagnose, files_that_no_local_disk_delivers_come_from_elsewhere) {
  const auto reading = [](double on_disk, double local_bytes) {
    PlantedRun run;
    run.cpu(0.05, 0.07).thread("main", 0.05, 0);
    run.rate("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, on_disk);
    run.rate("job.disk.io", {{"direction", "read"}}, local_bytes);
    return run.rate("job.io.bytes", {{"direction", "read"}}, 16e6).diagnose();
  };
  EXPECT_EQ(reading(0.8, 0).verdict, "input_bound");
  EXPECT_EQ(reading(0.8, 0).cause, "network_storage");
  EXPECT_EQ(reading(0.8, 16e6).cause, "storage");
  EXPECT_EQ(reading(0, 0).verdict, "unknown") << "it may sleep between reads";
}

constexpr double kMiB = 1 << 20;

Limit disk_limit(const char* name, double value, const char* unit) {
  return {name, value, unit, "", "2026-01-02T03:04:05.000Z", "/data", "sda"};
}

// Waits for storage; sda serves what it reads.
PlantedRun reading_run() {
  PlantedRun run;
  run.cpu(0.2, 0.25).thread("main", 0.2, 0);
  run.rate("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, 0.7);
  run.rate("job.disk.io", {{"direction", "read"}}, 200 * kMiB);
  run.limits({disk_limit("disk.read.sequential", 500 * kMiB, "By/s"),
              disk_limit("disk.read.sequential_parallel", 1900 * kMiB, "By/s"),
              disk_limit("disk.read.random_parallel", 9000, "{operation}/s")});
  return run;
}

TEST(Diagnose, reads_are_compared_with_the_limit_of_the_disk_that_served_them) {
  PlantedRun run = reading_run();
  run.rate("system.disk.io", {{"device", "sda"}, {"direction", "read"}}, 190 * kMiB);
  run.rate("system.disk.io", {{"device", "sdb"}, {"direction", "read"}}, 10 * kMiB);
  run.rate("system.disk.operations", {{"device", "sda"}, {"direction", "read"}}, 300);
  const Diagnosis d = run.diagnose();
  ASSERT_EQ(d.limits.size(), 1U) << "one thread does not show what the disk gives";
  EXPECT_EQ(d.limits[0].name, "disk.read.sequential_parallel");
  EXPECT_NEAR(d.limits[0].reached, 200 * kMiB, 1);
  EXPECT_EQ(d.limits[0].limit, 1900 * kMiB);
  ASSERT_FALSE(d.findings.empty());
  EXPECT_EQ(d.findings[0].summary,
            "the job reads 200 MiB/s of the 1.86 GiB/s that this disk gives and waits for it about "
            "70 % of the time");
  EXPECT_EQ(d.findings[0].evidence.at(0),
            "disk.read.sequential_parallel: 200 MiB/s of 1.86 GiB/s (measured 2026-01-02)");
}

TEST(Diagnose, a_disk_that_several_threads_slow_down_has_the_limit_of_one) {
  PlantedRun run = reading_run();
  run.rate("system.disk.io", {{"device", "sda"}, {"direction", "read"}}, 200 * kMiB);
  run.limits({disk_limit("disk.read.sequential", 220 * kMiB, "By/s"),
              disk_limit("disk.read.sequential_parallel", 90 * kMiB, "By/s")});
  ASSERT_EQ(run.diagnose().limits.size(), 1U);
  EXPECT_EQ(run.diagnose().limits[0].limit, 220 * kMiB);
}

TEST(Diagnose, the_limit_of_another_disk_says_nothing) {
  PlantedRun other = reading_run();
  other.rate("system.disk.io", {{"device", "sda"}, {"direction", "read"}}, 10 * kMiB);
  other.rate("system.disk.io", {{"device", "sdb"}, {"direction", "read"}}, 190 * kMiB);
  EXPECT_TRUE(other.diagnose().limits.empty());
  EXPECT_EQ(other.diagnose().findings.at(0).summary,
            "the job reads 200 MiB/s from storage and waits for it about 70 % of the time");
  PlantedRun gone = reading_run();
  gone.rate("system.disk.io", {{"device", "sdb"}, {"direction", "read"}}, 190 * kMiB);
  EXPECT_TRUE(gone.diagnose().limits.empty());
}

TEST(Diagnose, without_recorded_disks_the_file_system_decides) {
  const auto limits_on = [](const char* mount_point) {
    PlantedRun run = reading_run();
    run.host(fmt::format(
        R"({{"threads":2,"filesystems":{{"working_directory":{{"mountpoint":"{}"}}}}}})",
        mount_point));
    return run.diagnose().limits.size();
  };
  EXPECT_EQ(limits_on("/data"), 1U) << "reads per second are those of a disk";
  EXPECT_EQ(limits_on("/home"), 0U);
}

TEST(Diagnose, copies_are_compared_with_what_pinned_memory_gives) {
  PlantedRun run;
  run.cpu(1.0, 1.05).thread("main", 0.99, 0).level("job.gpu.memory.usage", {}, 1e9);
  run.level("hw.gpu.utilization", {{"gpu", "0"}}, 0.2);
  run.rate("hw.gpu.pcie.io", {{"direction", "receive"}, {"gpu", "0"}}, 8192 * kMiB);
  run.limits({{"gpu.copy.host_to_device", 50 * 1024 * kMiB, "By/s", "", "2026-01-02", "", ""}});
  const Diagnosis d = run.diagnose();
  ASSERT_EQ(d.limits.size(), 1U);
  EXPECT_EQ(d.findings.at(0).summary,
            "8.00 GiB/s of the 50.0 GiB/s that pinned memory gives are copied to the GPU");
}

TEST(Diagnose, limits_of_the_container_and_memory_come_first) {
  PlantedRun quota;
  quota.cpu(0.5, 0.55).thread("main", 0.5, 0.48).rate("cgroup.cpu.throttled_time", {}, 0.48);
  EXPECT_EQ(quota.diagnose().verdict, "quota_bound");
  PlantedRun memory;
  memory.cpu(0.3, 0.4).thread("main", 0.3, 0);
  memory.rate("system.pressure.time", {{"kind", "some"}, {"resource", "memory"}}, 0.5);
  EXPECT_EQ(memory.diagnose().verdict, "unknown") << "it may be somebody else's";
  memory.rate("job.paging.faults", {{"type", "major"}}, 2000);
  EXPECT_EQ(memory.diagnose().verdict, "memory_pressure");
  // The pressure of the job's own cgroup counts, not that of the machine.
  memory.rate("cgroup.pressure.time", {{"kind", "some"}, {"resource", "memory"}}, 0);
  EXPECT_EQ(memory.diagnose().verdict, "unknown");
}

TEST(Diagnose, a_gpu_is_judged_by_what_it_did) {
  const auto gpu = [](double busy, double sm, double tensor, double memory, double main) {
    PlantedRun run;
    run.cpu(main, main + 0.05).thread("main", main, 0).level("job.gpu.memory.usage", {}, 1e9);
    run.level("hw.gpu.utilization", {{"gpu", "0"}}, busy);
    run.level("hw.gpu.sm_active", {{"gpu", "0"}}, sm);
    run.level("hw.gpu.tensor_active", {{"gpu", "0"}}, tensor);
    run.level("hw.gpu.dram_active", {{"gpu", "0"}}, memory);
    return run.diagnose().verdict;
  };
  EXPECT_EQ(gpu(0.99, 0.95, 0.7, 0.3, 0.3), "gpu_bound");
  EXPECT_EQ(gpu(0.99, 0.95, 0.02, 0.85, 0.3), "gpu_memory_bound");
  EXPECT_EQ(gpu(0.45, 0.1, 0.02, 0.05, 0.98), "launch_bound");
  // The backward pass is launched from another thread.
  PlantedRun divided;
  divided.cpu(1.0, 1.05).thread("main", 0.42, 0).thread("busiest", 0.56, 0);
  divided.level("job.gpu.memory.usage", {}, 1e9).level("hw.gpu.utilization", {{"gpu", "0"}}, 0.4);
  EXPECT_EQ(divided.diagnose().verdict, "launch_bound");
  PlantedRun copying;
  copying.cpu(1.0, 1.05).thread("main", 0.99, 0).level("job.gpu.memory.usage", {}, 1e9);
  copying.level("hw.gpu.utilization", {{"gpu", "0"}}, 0.2);
  copying.rate("hw.gpu.pcie.io", {{"direction", "receive"}, {"gpu", "0"}}, 8e9);
  EXPECT_EQ(copying.diagnose().verdict, "transfer_bound");
}

TEST(Diagnose, a_job_that_does_nothing_is_idle) {
  EXPECT_EQ(PlantedRun().cpu(0.001, 0.02).thread("main", 0.001, 0).diagnose().verdict, "idle");
  // One that reads waits for something; what that is, nobody recorded.
  PlantedRun reading;
  reading.cpu(0.05, 0.07)
      .thread("main", 0.05, 0)
      .rate("job.io.bytes", {{"direction", "read"}}, 16e6);
  EXPECT_EQ(reading.diagnose().verdict, "unknown");
}

TEST(Diagnose, cpu_time_that_the_hypervisor_takes_is_told_by_its_amount) {
  PlantedRun run;
  run.cpu(0.55, 0.6).thread("main", 0.55, 0.02);
  run.rate("system.cpu.time", {{"cpu", "all"}, {"state", "steal"}}, 0.9);
  const Diagnosis d = run.diagnose();
  ASSERT_EQ(d.verdict, "contended");
  EXPECT_TRUE(d.sentence.starts_with("the hypervisor takes 0.9 of 2 cores")) << d.sentence;
  EXPECT_EQ(d.findings.at(0).severity, "critical");
  EXPECT_FALSE(d.findings[0].max_speedup) << "the time that it waits for a core says nothing";
}

TEST(Diagnose, swapping_is_raised_where_the_kernel_does_not_measure_pressure) {
  PlantedRun run;
  run.cpu(0.3, 0.35).thread("main", 0.3, 0).rate("system.swap.io", {{"direction", "in"}}, 20e6);
  run.rate("job.paging.faults", {{"type", "major"}}, 2000);
  const Diagnosis d = run.diagnose();
  ASSERT_EQ(d.verdict, "memory_pressure");
  EXPECT_EQ(d.findings.at(0).severity, "warning");
}

// Of the first finding, one line each.
std::string evidence_text(const Diagnosis& diagnosis) {
  std::string text;
  if (diagnosis.findings.empty()) return text;
  for (const std::string& line : diagnosis.findings[0].evidence) text += line + "\n";
  return text;
}

TEST(Diagnose, what_speaks_against_a_finding_or_says_nothing_is_no_evidence) {
  PlantedRun run;
  run.cpu(0.95, 1.35).rate("job.cpu.time", {{"mode", "system"}}, 0.02).thread("main", 0.97, 0.02);
  run.rate("job.io.calls", {{"direction", "read"}}, 20);
  run.rate("job.io.bytes", {{"direction", "read"}}, 2000);
  const Diagnosis d = run.diagnose();
  EXPECT_EQ(d.verdict, "cpu_bound");
  const std::string evidence = evidence_text(d);
  EXPECT_NE(evidence.find("main thread running: 97 %"), std::string::npos) << evidence;
  EXPECT_EQ(evidence.find("bytes per read call"), std::string::npos) << "a few small reads";
  EXPECT_EQ(evidence.find("CPU of others"), std::string::npos) << "that is for contended";
  const auto& seen = d.judged.at(0).seen;
  EXPECT_TRUE(std::any_of(seen.begin(), seen.end(), [](const Diagnosis::Seen& one) {
    return one.what == "bytes per read call" && one.unit == "By" && one.degree > 0.9;
  })) << "--explain shows it";
}

TEST(Diagnose, shares_are_shown_as_percentages) {
  PlantedRun run;
  const std::string evidence = evidence_text(run.cpu(0.3, 0.3).steps(0.7).diagnose());
  EXPECT_NE(evidence.find("input wait of step time: 69.8 %, bounds 5 % to 22 %"), std::string::npos)
      << evidence;
}

TEST(Diagnose, what_is_too_short_to_be_judged_has_no_alternatives) {
  PlantedRun run;
  std::vector<StoredReport> reports;
  for (int i = 1; i <= 5; ++i) {
    reports.push_back({0.1 * i, "pipe", *parse_report(fmt::format("step {}", i))});
  }
  const Diagnosis d = run.cpu(1.99, 2).thread("main", 0.99, 0).report(reports).diagnose();
  EXPECT_EQ(d.verdict, "unknown");
  EXPECT_TRUE(d.alternatives.empty());
  EXPECT_GT(d.judged.at(0).strength, 0.5) << "what the rules say of it anyway";
}

TEST(Diagnose, what_the_evidence_does_not_tell_is_unknown) {
  const Diagnosis nothing = PlantedRun().diagnose();
  EXPECT_EQ(nothing.verdict, "unknown");
  EXPECT_EQ(nothing.confidence, 0);
  EXPECT_FALSE(nothing.missing.empty());
  EXPECT_TRUE(nothing.findings.empty());
  // Half a core, and nobody knows what it waits for.
  EXPECT_EQ(PlantedRun().cpu(0.5, 0.55).thread("main", 0.5, 0).diagnose().verdict, "unknown");
}

TEST(Diagnose, rules_have_verdicts_of_the_contract) {
  const std::set<std::string_view> known = {"input_bound",
                                            "cpu_bound",
                                            "gpu_bound",
                                            "gpu_memory_bound",
                                            "transfer_bound",
                                            "launch_bound",
                                            "communication_bound",
                                            "checkpoint_bound",
                                            "memory_pressure",
                                            "throttled",
                                            "quota_bound",
                                            "contended",
                                            "idle"};
  EXPECT_GE(rules().size(), 15U);
  for (const Rule* rule : rules()) {
    EXPECT_TRUE(known.contains(rule->verdict)) << rule->name;
    EXPECT_FALSE(rule->summary.empty()) << rule->name;
    EXPECT_FALSE(rule->needs.empty()) << rule->name;
  }
}

TEST(Evidence, rates_are_taken_window_by_window_and_over_resets) {
  FakeRun run(1, 8);
  run.add("job.cpu.time", {{"mode", "user"}}, Kind::counter, {0, 1, 2, 3, 4, 5, 6, 7, 8},
          {0, 1, 2, 0, 0, 0, 0, 0.5, 1});
  const auto evidence = Evidence::of(run);
  ASSERT_TRUE(evidence);
  ASSERT_EQ(evidence->windows().count, 4U);
  const auto& windows = evidence->by_window(Signal::job_cores);
  EXPECT_DOUBLE_EQ(*windows[0], 1);
  EXPECT_DOUBLE_EQ(*windows[1], 0) << "a reset is no negative rate";
  EXPECT_DOUBLE_EQ(*windows[3], 0.5);
  EXPECT_DOUBLE_EQ(*evidence->mean(Signal::job_cores), 3.0 / 7) << "the reset has no time either";
  EXPECT_FALSE(evidence->mean(Signal::gpu_busy));
}

}  // namespace diagnose_test
}  // namespace trainscope
