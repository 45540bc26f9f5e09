#include "cli/summary.h"
#include "model/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace trainscope {
namespace summary_test {

using ::testing::HasSubstr;
using ::testing::Not;

class FakeRun : public RunView {
 public:
  const Manifest& manifest() const override { return manifest_; }
  const std::string& path() const override { return path_; }
  RunStatus status() const override { return RunStatus::ended; }
  double duration_s() const override { return duration; }
  const std::string& host_json() const override { return host_; }
  const std::vector<Series>& series() const override { return series_; }
  Result<Points> points(size_t /*index*/, const Range& /*range*/) const override {
    return Error("not asked for here");
  }
  Result<Summary> summary(size_t index) const override { return summaries_[index]; }
  const Sampling& sampling() const override { return sampling_; }
  Overhead overhead() const override { return overhead_; }
  const std::vector<Event>& events() const override { return events_; }
  const Training& training() const override { return training_; }

  void add(const std::string& metric, const Labels& labels, const Summary& summary) {
    Series series;
    series.metric = metric;
    series.labels = labels;
    series_.push_back(series);
    summaries_.push_back(summary);
  }

  Manifest manifest_;
  std::string path_, host_ = "{}";
  std::vector<Series> series_;
  std::vector<Summary> summaries_;
  Sampling sampling_;
  Overhead overhead_;
  std::vector<Event> events_;
  Training training_;
  double duration = 90;
};

FakeRun finished_run() {
  FakeRun run;
  run.manifest_.id = "6a0cxqwqma";
  run.manifest_.name = "base\x1b[31m";
  run.manifest_.ended_by = EndedBy::exit;
  run.manifest_.exit_code = 3;
  Summary mean, peak, delta;
  mean.mean = 0.61;
  peak.max = 1536.0 * 1024 * 1024;
  delta.delta = 300.0 * 1024 * 1024;
  run.add("job.cpu.utilization", {}, mean);
  run.add("system.cpu.utilization", {{"cpu", "0"}}, peak);
  mean.mean = 0.034;
  run.add("system.cpu.utilization", {{"cpu", "all"}}, mean);
  run.add("job.memory.usage", {}, peak);
  run.add("job.disk.io", {{"direction", "read"}}, delta);
  run.sampling_.period_s = 0.1;
  run.sampling_.samples = 900;
  run.sampling_.missed = 1;
  run.sampling_.jitter_p99_s = 0.0002;
  run.overhead_.cpu_ratio = 0.004;
  return run;
}

TEST(RunSummary, says_what_happened_with_units) {
  const std::string text = summary_text(finished_run(), {}, false);
  EXPECT_THAT(text, HasSubstr("  duration  90.0 s\n"));
  EXPECT_THAT(text, HasSubstr("  job       exit code 3\n"));
  EXPECT_THAT(text, HasSubstr("61% of the CPUs available to the job, machine 3.4%\n"));
  EXPECT_THAT(text, HasSubstr("1.50 GiB at peak\n"));
  EXPECT_THAT(text, HasSubstr("300 MiB read\n"));
  EXPECT_THAT(text, HasSubstr("900 every 100 ms, 1 missed, jitter p99 200 µs\n"));
  EXPECT_THAT(text, HasSubstr("0.4% of one CPU\n"));
  EXPECT_THAT(text, HasSubstr("trainscope info 6a0cxqwqma\n"));
}

Diagnosis waiting_for_storage() {
  Diagnosis diagnosis;
  diagnosis.verdict = "input_bound";
  diagnosis.cause = "storage";
  diagnosis.confidence = 0.854;
  diagnosis.sentence = "it waits for data";
  Finding finding;
  finding.summary = diagnosis.sentence;
  finding.advice = "read ahead";
  diagnosis.findings = {finding};
  return diagnosis;
}

TEST(RunSummary, ends_with_the_verdict_and_how_sure_it_is_and_what_to_try) {
  Diagnosis diagnosis = waiting_for_storage();
  EXPECT_THAT(summary_text(finished_run(), diagnosis, false),
              HasSubstr("  verdict   input_bound (storage): it waits for data (confidence 85 %)\n"
                        "  try       read ahead\n"
                        "  next "));
  diagnosis.verdict = "unknown";
  diagnosis.cause = "";
  diagnosis.confidence = 0;
  diagnosis.missing = {"phases"};
  EXPECT_THAT(summary_text(finished_run(), diagnosis, false),
              HasSubstr("  verdict   unknown: it waits for data\n"
                        "  missing   phases\n"
                        "  next "));
}

TEST(RunSummary, says_with_what_to_try_how_much_can_be_won) {
  Diagnosis diagnosis = waiting_for_storage();
  Finding& first = diagnosis.findings[0];
  const auto tried = [&] { return summary_text(finished_run(), diagnosis, false); };
  first.max_speedup = 2.641;
  EXPECT_THAT(tried(), HasSubstr("  try       read ahead; at most 2.64 times as fast\n"));
  // What only a part of the advice brings is left to `diagnose`, if there is a bound of all of it.
  first.advice = "read ahead; it had 2; one batch ahead alone: at most 1.61 times as fast";
  first.advice_speedup = 1.609;
  EXPECT_THAT(tried(), HasSubstr("  try       read ahead; it had 2; at most 2.64 times as fast\n"));
  first.max_speedup.reset();
  EXPECT_THAT(tried(), HasSubstr("one batch ahead alone: at most 1.61 times as fast\n"));
}

TEST(RunSummary, advises_nothing_by_another_finding_than_that_of_the_verdict) {
  Diagnosis diagnosis = waiting_for_storage();
  diagnosis.findings[0].summary = "the memory is nearly full";
  EXPECT_THAT(summary_text(finished_run(), diagnosis, false), Not(HasSubstr("  try ")));
}

TEST(RunSummary, colour_only_when_asked_and_names_are_not_obeyed) {
  EXPECT_THAT(summary_text(finished_run(), {}, false), Not(HasSubstr("\x1b")));
  EXPECT_THAT(summary_text(finished_run(), {}, true), HasSubstr("\x1b[1m"));
  EXPECT_THAT(summary_text(finished_run(), {}, true), Not(HasSubstr("\x1b[31m")));
}

TEST(RunSummary, what_was_not_measured_is_left_out) {
  FakeRun run;
  run.manifest_.id = "x";
  run.manifest_.ended_by = EndedBy::signal;
  run.manifest_.signal = 11;
  run.duration = 0.05;
  Summary zero;
  zero.max = 0;
  run.add("job.memory.usage", {}, zero);
  run.overhead_.cpu_ratio = 2.5;
  run.overhead_.cpu_s = 0.125;
  const std::string text = summary_text(run, {}, false);
  EXPECT_THAT(text, HasSubstr("killed by signal 11 (SIGSEGV)"));
  EXPECT_THAT(text, Not(HasSubstr("  CPU")));
  EXPECT_THAT(text, Not(HasSubstr("memory")));
  EXPECT_THAT(text, Not(HasSubstr("250%")));
  EXPECT_THAT(text, HasSubstr("125 ms of CPU time"));
}

TEST(RunSummary, other_endings) {
  FakeRun run = finished_run();
  run.manifest_.ended_by = EndedBy::time_limit;
  EXPECT_THAT(summary_text(run, {}, false), HasSubstr("stopped by --for"));
  run.manifest_.ended_by = EndedBy::not_started;
  run.manifest_.exit_code = 127;
  EXPECT_THAT(summary_text(run, {}, false), HasSubstr("did not start (exit code 127)"));
  run.manifest_.after_exit_code = 4;
  EXPECT_THAT(summary_text(run, {}, false), HasSubstr("failed with code 4"));
}

TEST(RunSummary, an_attached_job_may_still_be_running) {
  FakeRun run = finished_run();
  run.manifest_.attached = true;
  run.manifest_.ended_by = EndedBy::detached;
  EXPECT_THAT(summary_text(run, {}, false), HasSubstr("still running when the recording ended\n"));
  run.manifest_.ended_by = EndedBy::unknown;
  EXPECT_THAT(summary_text(run, {}, false), HasSubstr("  job       ended, exit code unknown\n"));
}

TEST(RunSummary, the_command_after_the_job_has_its_time) {
  FakeRun run = finished_run();
  run.manifest_.phases = {{"job", 0, 88}, {"after", 88, 90}};
  run.manifest_.after_exit_code = 0;
  EXPECT_THAT(summary_text(run, {}, false), HasSubstr("  --after   2.0 s\n"));
  run.manifest_.after_exit_code = 4;
  EXPECT_THAT(summary_text(run, {}, false),
              HasSubstr("  --after   failed with code 4 after 2.0 s\n"));
}

TEST(RunSummary, one_restart_is_in_the_singular) {
  FakeRun run = finished_run();
  run.sampling_.restarts = 1;
  EXPECT_THAT(summary_text(run, {}, false), HasSubstr(", 1 recorder restart\n"));
  run.sampling_.restarts = 2;
  EXPECT_THAT(summary_text(run, {}, false), HasSubstr(", 2 recorder restarts\n"));
}

}  // namespace summary_test
}  // namespace trainscope
