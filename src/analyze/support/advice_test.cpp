#include "analyze/support/advice.h"

#include <gtest/gtest.h>

#include <set>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace advice_test {

std::string advice_of(PlantedRun& run) {
  const Diagnosis diagnosis = run.cpu(0.3, 0.3).steps(0.7).diagnose();
  EXPECT_FALSE(diagnosis.findings.empty());
  return diagnosis.findings.at(0).advice;
}

TEST(Advice, is_for_the_framework_at_hand) {
  PlantedRun torch, keras, jax, both, launched, unknown;
  torch.mark("instrumented torch 2.11: input forward backward");
  keras.mark("instrumented keras 3.9: steps; tensorflow 2.19: input");
  jax.mark("instrumented jax 0.7: compile");
  both.mark("instrumented keras 3.9: steps; torch 2.11: input");
  launched.command({"/usr/bin/torchrun", "train.py"});
  EXPECT_NE(advice_of(torch).find("DataLoader("), std::string::npos);
  EXPECT_NE(advice_of(launched).find("DataLoader("), std::string::npos);
  EXPECT_NE(advice_of(keras).find("tf.data.AUTOTUNE"), std::string::npos);
  EXPECT_EQ(advice_of(keras).find("num_workers"), std::string::npos);
  EXPECT_NE(advice_of(jax).find("Grain"), std::string::npos);
  EXPECT_EQ(advice_of(both), advice_of(unknown)) << "which one trains is not known";
}

TEST(Advice, is_for_the_framework_that_an_unmodified_job_has_loaded) {
  PlantedRun torch, jax, both, unknown;
  torch.event("framework", "torch");
  jax.event("framework", "jax");
  both.event("framework", "jax, tensorflow");
  EXPECT_NE(advice_of(torch).find("DataLoader("), std::string::npos);
  EXPECT_NE(advice_of(jax).find("Grain"), std::string::npos);
  EXPECT_EQ(advice_of(both), advice_of(unknown)) << "which one trains is not known";
}

// Steps of 0.1 s that wait for data; every twentieth waits a second longer.
std::vector<StoredReport> with_long_waits(double input_share) {
  std::vector<StoredReport> reports;
  double time_s = 0;
  for (int i = 1; time_s < kLengthS - 1.5; ++i) {
    const double waits_s = 0.1 * input_share + (i % 20 == 0 ? 1 : 0);
    time_s += waits_s;
    reports.push_back({time_s, "pipe", *parse_report(fmt::format("phase input {}", waits_s))});
    time_s += 0.1 * (1 - input_share);
    reports.push_back({time_s, "pipe", *parse_report(fmt::format("step {}", i))});
  }
  return reports;
}

TEST(Advice, says_what_it_can_bring_by_itself) {
  const auto gain = [](double input_share) {
    PlantedRun run;
    const Diagnosis d = run.cpu(0.3, 0.3).steps(input_share).diagnose();
    return d.findings.at(0).advice_speedup.value_or(0);
  };
  EXPECT_NEAR(gain(0.3), 1 / 0.7, 0.02) << "all of the wait is hidden";
  EXPECT_NEAR(gain(0.7), 1 / 0.7, 0.02) << "as long as the rest of a step is";
  PlantedRun workers, stalls;
  workers.thread("worker0", 0.5, 0);
  EXPECT_EQ(workers.cpu(0.3, 0.3).steps(0.7).diagnose().findings.at(0).advice_speedup, std::nullopt)
      << "these load ahead already";
  // A step of 0.1 s hides a tenth of a wait of a second.
  const Diagnosis d = stalls.cpu(0.3, 0.3).report(with_long_waits(0.02)).diagnose();
  EXPECT_EQ(d.verdict, "input_bound");
  EXPECT_GT(*d.findings.at(0).max_speedup, 1.4);
  EXPECT_NEAR(*d.findings.at(0).advice_speedup, 1.05, 0.02);
}

TEST(Advice, says_how_many_workers_would_keep_up) {
  const auto advice = [](double cpus, double worker) {
    PlantedRun run;
    run.host(fmt::format(R"({{"threads": {}}})", cpus)).cpu(1.1, 1.15);
    run.thread("main", 0.3, 0).thread("worker0", worker, 0);
    return run.steps(0.7).diagnose().findings.at(0).advice;
  };
  EXPECT_NE(advice(8, 0.99).find("it had 1; about 4 workers would keep up"), std::string::npos)
      << advice(8, 0.99);
  EXPECT_EQ(advice(3, 0.99).find("keep up"), std::string::npos) << "more than there are CPUs";
}

TEST(Advice, workers_leave_the_main_thread_its_cpu) {
  const auto advice = [](double cpus) {
    PlantedRun run;
    run.host(fmt::format(R"({{"threads": {}}})", cpus)).cpu(1.3, 1.35);
    run.thread("main", 0.3, 0).thread("worker0", 0.99, 0);
    return run.steps(0.7).diagnose().findings.at(0).advice;
  };
  // Four workers, and the main thread: 0.31 cores in 0.3 of the time.
  EXPECT_NE(advice(6).find("about 4 workers would keep up"), std::string::npos) << advice(6);
  EXPECT_EQ(advice(5).find("keep up"), std::string::npos) << advice(5);
}

// 90 ms of each step of 100 ms load, of which the GPU computes 60 ms: it hides half of the loading.
TEST(Advice, workers_load_all_of_the_data_not_only_what_is_waited_for) {
  PlantedRun run;
  run.host(R"({"threads": 8})").cpu(1, 1.05).thread("main", 0.97, 0);
  run.level("job.gpu.memory.usage", {}, 1e9).level("hw.gpu.utilization", {{"gpu", "0"}}, 0.6);
  const Diagnosis d = run.steps(0.9).diagnose();
  ASSERT_FALSE(d.findings.empty());
  EXPECT_EQ(d.findings[0].id, "input_wait");
  EXPECT_NE(d.findings[0].advice.find("about 2 workers would keep up"), std::string::npos)
      << d.findings[0].advice;
}

// What the advice of the first finding brings by itself; 0: it does not say.
double first_gain(const PlantedRun& run, const std::string& rule) {
  const Diagnosis d = run.diagnose();
  EXPECT_FALSE(d.findings.empty());
  if (d.findings.empty()) return 0;
  EXPECT_EQ(d.findings[0].id, rule);
  EXPECT_LE(d.findings[0].advice_speedup.value_or(1), d.findings[0].max_speedup.value_or(0) + 1e-9);
  return d.findings[0].advice_speedup.value_or(0);
}

TEST(Advice, says_what_it_can_bring_to_a_job_that_reports_nothing) {
  PlantedRun on_main, on_disk, few_workers, small_files;
  on_main.cpu(1, 1.05).thread("main", 0.97, 0).rate("job.io.bytes", {{"direction", "read"}}, 9e6);
  on_main.level("job.gpu.memory.usage", {}, 1e9).level("hw.gpu.utilization", {{"gpu", "0"}}, 0.4);
  EXPECT_NEAR(first_gain(on_main, "input_main"), 1 / 0.6, 0.01) << "loads while the GPU computes";
  on_disk.cpu(0.2, 0.25).thread("main", 0.2, 0);
  on_disk.rate("job.thread.blocked", {{"on", "disk"}, {"role", "main"}}, 0.7);
  on_disk.rate("job.disk.io", {{"direction", "read"}}, 200e6);
  EXPECT_NEAR(first_gain(on_disk, "input_storage"), 1 / 0.7, 0.01);
  few_workers.host(R"({"threads": 8})").cpu(1.1, 1.15);
  few_workers.thread("main", 0.1, 0).thread("worker0", 0.99, 0);
  EXPECT_NEAR(first_gain(few_workers, "input_workers"), 8 / 0.99, 0.05) << "eight times one worker";
  PlantedRun uneven;
  uneven.host(R"({"threads": 8})").cpu(1.7, 1.75).thread("main", 0.1, 0);
  uneven.thread("worker0", 0.99, 0).thread("worker1", 0.55, 0);
  EXPECT_NEAR(first_gain(uneven, "input_workers"), 8 / (0.99 + 0.55), 0.05)
      << "not twice what the busier one does";
  small_files.cpu(0.5, 1).rate("job.cpu.time", {{"mode", "system"}}, 0.45);
  small_files.thread("main", 0.95, 0).rate("job.io.calls", {{"direction", "read"}}, 40e3);
  small_files.rate("job.io.bytes", {{"direction", "read"}}, 40e6);
  // Time in the kernel is only a part of what opening files costs: it bounds nothing.
  const Diagnosis files = small_files.diagnose();
  ASSERT_EQ(files.findings.at(0).id, "input_small_files");
  EXPECT_NEAR(files.findings[0].time_lost_s.value_or(0), 0.45 * kLengthS, 0.1);
  EXPECT_FALSE(files.findings[0].max_speedup);
  EXPECT_FALSE(files.findings[0].advice_speedup);
}

TEST(Advice, is_a_sentence_for_each) {
  for (size_t i = 0; i < static_cast<size_t>(Advice::count); ++i) {
    for (const Framework framework :
         {Framework::unknown, Framework::pytorch, Framework::tensorflow, Framework::jax}) {
      EXPECT_GT(advice_text(static_cast<Advice>(i), framework).size(), 10U) << i;
    }
  }
}

}  // namespace advice_test
}  // namespace trainscope
