#include "analyze/support/outside_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "analyze/support/signals.h"
#include "base/text.h"
#include "model/training.h"

namespace trainscope {

namespace {

// Less than this is not worth a word.
constexpr double kLeastOutsideS = 2, kLeastOfRun = 0.1;
// Steps that are reported together may go on after the last report.
constexpr double kLeastReports = 3;

Result<std::optional<double>> cores_between(const RunView& run, double from_s, double to_s) {
  std::vector<WindowQuery> queries;
  const std::vector<Series>& series = run.recorded_series();
  for (size_t i = 0; i < series.size(); ++i) {
    if (is_of(series[i], "job.cpu.time", {})) queries.push_back({i, Reading::rate});
  }
  TS_TRY(const std::vector<WindowFold> folds,
         run.fold_windows(queries, {from_s, to_s - from_s, 1}));
  std::optional<double> cores;
  for (const WindowFold& fold : folds) {
    if (const auto mean = fold.mean()) cores = cores.value_or(0) + *mean;
  }
  return cores;
}

Result<Finding> measured(const RunView& run, Finding finding, double from_s, double to_s) {
  finding.severity = "info";
  finding.from_s = from_s;
  finding.to_s = to_s;
  finding.time_lost_s = to_s - from_s;
  finding.evidence = {fmt::format("{} of {}, {:.0f} % of the run", duration_text(to_s - from_s),
                                  duration_text(run.duration_s()),
                                  100 * (to_s - from_s) / run.duration_s())};
  TS_TRY(const auto cores, cores_between(run, from_s, to_s));
  if (cores) {
    finding.evidence.push_back(
        fmt::format("CPU of the job meanwhile: {} cores (job.cpu.time)", number_text(*cores)));
  }
  return finding;
}

bool is_long_enough(const RunView& run, double length_s) {
  return length_s >= std::max(kLeastOutsideS, kLeastOfRun * run.duration_s());
}

}  // namespace

Result<std::vector<Finding>> time_outside_steps(const RunView& run, const ReportedTime& reported) {
  std::vector<Finding> findings;
  const Training& training = run.training();
  if (reported.steps() == 0 || !training.overview || training.overview->kept.empty()) {
    return findings;
  }
  const Step& first = training.overview->kept.front().step;
  const auto covered = static_cast<double>(
      std::max(training.overview->most_covered, training.overview->kept.back().step.covers));
  const double first_s = reported.first_step_s(), last_s = reported.end_s();
  // Of several steps that are reported at once, when the first one began is not known.
  if (first.covers == 1 && covered == 1 && is_long_enough(run, first_s)) {
    Finding finding;
    finding.id = "startup";
    finding.summary =
        fmt::format("{} passed {}", duration_text(first_s),
                    first.duration_s ? "before the first step" : "until the first step had ended");
    TS_TRY(finding, measured(run, std::move(finding), 0, first_s));
    findings.push_back(std::move(finding));
  }
  const double after_s = run.duration_s() - last_s;
  const double reports_s =
      training.steps_per_s ? kLeastReports * covered / *training.steps_per_s : 0;
  if (is_long_enough(run, after_s) && after_s > reports_s) {
    Finding finding;
    finding.id = "shutdown";
    finding.summary =
        fmt::format("{} passed after the last {}", duration_text(after_s), reported.end_kind());
    finding.advice =
        "look at what follows the loop: a last evaluation or save, workers that end slowly";
    TS_TRY(finding, measured(run, std::move(finding), last_s, run.duration_s()));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace trainscope
