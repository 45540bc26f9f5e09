// Bounds, evidence and parts of the time that are what they claim to be.
#include <gtest/gtest.h>

#include "analyze/support/planted_run.h"

namespace trainscope {
namespace bounds_test {

TEST(Bounds, what_takes_nearly_all_of_the_time_bounds_by_as_much) {
  const Diagnosis waits = PlantedRun().cpu(0.04, 1.98).thread("main", 0.04, 0.95).diagnose();
  ASSERT_EQ(waits.verdict, "contended");
  EXPECT_NEAR(waits.findings.at(0).max_speedup.value_or(0), 20, 0.5);
  PlantedRun limited;
  limited.cpu(0.03, 0.05).thread("main", 0.03, 0.96).rate("cgroup.cpu.throttled_time", {}, 0.97);
  const Diagnosis stopped = limited.diagnose();
  ASSERT_EQ(stopped.verdict, "quota_bound");
  EXPECT_NEAR(stopped.findings.at(0).max_speedup.value_or(0), 1 / 0.03, 1);
}

// Of the first finding, one line each.
std::string evidence_text(const Diagnosis& diagnosis) {
  std::string text;
  if (diagnosis.findings.empty()) return text;
  for (const std::string& line : diagnosis.findings[0].evidence) text += line + "\n";
  return text;
}

// Strangers wait for the job's core: that is no evidence of one thread that computes.
TEST(Bounds, who_waits_for_cores_is_evidence_of_too_many_threads_only) {
  const auto computing = [](double cores, double running, double runnable) {
    PlantedRun run;
    run.cpu(cores, 1.98).thread("main", running, runnable);
    run.rate("system.pressure.time", {{"kind", "some"}, {"resource", "cpu"}}, 0.95);
    return run.diagnose();
  };
  const Diagnosis one = computing(0.96, 0.94, 0.01);
  ASSERT_EQ(one.cause, "single_thread");
  EXPECT_EQ(evidence_text(one).find("waited for a CPU"), std::string::npos) << evidence_text(one);
  const Diagnosis many = computing(1.95, 0.3, 0.68);
  ASSERT_EQ(many.cause, "oversubscribed");
  EXPECT_NE(evidence_text(many).find("waited for a CPU"), std::string::npos);
}

TEST(Bounds, what_led_to_no_cause_is_no_evidence) {
  PlantedRun run;
  run.cpu(0.3, 0.35).thread("main", 0.3, 0).steps(0.5);
  run.rate("system.pressure.time", {{"kind", "some"}, {"resource", "io"}}, 0.1);
  const Diagnosis d = run.diagnose();
  EXPECT_EQ(d.verdict, "input_bound");
  EXPECT_EQ(d.cause, "");
  EXPECT_EQ(evidence_text(d).find("waited for storage"), std::string::npos) << evidence_text(d);
}

// Of another source, and read at another time.
TEST(Bounds, no_thread_has_more_time_than_the_job) {
  const Diagnosis d = PlantedRun().cpu(0.9, 0.95).thread("main", 0.93, 0.01).diagnose();
  EXPECT_EQ(d.cause, "single_thread");
  EXPECT_NE(evidence_text(d).find("besides its busiest thread: 0 cores"), std::string::npos)
      << evidence_text(d);
}

StoredReport line_at(double time_s, const std::string& line) {
  return {time_s, "pipe", *parse_report(line)};
}

double part_of(const Diagnosis& diagnosis, std::string_view name) {
  for (const BreakdownPart& part : diagnosis.breakdown) {
    if (part.part == name) return part.share;
  }
  return 0;
}

TEST(Bounds, checkpoints_that_take_little_have_evidence_too) {
  std::vector<StoredReport> reports;
  for (int i = 1; i < 100; ++i) {
    reports.push_back(line_at(0.2 * i - 0.1, "phase checkpoint 0.0115"));
    reports.push_back(line_at(0.2 * i, fmt::format("step {}", i)));
  }
  PlantedRun run;
  const Diagnosis d = run.cpu(0.9, 0.95).thread("main", 0.94, 0).report(reports).diagnose();
  const auto found = std::find_if(d.findings.begin(), d.findings.end(),
                                  [](const Finding& each) { return each.id == "checkpoint"; });
  ASSERT_NE(found, d.findings.end());
  EXPECT_EQ(found->severity, "warning");
  ASSERT_FALSE(found->evidence.empty());
  EXPECT_EQ(found->evidence[0], "checkpoint: 1.1 s of 19.6 s, as the job reports it");
}

TEST(Bounds, without_steps_pauses_count_as_far_as_they_are_between_the_phases) {
  std::vector<StoredReport> reports = {line_at(1.9, "phase checkpoint 1.9")};
  for (int i = 1; i <= 100; ++i) {
    const double after_s = i > 50 ? 3 : 2;  // an evaluation of a second between
    reports.push_back(line_at(0.1 * i + after_s - 0.05, "phase input 0.04"));
    reports.push_back(line_at(0.1 * i + after_s, "phase forward 0.05"));
    if (i == 50) reports.push_back(line_at(8, "phase evaluation 1"));
  }
  reports.push_back(line_at(19, "phase evaluation 6"));
  PlantedRun run;
  const Diagnosis d = run.cpu(0.5, 0.55).thread("main", 0.5, 0).report(reports).diagnose();
  EXPECT_NEAR(part_of(d, "evaluation"), 1 / 11.0, 0.01);
  EXPECT_EQ(part_of(d, "checkpoint"), 0);
  EXPECT_NEAR(part_of(d, "input wait"), 4 / 11.0, 0.01);
}

// Epochs of ten steps of 0.1 s, each followed by an evaluation of a second; the last one begins
// `later_s` after the last step.
Diagnosis with_evaluations(int epochs, double later_s) {
  std::vector<StoredReport> reports;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const double from_s = 2.0 * epoch, gap_s = epoch + 1 == epochs ? later_s : 0;
    for (int i = 1; i <= 10; ++i) {
      const double end_s = from_s + 0.1 * i;
      reports.push_back(line_at(end_s - 0.05, "phase input 0.05"));
      reports.push_back(line_at(end_s, fmt::format("step {}", 10 * epoch + i)));
    }
    reports.push_back(line_at(from_s + 2 + gap_s, "phase evaluation 1"));
  }
  PlantedRun run;
  return run.cpu(0.96, 0.98).thread("main", 0.94, 0.01).report(reports).diagnose();
}

TEST(Bounds, the_evaluation_of_the_last_epoch_counts_as_those_before_it) {
  const Diagnosis d = with_evaluations(4, 0);
  EXPECT_NEAR(part_of(d, "evaluation"), 0.5, 0.02);
  const auto rest = std::find_if(d.findings.begin(), d.findings.end(),
                                 [](const Finding& each) { return each.id == "shutdown"; });
  ASSERT_NE(rest, d.findings.end());
  EXPECT_EQ(rest->summary, "12.0 s passed after the last evaluation");
  EXPECT_NEAR(part_of(with_evaluations(4, 3), "evaluation"), 3 / 7.0, 0.02) << "much later";
  const Diagnosis only = with_evaluations(1, 0);
  EXPECT_EQ(part_of(only, "evaluation"), 0) << "a test after the training";
}

}  // namespace bounds_test
}  // namespace trainscope
