#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "analyze/analyze.h"
#include "base/distribution.h"
#include "testing/fake_run.h"

namespace trainscope {

extern const Analysis step_time_analysis;

namespace {

// A training of known parts, as a job with phases would report it.
class Story {
 public:
  Story& step(double seconds, double input_s = 0) {
    Step step;
    if (input_s > 0) {
      training_.has_input_phases = true;
      step.input_wait_s = input_s;
      step.longest_wait_from_s = now_s_;
      step.longest_wait_to_s = now_s_ + input_s;
    }
    now_s_ += seconds;
    step.step = static_cast<int64_t>(steps_.size()) + 1;
    step.time_s = now_s_;
    step.duration_s = seconds;
    steps_.push_back(step);
    return *this;
  }
  Story& pause(const std::string& name, double seconds) {
    training_.phases.push_back({name, "", now_s_, now_s_ + seconds, false});
    now_s_ += seconds;
    return *this;
  }
  // A pause with a checkpoint in the middle of it.
  Story& pause_around_checkpoint(const std::string& name, double seconds, double checkpoint_s) {
    const double from_s = now_s_ + (seconds - checkpoint_s) / 2;
    pause(name, seconds);
    training_.phases.push_back({"checkpoint", "", from_s, from_s + checkpoint_s, false});
    return *this;
  }
  // The last step has no own time.
  Story& untimed() {
    Step& step = steps_.back();
    step.average_s = std::exchange(step.duration_s, std::nullopt);
    return *this;
  }
  Story& warm_up() {
    steps_.back().kind = "warmup";
    return *this;
  }
  AnalysisResult analyze() const {
    Training training = training_;
    Distribution durations, rests;
    for (const Step& step : steps_) {
      if (!step.duration_s || step.kind == "warmup") continue;
      durations.add(*step.duration_s);
      rests.add(*step.duration_s - step.input_wait_s.value_or(0));
    }
    training.statistics.typical_s = durations.median();
    training.statistics.typical_rest_s = rests.median();
    training.statistics.deviation_s = durations.median_distance(durations.median());
    training.observed = static_cast<int64_t>(steps_.size());
    training.details = std::make_shared<ListedSteps>(steps_);
    FakeRun run(0.1, now_s_);
    run.set_training(training);
    auto analyzed = step_time_analysis.analyze(run);
    EXPECT_TRUE(analyzed);
    return *analyzed;
  }

 private:
  Training training_;
  std::vector<Step> steps_;
  double now_s_ = 1;
};

std::map<std::string, double> times(const AnalysisResult& analyzed) {
  std::map<std::string, double> all;
  for (const BreakdownPart& part : analyzed.breakdown) all[part.part] = part.time_s;
  return all;
}

std::map<std::string, int> pauses(const AnalysisResult& analyzed) {
  std::map<std::string, int> all;
  for (const Pause& pause : analyzed.pauses) ++all[pause.kind];
  return all;
}

TEST(StepTime, known_parts_are_found_again) {
  Story story;
  for (int i = 0; i < 23; ++i) {
    const bool stalled = i % 3 == 2;  // 7 of 23
    story.step(stalled ? 0.45 : 0.05, stalled ? 0.41 : 0.01);
    if (i == 9 || i == 19) story.pause("checkpoint", 0.2);
    if (i == 14) story.pause("evaluation", 0.3);
  }
  const AnalysisResult analyzed = story.analyze();
  EXPECT_EQ(pauses(analyzed),
            (std::map<std::string, int>{{"input", 7}, {"checkpoint", 2}, {"evaluation", 1}}));
  const auto parts = times(analyzed);
  EXPECT_NEAR(parts.at("input"), 7 * 0.41 + 16 * 0.01, 1e-9);
  EXPECT_NEAR(parts.at("compute"), 23 * 0.04, 1e-9);
  EXPECT_NEAR(parts.at("checkpoint"), 0.4, 1e-9);
  EXPECT_NEAR(parts.at("evaluation"), 0.3, 1e-9);
  EXPECT_FALSE(parts.contains("unexplained"));
  double sum = 0;
  for (const BreakdownPart& part : analyzed.breakdown) sum += part.share;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(analyzed.unknown, "");
  // Where it waited, not where the step began.
  EXPECT_NEAR(analyzed.pauses[0].to_s - analyzed.pauses[0].from_s, 0.41, 1e-9);
  EXPECT_NEAR(analyzed.pauses[0].lost_s, 0.4, 1e-9);
  EXPECT_EQ(analyzed.pauses[0].step, 3);
  ASSERT_EQ(analyzed.findings.size(), 3U) << "one per kind of pause";
  const Finding& input = analyzed.findings[2];
  EXPECT_EQ(input.id, "pauses_input");
  EXPECT_EQ(input.severity, "info");
  EXPECT_EQ(input.summary, "7 input pauses took 2.8 s");
  EXPECT_NEAR(input.time_lost_s.value(), 7 * 0.4, 1e-9);
  const double all_s = 23 * 0.04 + 7 * 0.41 + 16 * 0.01 + 0.4 + 0.3;
  EXPECT_NEAR(input.max_speedup.value(), all_s / (all_s - 7 * 0.4), 1e-9);
  EXPECT_EQ(input.from_s, analyzed.pauses[0].from_s);
}

TEST(StepTime, time_of_nested_pauses_counts_once) {
  Story story;
  for (int i = 0; i < 10; ++i) story.step(1);
  story.pause_around_checkpoint("evaluation", 10, 4);
  for (int i = 0; i < 10; ++i) story.step(1);
  double lost_s = 0;
  for (const Pause& pause : story.analyze().pauses) lost_s += pause.lost_s;
  EXPECT_DOUBLE_EQ(lost_s, 10);
}

TEST(StepTime, without_phases_everything_is_unexplained) {
  Story story;
  for (int i = 0; i < 20; ++i) story.step(i == 7 ? 0.5 : 0.05);
  const AnalysisResult analyzed = story.analyze();
  EXPECT_EQ(pauses(analyzed), (std::map<std::string, int>{{"unexplained", 1}}));
  ASSERT_EQ(analyzed.breakdown.size(), 1U);
  EXPECT_EQ(analyzed.breakdown[0].part, "unexplained");
  EXPECT_NE(analyzed.unknown.find("no phases reported; see trainscope send"), std::string::npos);
}

TEST(StepTime, what_no_phase_fills_is_unexplained) {
  Story story;
  for (int i = 0; i < 20; ++i) story.step(i == 7 ? 0.5 : 0.05, 0.01);
  const auto parts = times(story.analyze());
  EXPECT_NEAR(parts.at("unexplained"), 0.45, 1e-9);
  EXPECT_NEAR(parts.at("compute"), 20 * 0.04, 1e-9);
}

TEST(StepTime, warm_up_is_its_own_part) {
  Story story;
  story.step(2, 0.01).warm_up();
  for (int i = 0; i < 20; ++i) story.step(0.05, 0.01);
  const auto parts = times(story.analyze());
  EXPECT_NEAR(parts.at("warmup"), 2 - 0.05, 1e-9);
  EXPECT_TRUE(pauses(story.analyze()).empty());
}

TEST(StepTime, usual_scatter_is_no_pause) {
  Story story;
  for (int i = 0; i < 40; ++i) story.step(0.02 + 0.001 * (i % 13), 0.002);
  EXPECT_TRUE(story.analyze().pauses.empty());
}

TEST(StepTime, a_run_without_steps_says_so) {
  FakeRun run(0.1, 1);
  Training nothing;
  nothing.reason = "no training steps were reported";
  run.set_training(nothing);
  const auto analyzed = step_time_analysis.analyze(run);
  ASSERT_TRUE(analyzed);
  EXPECT_FALSE(analyzed->is_applicable);
  EXPECT_TRUE(analyzed->breakdown.empty());
  EXPECT_TRUE(analyzed->findings.empty());
  EXPECT_EQ(analyzed->unknown, "no training steps were reported");
}

TEST(StepTime, a_step_without_a_time_of_its_own_is_no_pause) {
  Story story;
  for (int i = 0; i < 20; ++i) story.step(0.05);
  story.step(2).untimed();
  const AnalysisResult analyzed = story.analyze();
  EXPECT_TRUE(analyzed.pauses.empty());
  EXPECT_NEAR(times(analyzed).at("unexplained"), 20 * 0.05 + 2, 1e-9)
      << "its time has gone somewhere";
}

}  // namespace
}  // namespace trainscope
