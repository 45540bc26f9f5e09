#include "probe/probe.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "probe/blocks.h"
#include "testing/fake_run.h"

namespace trainscope {
namespace probe_test {

constexpr int kStepsPerBlock = 12, kDiscarded = 2, kKept = kStepsPerBlock - kDiscarded;

// A job that is probed: its steps take `usual_s`, and `factor` times as long in changed blocks. The
// discarded steps of each block take ten times as long.
class ProbedJob {
 public:
  void add_pair(const std::string& what, double usual_s, double factor, bool is_first_changed,
                double slept_s = 0) {
    ++pair_;
    for (const bool is_first : {true, false}) {
      const bool is_changed = is_first == is_first_changed;
      const double step_s = is_changed ? usual_s * factor : usual_s;
      for (int i = 0; i < kDiscarded; ++i) add_step(10 * step_s);
      const double from_s = time_s_;
      for (int i = kDiscarded; i < kStepsPerBlock; ++i) add_step(step_s);
      run_.add_event(
          {time_s_, "mark",
           fmt::format("probe what={} changed={:d} pair={} steps=1-2 discarded={} "
                       "duration={:.9f} slept={:.9f} sleep={} given={:.9f} device={:d}{}",
                       what, is_changed, pair_, kDiscarded, time_s_ - from_s,
                       is_changed ? slept_s * kKept : 0, sleep_share,
                       is_changed ? given_s * kKept : 0, has_device, cpu_text(time_s_ - from_s))});
    }
  }
  void set_ended_by(EndedBy ended_by) { run_.set_ended_by(ended_by); }
  void add_mark(const std::string& text) { run_.add_event({time_s_, "mark", text}); }

  ProbeResult result() {
    Training training;
    training.details = std::make_shared<ListedSteps>(steps_);
    run_.set_training(training);
    auto read = read_probe(run_);
    EXPECT_TRUE(read && *read);
    return std::move(**read);
  }

  bool has_device = false;
  std::optional<double> cpu_share;  // of a processor, by the job's process
  double queued_share = 0;          // of the time, by its training thread
  double sleep_share = 0;           // that the host was to sleep
  double given_s = 0;               // to hand out a batch again

 private:
  std::string cpu_text(double duration_s) const {
    if (!cpu_share) return "";
    return fmt::format(" cpu={:.9f} queued={:.9f}", *cpu_share * duration_s,
                       queued_share * duration_s);
  }
  void add_step(double duration_s) {
    time_s_ += duration_s;
    Step step;
    step.time_s = time_s_;
    step.duration_s = duration_s;
    steps_.push_back(step);
  }

  FakeRun run_{0.1, 1000};
  std::vector<Step> steps_;
  double time_s_ = 0;
  int64_t pair_ = 0;
};

const ProbeEffect& effect(const ProbeResult& result, const std::string& what) {
  for (const ProbeEffect& one : result.effects) {
    if (one.what == what) return one;
  }
  ADD_FAILURE() << "no effect of " << what;
  return result.effects.front();
}

TEST(Probe, waiting_for_input_that_limits_is_proven) {
  ProbedJob job;
  const double factors[] = {0.58, 0.57, 0.59, 0.60, 0.56, 0.58, 0.58, 0.57};
  bool is_first = false;
  for (const double factor : factors) job.add_pair("input", 0.01, factor, is_first = !is_first);
  const ProbeResult result = job.result();
  const ProbeEffect& input = effect(result, "input");
  EXPECT_NEAR(*input.ratio, 0.58, 0.005);
  EXPECT_GT(*input.low, 0.56);
  EXPECT_LT(*input.high, 0.60);
  EXPECT_EQ(input.verdict, kLimiting);
  EXPECT_EQ(input.blocks, 16);
  EXPECT_EQ(input.discarded_steps, 32);
  EXPECT_TRUE(result.has_replaced_input);
  EXPECT_EQ(probe_conclusion(result), "input-bound, proven");
  EXPECT_EQ(effect_sentence(input),
            "without waiting for input steps take 0.58 [0.57, 0.59] of the time: input-bound, "
            "proven");
}

// Input that really is free does not take the time to hand out a batch again, which is a fifth of
// the steps here: the truth is between both.
TEST(Probe, the_time_to_hand_out_batches_again_widens_the_interval) {
  ProbedJob job;
  job.given_s = 0.002;
  for (int i = 0; i < 8; ++i) job.add_pair("input", 0.125, 0.080 + 0.001 * (i % 3 - 1), i % 2 == 0);
  const ProbeEffect input = effect(job.result(), "input");
  EXPECT_NEAR(*input.ratio, 0.080, 0.001);
  EXPECT_NEAR(*input.low, 0.064, 0.0015);
  EXPECT_NEAR(*input.high, 0.080, 0.0015);
  EXPECT_NEAR(input.given_share, 0.016, 1e-6);
  EXPECT_EQ(effect_sentence(input),
            "without waiting for input steps take 0.080 [0.063, 0.080] of the time (at most: "
            "handing out batches again takes 0.016 of it): input-bound, proven");
}

TEST(Probe, pairs_of_a_short_and_a_long_sleep_are_not_mixed) {
  ProbedJob job;
  const auto add_pairs = [&](double share, int count, double noise) {
    job.sleep_share = share;
    for (int i = 0; i < count; ++i)
      job.add_pair("host", 0.01, 1 + share + noise * (i % 3 - 1), i % 2 == 0, 0.01 * share);
  };
  add_pairs(0.05, 8, 0.1);
  EXPECT_EQ(effect(job.result(), "host").verdict, kCannotTell);
  add_pairs(0.2, 5, 0.05);  // too few
  EXPECT_EQ(effect(job.result(), "host").blocks, 16);
  add_pairs(0.2, 3, 0.05);
  const ProbeEffect host = effect(job.result(), "host");
  EXPECT_EQ(host.blocks, 16);
  EXPECT_NEAR(host.slept_share, 0.2, 1e-6);
  EXPECT_NEAR(*host.ratio, 1.2, 0.03);
  EXPECT_EQ(host.verdict, kLimiting);
}

TEST(Probe, steps_that_are_not_all_of_a_block_do_not_count) {
  FakeRun run(0.1, 100);
  std::vector<Step> steps(2);
  steps[0].time_s = 11;  // ten steps of 0.3 s, of which three were in the block
  steps[0].covers = 10;
  steps[0].duration_s = 0.3;
  steps[1].time_s = 11.1;
  steps[1].duration_s = 0.1;
  Training training;
  training.details = std::make_shared<ListedSteps>(steps);
  run.set_training(training);
  std::vector<ProbeBlock> blocks(1);
  blocks[0].from_s = 10;
  blocks[0].to_s = 12;
  ASSERT_TRUE(add_steps(run, blocks));
  EXPECT_EQ(blocks[0].steps, 1);
  EXPECT_DOUBLE_EQ(blocks[0].time_s, 0.1);
}

TEST(Probe, one_stall_does_not_move_the_answer) {
  ProbedJob job;
  for (int i = 0; i < 10; ++i) job.add_pair("input", 0.01, i == 4 ? 30 : 1, i % 2 == 0);
  const ProbeEffect input = effect(job.result(), "input");
  EXPECT_EQ(input.verdict, kNotLimiting);
  EXPECT_NEAR(*input.ratio, 1, 1e-6);
}

TEST(Probe, drift_is_not_an_effect) {
  ProbedJob job;
  for (int i = 0; i < 12; ++i) job.add_pair("input", 0.01 * std::pow(1.2, i), 1, i % 3 == 0);
  EXPECT_NEAR(*effect(job.result(), "input").ratio, 1, 1e-6);
}

TEST(Probe, too_few_pairs_cannot_tell) {
  ProbedJob job;
  for (int i = 0; i < 5; ++i) job.add_pair("input", 0.01, 0.5, i % 2 == 0);
  const ProbeResult result = job.result();
  const ProbeEffect& input = effect(result, "input");
  EXPECT_FALSE(input.ratio);
  EXPECT_EQ(input.verdict, kCannotTell);
  EXPECT_NE(input.reason.find("5 pairs"), std::string::npos);
  EXPECT_FALSE(result.is_anything_measured());
}

TEST(Probe, an_interval_that_contains_the_bound_cannot_tell) {
  ProbedJob job;
  const double factors[] = {0.80, 0.98, 0.85, 0.95, 0.88, 0.93, 0.90, 0.91};
  for (const double factor : factors) job.add_pair("input", 0.01, factor, true);
  EXPECT_EQ(effect(job.result(), "input").verdict, kCannotTell);
}

TEST(Probe, a_sleep_that_steps_grow_by_shows_a_critical_host) {
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
    EXPECT_EQ(probe_conclusion(result), has_device ? "launch-bound, proven" : "CPU-bound, proven");
  }
}

// On a busy machine: 20 % of a step were asked for, and the thread was away for 40 %.
TEST(Probe, what_a_late_waking_adds_decides_nothing) {
  const auto verdict_at = [](double factor) {
    ProbedJob job;
    job.sleep_share = 0.2;
    for (int i = 0; i < 8; ++i) {
      job.add_pair("host", 0.01, factor + 0.001 * (i % 3), i % 2 == 0, 0.004);
    }
    return effect(job.result(), "host").verdict;
  };
  EXPECT_EQ(verdict_at(1.05), kNotLimiting);
  EXPECT_EQ(verdict_at(1.15), kCannotTell) << "all of the sleep, or lost slack";
  EXPECT_EQ(verdict_at(1.25), kLimiting);
}

TEST(Probe, a_sleep_that_is_hidden_shows_a_device_that_limits) {
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

TEST(Probe, a_busy_device_is_not_waiting_for_launches) {
  ProbeResult result;
  result.has_device = true;
  result.effects.resize(2);
  result.effects[0].what = "input";
  result.effects[0].verdict = kNotLimiting;
  result.effects[1].what = "host";
  result.effects[1].verdict = kLimiting;
  EXPECT_EQ(probe_conclusion(result), "launch-bound, proven");
  result.device_busy = 0.5;
  EXPECT_EQ(probe_conclusion(result), "launch-bound, proven");
  result.device_busy = 0.99;
  EXPECT_EQ(
      probe_conclusion(result),
      "not launch-bound: the GPU is busy 99 % of the time, and the host waits for it in each step");
}

TEST(Probe, a_device_that_is_idle_for_long_does_not_limit_alone) {
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

TEST(Probe, a_job_that_computes_is_bound_by_processors_and_one_that_waits_is_not) {
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

TEST(Probe, half_of_the_processors_is_supporting_evidence) {
  ProbedJob job;
  for (int i = 0; i < 8; ++i) job.add_pair("processors", 0.01, 1.9, i % 2 == 0);
  const ProbeResult result = job.result();
  EXPECT_EQ(effect(result, "processors").verdict, kLimiting);
  EXPECT_NE(effect_sentence(effect(result, "processors")).find("supporting evidence"),
            std::string::npos);
  EXPECT_FALSE(result.has_replaced_input);
  EXPECT_EQ(probe_conclusion(result), "");
}

TEST(Probe, what_could_not_be_changed_has_a_reason) {
  ProbedJob job;
  job.add_mark("probe cannot input: the data loader has no length");
  job.add_mark("probe stopped in the data loader: ValueError: x");
  const ProbeResult result = job.result();
  EXPECT_EQ(effect_sentence(effect(result, "input")), "cannot tell: the data loader has no length");
  EXPECT_EQ(result.problem, "stopped in the data loader: ValueError: x");
}

TEST(Probe, a_time_that_was_too_short_has_a_suggestion) {
  ProbedJob job;
  for (int i = 0; i < 3; ++i) job.add_pair("host", 0.01, 1.05, i % 2 == 0, 0.0005);
  job.add_mark("probe cannot host: steps of 2 s are too long for it in this time: try --for 9m");
  const ProbeResult result = job.result();
  EXPECT_EQ(effect_sentence(effect(result, "host")),
            "cannot tell: 3 pairs of blocks are too few: steps of 2 s are too long for it in this "
            "time: try --for 9m");
}

TEST(Probe, more_time_is_not_suggested_for_a_job_that_ended_by_itself) {
  ProbedJob job;
  for (int i = 0; i < 3; ++i) job.add_pair("host", 0.01, 1.05, i % 2 == 0, 0.0005);
  job.set_ended_by(EndedBy::exit);
  EXPECT_EQ(effect(job.result(), "host").reason,
            "3 pairs of blocks are too few: the job ended before there were more");
  job.set_ended_by(EndedBy::time_limit);
  EXPECT_EQ(effect(job.result(), "host").reason, "3 pairs of blocks are too few: try --for 10m");
}

TEST(Probe, an_open_verdict_names_its_bound) {
  ProbedJob job;
  for (int i = 0; i < 8; ++i) job.add_pair("input", 0.01, i % 2 == 0 ? 0.8 : 1, true);
  const ProbeResult result = job.result();
  EXPECT_EQ(effect(result, "input").verdict, kCannotTell);
  EXPECT_NE(effect_sentence(effect(result, "input")).find("cannot tell: the bound is 0.90"),
            std::string::npos)
      << effect_sentence(effect(result, "input"));
}

// Half of the steps had no waits, so that the whole run says less of the input than is true.
TEST(Probe, what_the_input_bounds_is_what_was_proven) {
  ProbedJob job;
  for (int i = 0; i < 8; ++i) job.add_pair("input", 0.01, 0.2, i % 2 == 0);
  Diagnosis diagnosis;
  for (const char* id : {"input_wait", "checkpoint", "input_storage"}) {
    Finding finding;
    finding.id = id;
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

TEST(Probe, without_a_probe_each_effect_has_the_reason) {
  const ProbeResult result = nothing_measured("no steps");
  ASSERT_EQ(result.effects.size(), 3U);
  EXPECT_EQ(effect_sentence(effect(result, "host")), "cannot tell: no steps");
  EXPECT_FALSE(result.is_anything_measured());
}

TEST(Probe, marks_of_the_job_are_not_blocks) {
  FakeRun run(0.1, 10);
  run.add_event({1, "mark", "probe what=input"});
  run.add_event({2, "mark", "probe the model"});
  run.add_event({3, "note", "probe finished"});
  const auto read = read_probe(run);
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
  EXPECT_FALSE(parse_block("what=input changed=1 pair=x discarded=0 duration=1", 2));
  EXPECT_FALSE(parse_block("what=input changed=1 pair=1 discarded=0", 2));
}

}  // namespace probe_test
}  // namespace trainscope
