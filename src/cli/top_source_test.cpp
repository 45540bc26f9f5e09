#include "cli/top_source.h"

#include <gtest/gtest.h>

#include "testing/fake_run.h"

namespace trainscope {

namespace top_source_test {

TopSnapshot snapshot_of(const FakeRun& run) {
  const auto read = top_snapshot(run, {0, true, 1, 20, Component::overview, ""});
  EXPECT_TRUE(read);
  return *read;
}

TEST(TopSource, states_the_outcome_and_its_mark) {
  FakeRun run(0.1, 90);
  run.set_status(RunStatus::running);
  EXPECT_EQ(snapshot_of(run).mark, RunMark::running);
  EXPECT_EQ(snapshot_of(run).status, "running for 90.0 s");
  run.set_status(RunStatus::ended);
  run.own_manifest().ended = "2026-01-02T03:05:35.000Z";
  run.set_ended_by(EndedBy::exit);
  run.own_manifest().exit_code = 3;
  EXPECT_EQ(snapshot_of(run).mark, RunMark::failed);
  EXPECT_EQ(snapshot_of(run).status, "exit code 3 after 90.0 s");
  run.own_manifest().exit_code = 0;
  EXPECT_EQ(snapshot_of(run).mark, RunMark::succeeded);
}

TEST(TopSource, a_recorder_that_is_gone_is_stated) {
  FakeRun run(0.1, 90);
  EXPECT_EQ(snapshot_of(run).mark, RunMark::unknown);
  EXPECT_NE(snapshot_of(run).status.find("is gone"), std::string::npos);
}

TEST(TopSource, steps_have_their_rate_and_results) {
  FakeRun run(0.1, 90);
  Training training;
  training.count = 812;
  training.steps_per_s = 4.1;
  training.statistics.p50_s = 0.243;
  training.results = {{"train", 0.41, std::nullopt, std::nullopt, 0, {}},
                      {"validation", std::nullopt, 0.9, 0.9, 0, {}}};
  run.set_training(training);
  EXPECT_EQ(snapshot_of(run).steps, "812, 4.1/s, p50 243 ms; loss 0.41, accuracy (validation) 0.9");
  training = {};
  training.reason = "no training steps were reported";
  run.set_training(training);
  EXPECT_EQ(snapshot_of(run).steps, "no training steps were reported");
}

TEST(TopSource, the_verdict_has_the_severity_and_advice_of_its_first_finding) {
  Diagnosis diagnosis;
  diagnosis.verdict = "input_bound";
  diagnosis.sentence = "it waits";
  EXPECT_EQ(top_verdict(diagnosis).severity, Severity::none);
  Finding finding;
  finding.severity = "critical";
  finding.advice = "num_workers=8";
  diagnosis.findings = {finding};
  EXPECT_EQ(top_verdict(diagnosis).severity, Severity::critical);
  EXPECT_EQ(top_verdict(diagnosis).advice, "num_workers=8");
}

TEST(TopSource, output_is_shown_as_a_terminal_would) {
  const std::string text = "old\nepoch 1\r\n 10%\r 20%\r\n\n\x1b[31mred\x1b[0m text\nlast";
  const std::vector<std::string> expected = {" 20%", "red text", "last"};
  EXPECT_EQ(last_lines(text, 3), expected);
  EXPECT_TRUE(last_lines("", 3).empty());
  EXPECT_EQ(last_lines("a\x1b[", 3), std::vector<std::string>{"a"});
  // A title, a link and a mode.
  const std::string sequences =
      "\x1b]0;title\x07one\n\x1b]8;;file:///"
      "log\x1b\\two\x1b]8;;\x1b\\\n\x1b[>4;2mthree\n\x1b]0;open";
  EXPECT_EQ(last_lines(sequences, 5), (std::vector<std::string>{"one", "two", "three"}));
}

}  // namespace top_source_test

}  // namespace trainscope
