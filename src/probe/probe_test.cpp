#include "probe/probe.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "probe/blocks.h"
#include "probe/probed_job.h"

namespace trainscope {
namespace probe_test {

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

TEST(Probe, one_pair_is_too_few) {
  ProbedJob job;
  job.add_pair("host", 0.01, 1.05, true, 0.0005);
  EXPECT_EQ(effect(job.result(), "host").reason, "1 pair of blocks is too few: try --for 10m");
}

TEST(Probe, more_time_is_not_suggested_for_a_job_that_ended_by_itself) {
  ProbedJob job;
  for (int i = 0; i < 3; ++i) job.add_pair("host", 0.01, 1.05, i % 2 == 0, 0.0005);
  for (const EndedBy ended_by : {EndedBy::exit, EndedBy::signal}) {
    job.set_ended_by(ended_by);
    EXPECT_EQ(effect(job.result(), "host").reason,
              "3 pairs of blocks are too few: the job ended before there were more");
  }
  job.set_ended_by(EndedBy::time_limit);
  EXPECT_EQ(effect(job.result(), "host").reason, "3 pairs of blocks are too few: try --for 10m");
  job.set_for("20m");
  EXPECT_EQ(effect(job.result(), "host").reason, "3 pairs of blocks are too few: try --for 40m");
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

// Whoever wrote it: such numbers would be shown, and overflow where they are counted.
TEST(Probe, numbers_that_no_block_can_have_are_not_believed) {
  const auto block_with = [](std::string_view pair, std::string_view discarded,
                             std::string_view duration, std::string_view given) {
    return parse_block(fmt::format("what=input changed=1 pair={} discarded={} duration={} given={}",
                                   pair, discarded, duration, given),
                       2);
  };
  ASSERT_TRUE(block_with("1", "2", "0.5", "0.1"));
  for (const char* wrong : {"nan", "inf", "-inf", "1e300", "9223372036854775808", "-1"}) {
    EXPECT_FALSE(block_with(wrong, "2", "0.5", "0.1")) << wrong;
    EXPECT_FALSE(block_with("1", wrong, "0.5", "0.1")) << wrong;
    EXPECT_FALSE(block_with("1", "2", wrong, "0.1")) << wrong;
    EXPECT_EQ(block_with("1", "2", "0.5", wrong)->given_s, 0) << wrong;
  }
}

}  // namespace probe_test
}  // namespace trainscope
