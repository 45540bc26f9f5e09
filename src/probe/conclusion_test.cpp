// What the effects of a probe mean together, and what they bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/probe.h"
#include "probe/probed_job.h"

namespace trainscope {
namespace conclusion_test {

using testing::HasSubstr;

TEST(ProbeConclusion, a_sleep_that_steps_grow_by_shows_a_critical_host) {
  for (const bool has_device : {false, true}) {
    ProbedJob job;
    job.has_device = has_device;
    for (int i = 0; i < 8; ++i) {
      job.add_pair("input", 0.01, 1.0, i % 2 == 0);
      job.add_pair("host", 0.01, 1.05 + 0.001 * (i % 3), i % 2 == 0, 0.0005);
    }
    const ProbeResult result = job.result();
    EXPECT_EQ(effect(result, "host").verdict, kLimiting);
    EXPECT_NEAR(effect(result, "host").slept_share, 0.05, 1e-6);
    EXPECT_EQ(probe_conclusion(result),
              has_device ? "the host thread is critical, proven; whether the GPU of the job is "
                           "full as well is unknown"
                         : "CPU-bound, proven");
  }
}

TEST(ProbeConclusion, a_sleep_that_is_hidden_shows_a_device_that_limits) {
  ProbedJob job;
  job.has_device = true;
  for (int i = 0; i < 8; ++i) {
    job.add_pair("input", 0.01, 0.99, i % 2 == 0);
    job.add_pair("host", 0.01, 1.0 + 0.001 * (i % 3), i % 2 == 0, 0.0005);
  }
  const ProbeResult result = job.result();
  EXPECT_EQ(effect(result, "host").verdict, kNotLimiting);
  EXPECT_EQ(probe_conclusion(result), "GPU-bound, proven");
}

TEST(ProbeConclusion, a_busy_device_is_not_waiting_for_launches) {
  ProbeResult result;
  result.has_device = true;
  result.effects.resize(2);
  result.effects[0].what = "input";
  result.effects[0].verdict = kNotLimiting;
  result.effects[1].what = "host";
  result.effects[1].verdict = kLimiting;
  EXPECT_THAT(probe_conclusion(result),
              HasSubstr("whether the GPU of the job is full as well is unknown"));
  result.device_busy = 0.5;
  EXPECT_EQ(probe_conclusion(result), "launch-bound, proven");
  result.device_busy = 0.99;
  EXPECT_EQ(
      probe_conclusion(result),
      "not launch-bound: the GPU is busy 99 % of the time, and the host waits for it in each step");
}

TEST(ProbeConclusion, a_device_that_is_idle_for_long_does_not_limit_alone) {
  ProbeResult result;
  result.has_device = true;
  result.effects.resize(2);
  result.effects[0].what = "input";
  result.effects[1].what = "host";
  for (ProbeEffect& one : result.effects) one.verdict = kNotLimiting;
  EXPECT_EQ(probe_conclusion(result), "GPU-bound, proven");
  result.device_busy = 0.95;
  EXPECT_EQ(probe_conclusion(result), "GPU-bound, proven");
  result.device_busy = 0.5;
  EXPECT_EQ(probe_conclusion(result),
            "the host waits for the GPU in each step, but the GPU is busy only 50 % of the time");
}

// The neighbour's GPU is full; that of the job has time left.
TEST(ProbeConclusion, only_the_gpu_of_the_job_counts) {
  const auto busy_with = [](std::optional<double> memory, bool has_neighbour = true) {
    ProbedJob job;
    job.has_device = true;
    job.add_pair("host", 0.01, 1.0, true, 0.0005);
    job.add_gpu("hw.gpu.utilization", "0", 0.3);
    if (has_neighbour) job.add_gpu("hw.gpu.utilization", "1", 0.99);
    if (memory) {
      job.add_gpu("job.gpu.memory.usage", "0", *memory);
      job.add_gpu("job.gpu.memory.usage", "1", 0);
    }
    return job.result().device_busy;
  };
  EXPECT_NEAR(busy_with(1e9).value_or(-1), 0.3, 1e-6);
  EXPECT_FALSE(busy_with(std::nullopt)) << "which of two is not known";
  EXPECT_FALSE(busy_with(0)) << "a container hides the job from the driver";
  EXPECT_NEAR(busy_with(std::nullopt, false).value_or(-1), 0.3, 1e-6);
}

TEST(ProbeConclusion, a_job_that_computes_is_bound_by_processors_and_one_that_waits_is_not) {
  struct {
    double cpu_share, queued_share, half_of_processors;
    const char* expected;
  } const cases[] = {
      {1.9, 0, 1.62, "CPU-bound, proven: with half of the processors steps take 1.62 of the time"},
      {1.0, 0, 1.00,
       "CPU-bound, proven: half of the processors are enough, so single threads limit"},
      // Others take half of the processor that it could use.
      {0.5, 0.45, 1.00,
       "CPU-bound, proven: half of the processors are enough, so single threads limit"},
      {0.05, 0.05, 1.00,
       "host-bound, proven: the training thread limits but mostly waits (the job uses 0.05 "
       "processors)"}};
  for (const auto& one : cases) {
    ProbedJob job;
    job.cpu_share = one.cpu_share;
    job.queued_share = one.queued_share;
    for (int i = 0; i < 8; ++i) {
      job.add_pair("input", 0.01, 1.0, i % 2 == 0);
      job.add_pair("host", 0.01, 1.05, i % 2 == 0, 0.0005);
      job.add_pair("processors", 0.01, one.half_of_processors, i % 2 == 0);
    }
    EXPECT_EQ(probe_conclusion(job.result()), one.expected);
  }
}

TEST(ProbeConclusion, half_of_the_processors_is_supporting_evidence) {
  ProbedJob job;
  for (int i = 0; i < 8; ++i) job.add_pair("processors", 0.01, 1.9, i % 2 == 0);
  const ProbeResult result = job.result();
  EXPECT_EQ(effect(result, "processors").verdict, kLimiting);
  EXPECT_NE(effect_sentence(effect(result, "processors")).find("supporting evidence"),
            std::string::npos);
  EXPECT_FALSE(result.has_replaced_input);
  EXPECT_EQ(probe_conclusion(result), "");
}

// More threads than processors may be all that makes steps longer then.
TEST(ProbeConclusion, half_of_the_processors_proves_nothing_of_threads_that_are_not_lowered) {
  ProbedJob job;
  job.has_own_threads = true;
  job.cpu_share = 1.9;
  for (int i = 0; i < 8; ++i) {
    job.add_pair("input", 0.01, 1.0, i % 2 == 0);
    job.add_pair("host", 0.01, 1.05, i % 2 == 0, 0.0005);
    job.add_pair("processors", 0.01, 1.9, i % 2 == 0);
  }
  const ProbeResult result = job.result();
  EXPECT_EQ(probe_conclusion(result), "CPU-bound, proven");
  EXPECT_THAT(effect_sentence(effect(result, "processors")),
              HasSubstr("as many threads as before shared them, which may be the reason"));
}

// Half of the steps had no waits, so that the whole run says less of the input than is true.
TEST(ProbeConclusion, what_the_input_bounds_is_what_was_proven) {
  ProbedJob job;
  for (int i = 0; i < 8; ++i) job.add_pair("input", 0.01, 0.2, i % 2 == 0);
  Diagnosis diagnosis;
  for (const char* id : {"input_wait", "checkpoint", "input_storage"}) {
    Finding finding;
    finding.id = id;
    finding.from_s = 0.5;
    if (diagnosis.findings.size() < 2) finding.max_speedup = 3;
    diagnosis.findings.push_back(finding);
  }
  bound_by_proof(job.result(), diagnosis);
  EXPECT_NEAR(*diagnosis.findings[0].max_speedup, 5, 1e-6);
  EXPECT_EQ(diagnosis.findings[1].max_speedup, 3);
  EXPECT_FALSE(diagnosis.findings[2].max_speedup);
  diagnosis.findings[0].max_speedup = 3;
  bound_by_proof(nothing_measured("no loader"), diagnosis);
  EXPECT_EQ(diagnosis.findings[0].max_speedup, 3);
}

Finding input_finding(double max_speedup) {
  Finding finding;
  finding.id = "input_wait";
  finding.max_speedup = max_speedup;
  finding.from_s = 0.5;  // Findings of the whole training have a begin and an end, too.
  finding.to_s = 9.5;
  return finding;
}

TEST(ProbeConclusion, an_open_verdict_bounds_nothing) {
  ProbedJob job;
  const double factors[] = {0.80, 0.98, 0.85, 0.95, 0.88, 0.93, 0.90, 0.91};
  for (const double factor : factors) job.add_pair("input", 0.01, factor, true);
  Diagnosis diagnosis;
  diagnosis.findings = {input_finding(3)};
  bound_by_proof(job.result(), diagnosis);
  EXPECT_EQ(diagnosis.findings[0].max_speedup, 3);
}

// The effect is one of the whole run.
TEST(ProbeConclusion, a_finding_of_a_part_of_the_run_is_left_alone) {
  ProbedJob job;
  for (int i = 0; i < 8; ++i) job.add_pair("input", 0.01, 0.2, i % 2 == 0);
  Diagnosis diagnosis;
  diagnosis.findings = {input_finding(1.1)};
  diagnosis.findings[0].is_of_part = true;
  bound_by_proof(job.result(), diagnosis);
  EXPECT_EQ(diagnosis.findings[0].max_speedup, 1.1);
}

TEST(ProbeConclusion, an_advice_promises_no_more_than_was_proven) {
  ProbedJob job;
  for (int i = 0; i < 8; ++i) job.add_pair("input", 0.01, 0.8, i % 2 == 0);
  Diagnosis diagnosis;
  diagnosis.findings = {input_finding(3), input_finding(1.1)};
  diagnosis.findings[0].advice = "more workers; that alone: at most 2.40 times as fast";
  diagnosis.findings[0].advice_speedup = 2.4;
  diagnosis.findings[1].advice = "more workers; that alone: at most 1.10 times as fast";
  diagnosis.findings[1].advice_speedup = 1.1;
  bound_by_proof(job.result(), diagnosis);
  EXPECT_NEAR(*diagnosis.findings[0].advice_speedup, 1.25, 1e-6);
  EXPECT_EQ(diagnosis.findings[0].advice, "more workers; that alone: at most 1.25 times as fast");
  EXPECT_EQ(*diagnosis.findings[1].advice_speedup, 1.1);
  EXPECT_THAT(diagnosis.findings[1].advice, HasSubstr("1.10"));
}

}  // namespace conclusion_test
}  // namespace trainscope
