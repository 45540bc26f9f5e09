// From the lines that were told of a training to what a run knows of it.
//
// Guarantees: the same lines give the same answer in whatever order the sources were read; what
// cannot be known is absent with a reason (contract: `steps.count`). Limits: one job, one sequence
// of steps.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "model/training.h"
#include "parse/progress.h"

namespace trainscope {

struct StoredReport {
  double time_s = 0;
  std::string source;  // pipe, tensorboard, output
  Report report;
};

// One stored line: "TIME_NS SOURCE REPORT".
Result<StoredReport> parse_stored_report(std::string_view line);
std::string format_stored_report(int64_t time_ns, std::string_view source, const Report& report);

// Kinds of events by which the recorder says what printed lines are worth; the text says why.
inline constexpr std::string_view kOutputIsShared = "output_shared";  // they may be a stranger's
inline constexpr std::string_view kOutputIsPolled = "output_polled";  // their times are coarse
inline constexpr std::string_view kOutputIsUnseen = "output_unseen";  // and what to do instead
// A pattern for --steps-from, guessed from printed lines in which no steps were found.
inline constexpr std::string_view kStepsPattern = "steps_pattern";

// `reports` in any order; `duration_s` closes phases that were left open.
Training read_training(std::vector<StoredReport> reports, double duration_s,
                       std::span<const Event> events = {});

// The series train.*, with all their points: a run has few of them.
struct TrainingSeries {
  Series series;
  Points points;
};
std::vector<TrainingSeries> list_training_series(const Training& training);
// What they are, for the reference.
std::span<const MetricSpec> training_metrics();

}  // namespace trainscope
