#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "analyze/analyze.h"
#include "testing/fake_run.h"
#include "testing/listed_reports.h"

namespace trainscope {

namespace step_time_analysis {
extern const Analysis entry;
}

namespace step_time_test {

// A training of known parts, as a job with phases reports it. It begins with the report of step 0,
// whose duration is unknown, or with a phase of its first step.
class Story {
 public:
  enum class Begin { step, phase };
  explicit Story(Begin begin = Begin::step) {
    if (begin == Begin::step) report("step 0");
  }

  // It waits for data first.
  Story& step(double seconds, double input_s = 0) {
    if (input_s > 0) phase("input", now_s_, input_s);
    now_s_ += seconds;
    report(fmt::format("step {}", ++steps_));
    return *this;
  }
  // Steps that are reported at the same time.
  Story& steps_together(int count, double seconds) {
    now_s_ += seconds;
    for (int i = 0; i < count; ++i) report(fmt::format("step {}", ++steps_));
    return *this;
  }
  Story& pause(const std::string& name, double seconds) {
    phase(name, now_s_, seconds);
    now_s_ += seconds;
    return *this;
  }
  // A phase during the last pause.
  Story& nested(const std::string& name, double seconds_before_end, double seconds) {
    phase(name, now_s_ - seconds_before_end, seconds);
    return *this;
  }
  // Reported by its begin and its end, with phases in it.
  Story& evaluation_with(const std::string& name, double seconds, double each_s, int count) {
    report("begin evaluation");
    for (int i = 0; i < count; ++i) phase(name, now_s_ + i * seconds / count, each_s);
    now_s_ += seconds;
    report("end evaluation");
    return *this;
  }
  AnalysisResult analyze() const {
    FakeRun run(0.1, now_s_);
    run.set_training(read_listed(reports_, now_s_));
    auto analyzed = step_time_analysis::entry.analyze(run);
    EXPECT_TRUE(analyzed);
    return *analyzed;
  }

 private:
  void report(const std::string& line) {
    reports_.push_back({now_s_, "pipe", *parse_report(line)});
  }
  void phase(const std::string& name, double from_s, double seconds) {
    Report report;
    report.kind = Report::Kind::phase;
    report.name = name;
    report.value = seconds;
    reports_.push_back({from_s + seconds, "pipe", report});
  }

  std::vector<StoredReport> reports_;
  int64_t steps_ = 0;
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

TEST(StepTime, time_of_nested_pauses_belongs_to_the_innermost) {
  Story story;
  for (int i = 0; i < 10; ++i) story.step(1);
  story.pause("evaluation", 10)
      .nested("checkpoint", 9, 8)
      .nested("evaluation", 8, 7)
      .nested("checkpoint", 7, 6);
  for (int i = 0; i < 10; ++i) story.step(1);
  const AnalysisResult analyzed = story.analyze();
  std::vector<double> lost_s;
  for (const Pause& pause : analyzed.pauses) lost_s.push_back(pause.lost_s);
  EXPECT_EQ(lost_s, (std::vector<double>{2, 1, 1, 6}));
  EXPECT_DOUBLE_EQ(times(analyzed).at("evaluation"), 3);
  EXPECT_DOUBLE_EQ(times(analyzed).at("checkpoint"), 7);
}

TEST(StepTime, time_of_pauses_that_overlap_counts_once) {
  Story story;
  for (int i = 0; i < 10; ++i) story.step(1);
  story.pause("evaluation", 10).nested("checkpoint", 4, 8).nested("checkpoint", 10, 1);
  const AnalysisResult analyzed = story.analyze();
  EXPECT_DOUBLE_EQ(times(analyzed).at("evaluation"), 5);
  EXPECT_DOUBLE_EQ(times(analyzed).at("checkpoint"), 9) << "one begins with the evaluation";
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

TEST(StepTime, a_pause_after_the_last_step_is_after_it) {
  Story story;
  for (int i = 0; i < 20; ++i) story.step(0.05, 0.01);
  story.pause("checkpoint", 0.2);
  const AnalysisResult last = story.analyze();
  ASSERT_EQ(last.pauses.size(), 1U);
  EXPECT_TRUE(last.pauses[0].is_after_last_step);
  EXPECT_TRUE(last.findings[0].evidence[0].ends_with("after step 20"))
      << last.findings[0].evidence[0];
  const AnalysisResult between = story.step(0.05, 0.01).analyze();
  EXPECT_FALSE(between.pauses[0].is_after_last_step);
  EXPECT_TRUE(between.findings[0].evidence[0].ends_with("before step 21"));
}

TEST(StepTime, pauses_at_regular_intervals_have_a_period) {
  const auto evidence_of = [](bool is_regular) {
    Story story;
    for (int i = 1; i <= 60; ++i) {
      const bool is_long = is_regular ? i % 10 == 0 : i == 11 || i == 14 || i == 30 || i == 59;
      story.step(is_long ? 0.55 : 0.05, is_long ? 0.5 : 0.001);
    }
    return story.analyze().findings.at(0).evidence;
  };
  ASSERT_EQ(evidence_of(true).size(), 2U);
  EXPECT_EQ(evidence_of(true)[1], "one about every 1.0 s, every 10 steps");
  EXPECT_EQ(evidence_of(false).size(), 1U);
}

TEST(StepTime, what_compute_phases_do_not_fill_is_unexplained) {
  Story story;
  for (int i = 0; i < 20; ++i) story.step(0.1).nested("backward", 0.05, 0.01);
  const auto parts = times(story.analyze());
  EXPECT_NEAR(parts.at("compute"), 20 * 0.01, 1e-9);
  EXPECT_NEAR(parts.at("unexplained"), 20 * 0.09, 0.1);
  EXPECT_FALSE(parts.contains("input"));
}

TEST(StepTime, transfer_and_communication_are_no_compute) {
  Story waiting(Story::Begin::phase), computing;
  waiting.step(3, 2.9);
  for (int i = 0; i < 20; ++i) {
    waiting.step(0.1, 0.01).nested("transfer", 0.08, 0.03).nested("communication", 0.02, 0.02);
    computing.step(0.1).nested("backward", 0.05, 0.01).nested("transfer", 0.08, 0.03);
  }
  const auto divided = times(waiting.analyze());
  EXPECT_NEAR(divided.at("transfer"), 20 * 0.03, 0.05);
  EXPECT_NEAR(divided.at("communication"), 20 * 0.02, 0.05);
  EXPECT_NEAR(divided.at("compute"), 21 * 0.09 - 20 * 0.05, 0.1);
  const auto reported = times(computing.analyze());
  EXPECT_NEAR(reported.at("transfer"), 20 * 0.03, 1e-9);
  EXPECT_NEAR(reported.at("compute"), 20 * 0.01, 1e-9);
}

// Steps of 22 ms, 2 ms of them communication, but of one step more.
std::map<std::string, double> with_one_long_collective(int long_step, double seconds) {
  Story story(Story::Begin::phase);
  for (int i = 0; i < 80; ++i) {
    const double communication_s = i == long_step ? seconds : 0.002;
    story.step(0.0201 + communication_s, 0.0001)
        .nested("forward", communication_s + 0.02, 0.02)
        .nested("communication", communication_s, communication_s);
  }
  return times(story.analyze());
}

TEST(StepTime, a_slow_first_collective_is_warm_up) {
  const auto parts = with_one_long_collective(0, 2);
  EXPECT_NEAR(parts.at("warmup"), 1.998, 0.01);
  EXPECT_NEAR(parts.at("communication"), 80 * 0.002, 0.01);
  EXPECT_NEAR(parts.at("compute"), 80 * 0.02, 0.01);
}

TEST(StepTime, a_long_collective_is_no_compute_either) {
  const auto parts = with_one_long_collective(40, 1.5);
  EXPECT_NEAR(parts.at("communication"), 79 * 0.002 + 1.5, 0.01);
  EXPECT_NEAR(parts.at("compute"), 80 * 0.02, 0.01);
}

// DistributedDataParallel reduces gradients while the backward pass goes on.
TEST(StepTime, collectives_within_the_backward_pass_explain_no_step_that_is_long) {
  Story story(Story::Begin::phase);
  for (int i = 0; i < 80; ++i) {
    const double stalled_s = i == 30 || i == 60 ? 0.5 : 0;
    story.step(0.0201 + stalled_s, 0.0001)
        .nested("communication", 0.012, 0.01)
        .nested("backward", 0.02, 0.02);
  }
  const auto parts = times(story.analyze());
  EXPECT_NEAR(parts.at("unexplained"), 1 - 2 * 0.01, 0.005);
  EXPECT_NEAR(parts.at("communication"), 80 * 0.01, 0.01);
  EXPECT_NEAR(parts.at("compute"), 80 * 0.01 + 2 * 0.01, 0.01);
}

TEST(StepTime, copies_of_an_evaluation_are_no_part_of_the_steps) {
  Story story(Story::Begin::phase);
  for (int i = 0; i < 40; ++i) {
    story.step(0.023, 0.001).nested("transfer", 0.022, 0.002);
    if (i == 20) story.evaluation_with("transfer", 0.8, 0.06, 10);
  }
  const auto parts = times(story.analyze());
  EXPECT_NEAR(parts.at("transfer"), 40 * 0.002, 0.01);
  EXPECT_NEAR(parts.at("evaluation"), 0.8, 1e-9);
}

TEST(StepTime, a_job_that_reports_only_transfer_has_that_part) {
  Story story;
  for (int i = 0; i < 20; ++i) story.step(0.03).nested("transfer", 0.025, 0.02);
  const AnalysisResult analyzed = story.analyze();
  EXPECT_NEAR(times(analyzed).at("transfer"), 20 * 0.02, 1e-9);
  EXPECT_NEAR(times(analyzed).at("unexplained"), 20 * 0.01, 1e-9);
  EXPECT_EQ(analyzed.unknown, "no input or compute phases reported; see trainscope send --help");
}

// Layers may have phases too, and be reported before anything else.
TEST(StepTime, many_names_of_the_job_hide_no_part) {
  Story story;
  for (int i = 0; i < 20; ++i) {
    story.step(0.1, 0.01);
    for (int layer = 0; layer < 100; ++layer) {
      story.nested(fmt::format("layer{}", layer), 0.08, 0.0001);
    }
    story.nested("transfer", 0.05, 0.03);
  }
  EXPECT_NEAR(times(story.analyze()).at("transfer"), 20 * 0.03, 1e-9);
}

TEST(StepTime, phases_with_names_of_the_job_are_phases) {
  Story story;
  for (int i = 0; i < 20; ++i) story.step(0.1).nested("augment", 0.05, 0.03);
  EXPECT_EQ(story.analyze().unknown,
            "no input or compute phases reported; see trainscope send --help");
}

TEST(StepTime, evaluations_can_be_fewer) {
  Story story;
  for (int i = 0; i < 20; ++i) story.step(0.05, 0.01);
  story.pause("evaluation", 0.5).step(0.05, 0.01);
  const AnalysisResult analyzed = story.analyze();
  ASSERT_EQ(analyzed.findings.size(), 1U);
  EXPECT_TRUE(analyzed.findings[0].advice.starts_with("evaluate less often"));
}

TEST(StepTime, a_step_that_is_long_is_not_before_itself) {
  Story story;
  for (int i = 1; i <= 20; ++i) story.step(i == 7 ? 0.5 : 0.05);
  const AnalysisResult analyzed = story.analyze();
  ASSERT_EQ(analyzed.findings.size(), 1U);
  EXPECT_TRUE(analyzed.findings[0].evidence[0].ends_with("in step 7"))
      << analyzed.findings[0].evidence[0];
}

TEST(StepTime, a_slow_first_batch_is_warm_up) {
  Story story(Story::Begin::phase);
  story.step(3, 2.95);
  for (int i = 0; i < 20; ++i) story.step(0.05, 0.001);
  const AnalysisResult first = story.analyze();
  EXPECT_NEAR(times(first).at("warmup"), 2.949, 1e-6);
  EXPECT_NEAR(times(first).at("input"), 21 * 0.001, 1e-6);
  EXPECT_TRUE(first.pauses.empty());
}

TEST(StepTime, warm_up_is_its_own_part) {
  Story story;
  story.step(2, 0.01);
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
  const auto analyzed = step_time_analysis::entry.analyze(run);
  ASSERT_TRUE(analyzed);
  EXPECT_FALSE(analyzed->is_applicable);
  EXPECT_TRUE(analyzed->breakdown.empty());
  EXPECT_TRUE(analyzed->findings.empty());
  EXPECT_EQ(analyzed->unknown, "no training steps were reported");
}

TEST(StepTime, a_step_without_a_time_of_its_own_is_no_pause) {
  Story story;
  for (int i = 0; i < 20; ++i) story.step(0.05);
  story.steps_together(2, 2);
  const AnalysisResult analyzed = story.analyze();
  EXPECT_TRUE(analyzed.pauses.empty());
  EXPECT_NEAR(times(analyzed).at("unexplained"), 20 * 0.05 + 2, 1e-9)
      << "its time has gone somewhere";
}

// More steps are long than an overview keeps: all are read again.
TEST(StepTime, thousands_of_long_steps_are_all_found) {
  Story story;
  for (int i = 0; i < 15'000; ++i) story.step(i % 3 == 2 ? 1 : 0.1);
  const AnalysisResult analyzed = story.analyze();
  EXPECT_EQ(analyzed.pauses.size(), 5000U);
  EXPECT_NEAR(times(analyzed).at("unexplained"), 15'000 / 3 * 1.2, 1e-6);
}

}  // namespace step_time_test
}  // namespace trainscope
