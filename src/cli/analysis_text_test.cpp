#include "cli/analysis_text.h"

#include <gtest/gtest.h>

#include <set>

#include "base/json.h"
#include "cli/training_text.h"
#include "document/document.h"
#include "testing/fake_run.h"

namespace trainscope {
namespace analysis_text_test {

using Rows = std::vector<std::pair<std::string, std::string>>;

AnalysisResult result_of(std::vector<BreakdownPart> breakdown) {
  AnalysisResult result;
  result.breakdown = std::move(breakdown);
  return result;
}

// Twenty steps of 50 ms, one of which took half a second.
Training training_with_a_pause() {
  Training training;
  training.source = "pipe";
  training.count = training.observed = 20;
  training.statistics.typical_s = training.statistics.typical_rest_s = 0.05;
  std::vector<Step> steps;
  double now_s = 1;
  for (int64_t k = 1; k <= 20; ++k) {
    Step step;
    step.step = k;
    step.duration_s = k == 8 ? 0.5 : 0.05;
    now_s += *step.duration_s;
    step.time_s = now_s;
    steps.push_back(step);
  }
  training.details = std::make_shared<ListedSteps>(std::move(steps));
  return training;
}

TEST(AnalysisText, rows_of_every_analysis_that_applies) {
  const Analysis first = {"first", "one", "", "", "", nullptr};
  const Analysis second = {"second", "two", "", "", "", nullptr};
  AnalysisResult not_applicable;
  not_applicable.is_applicable = false;
  not_applicable.unknown = "nothing was reported";
  AnalysisResult unknown = result_of({{"unexplained", 1, 2}});
  unknown.unknown = "the job reports no phases";
  EXPECT_EQ(
      analysis_rows({{&first, result_of({{"a", 0.25, 1}, {"b", 0.75, 3}})},
                     {&first, not_applicable},
                     {&first, AnalysisResult()},
                     {&second, unknown}}),
      (Rows{{"one", "a 25% · b 75%"}, {"two", "unexplained 100%: the job reports no phases"}}));
}

TEST(AnalysisText, findings_above_info_have_a_row) {
  const Analysis analysis = {"any", "any", "", "", "", nullptr};
  AnalysisResult result;
  result.findings.resize(2);
  result.findings[0].severity = "info";
  result.findings[0].summary = "fact";
  result.findings[1].severity = "warning";
  result.findings[1].summary = "4 workers for 8 GPUs";
  result.findings[1].advice = "use 16 workers";
  EXPECT_EQ(analysis_rows({{&analysis, result}}),
            (Rows{{"warning", "4 workers for 8 GPUs; use 16 workers"}}));
}

TEST(AnalysisText, a_long_breakdown_leaves_what_is_unknown_to_the_next_row) {
  const Analysis analysis = {"any", "one", "", "", "", nullptr};
  AnalysisResult result =
      result_of({{"checkpoint", 0.1, 1}, {"evaluation", 0.1, 1}, {"unexplained", 0.8, 8}});
  result.unknown = "no phases reported; see trainscope send --help";
  EXPECT_EQ(analysis_rows({{&analysis, result}}),
            (Rows{{"one", "checkpoint 10% · evaluation 10% · unexplained 80%"},
                  {"", "no phases reported; see trainscope send --help"}}));
}

TEST(AnalysisText, a_run_without_steps_has_one_row_with_the_reason) {
  FakeRun run(0.1, 1);
  Training nothing;
  nothing.reason = "no steps found; try something";
  run.set_training(nothing);
  EXPECT_EQ(training_rows(run), (Rows{{"steps", "no steps found; try something"}}));
}

TEST(AnalysisText, much_time_outside_the_steps_has_a_row) {
  const auto outside = [](double begin_s, double end_s, EndedBy ended_by) {
    FakeRun run(0.1, 300);
    Training training = training_with_a_pause();
    training.begin_s = begin_s;
    training.end_s = end_s;
    run.set_training(training);
    run.set_ended_by(ended_by);
    for (const auto& [label, text] : training_rows(run)) {
      if (label == "outside") return text;
    }
    return std::string();
  };
  EXPECT_EQ(outside(20, 260, EndedBy::exit), "start-up 20.0 s, 40.0 s after the last step");
  EXPECT_EQ(outside(1, 260, EndedBy::exit), "40.0 s after the last step");
  EXPECT_EQ(outside(20, 290, EndedBy::exit), "start-up 20.0 s");
  EXPECT_EQ(outside(14, 290, EndedBy::exit), "");
  EXPECT_EQ(outside(1, 260, EndedBy::running), "");
}

TEST(AnalysisText, the_best_accuracy_names_its_set_if_there_are_several) {
  Training training = training_with_a_pause();
  SetResults train{"train", 2, {}, {}, 0, {}};
  SetResults test{"test", {}, 0.55, 0.55, 1, {{0.5, 1, {}}}};
  training.results = {train, test};
  const auto learning = [&] {
    FakeRun run(0.1, 3);
    run.set_training(training);
    for (const auto& [label, text] : training_rows(run)) {
      if (label == "learning") return text;
    }
    return std::string();
  };
  EXPECT_EQ(learning(), "loss 2, accuracy (test) 0.55; best 0.55 after 1.0 s, 50% after 1.0 s");
  training.results = {train, {"validation", {}, 0.25, 0.25, 2, {}}, test};
  EXPECT_EQ(
      learning(),
      "loss 2, accuracy (validation) 0.25, accuracy (test) 0.55; best (validation) 0.25 after "
      "2.0 s; best (test) 0.55 after 1.0 s, 50% after 1.0 s");
}

TEST(AnalysisText, the_json_of_a_run_has_the_results_of_all_analyses) {
  FakeRun run(0.1, 3);
  run.set_training(training_with_a_pause());
  const auto document = info_json(run);
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["breakdown"].size(), 1U);
  EXPECT_TRUE((*document)["breakdown_unknown"].is_string());
  EXPECT_EQ((*document)["pauses"].size(), 1U);
  ASSERT_EQ((*document)["findings"].size(), 1U);
  const Json& finding = (*document)["findings"][0];
  EXPECT_EQ(finding["id"].get<std::string>(), "pauses_unexplained");
  for (const char* key : {"severity", "summary", "evidence", "from_s", "to_s", "time_lost_s",
                          "max_speedup", "confidence", "advice"}) {
    EXPECT_TRUE(finding.contains(key)) << key;
  }
}

TEST(AnalysisText, every_analysis_describes_itself) {
  std::set<std::string_view> keys;
  for (const Analysis* analysis : analyses()) {
    SCOPED_TRACE(analysis->name);
    EXPECT_FALSE(analysis->title.empty());
    EXPECT_LE(analysis->title.size(), 10U);
    EXPECT_FALSE(analysis->summary.empty());
    EXPECT_FALSE(analysis->needs.empty());
    const std::string_view key = analysis->json_key;
    EXPECT_TRUE(key.empty() || keys.insert(key).second) << key;
  }
}

}  // namespace analysis_text_test
}  // namespace trainscope
