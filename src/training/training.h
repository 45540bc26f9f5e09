// From the reports of a training to what a run knows of it.
//
// Guarantees: the same reports give the same result in whatever order the sources were read; what
// cannot be known is absent with a reason (contract: `steps.count`). Reports are read one by one,
// several times: memory does not grow with the number of steps. Limits: one job, one sequence of
// steps.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/manifest.h"
#include "model/training.h"
#include "training/report.h"
#include "training/tracks.h"

namespace trainscope {

struct StoredReport {
  double time_s = 0;
  std::string source;  // pipe, tensorboard, output
  Report report;
};

// One stored line: "TIME_NS SOURCE REPORT". Uses the memory of `stored` again.
Status parse_stored_report(std::string_view line, StoredReport& stored);
// The same of a line whose time was read already: `rest` is what follows it and a space.
Status parse_stored_report(int64_t time_ns, std::string_view rest, StoredReport& stored);
// May this rest of a line be a step, or something that the times of steps depend on: a batch size,
// waiting for data or for other ranks?
bool concerns_steps(std::string_view rest);
std::string format_stored_report(int64_t time_ns, std::string_view source, const Report& report);

enum class ReportsWanted { all, of_steps };

// Everything that was reported in a run.
class Reports {
 public:
  virtual ~Reports() = default;
  // By time; of those with the same time the one that was stored first. Of all others than those
  // that are wanted (concerns_steps), some or none are given.
  virtual std::unique_ptr<Reader<StoredReport>> read(
      ReportsWanted wanted = ReportsWanted::all) const = 0;
};

// Kinds of events by which the recorder states what printed lines are worth; the text is the
// reason.
inline constexpr std::string_view kOutputIsShared = "output_shared";  // they may be a stranger's
inline constexpr std::string_view kOutputIsUnseen = "output_unseen";  // and what to do instead
// A pattern for --steps-from, guessed from printed lines in which no steps were found.
inline constexpr std::string_view kStepsPattern = "steps_pattern";

// A note of the recorder about what was reported.
inline constexpr std::string_view kProgressNote = "progress_note";

// `duration_s` closes phases that were left open.
Result<Training> read_training(std::shared_ptr<const Reports> reports, double duration_s,
                               std::span<const Event> events = {});

// Which steps can be read while a run is followed: those that became complete since the last call,
// or all of them, without the numbers that the job reported with them.
enum class StepsToFollow { fresh, all };

// The training of a run that is being recorded: what is reported is read once, however often it is
// shown.
//
// Guarantees: the training is that of read_training over the same reports, or nothing where this
// cannot be known from the new reports alone: another source counts now, a pause concerns steps
// that were given, a sender's timestamps go back, the loss in event files has its own steps. Then
// the caller begins again with all reports. Limits: reports of several senders may be taken in
// another order than that of their timestamps. With StepsToFollow::fresh milestones have no
// steps, and there are no statistics after the begin; with StepsToFollow::all the steps are held in
// memory, kMaxHeldSteps of them.
class TrainingFollower {
 public:
  virtual ~TrainingFollower() = default;
  // All reports up to now. Details of the result may read `reports`.
  virtual Result<Training> begin(const std::shared_ptr<const Reports>& reports, double duration_s,
                                 std::span<const Event> events) = 0;
  // Those since the last call. Of the details of the result only the steps can be read.
  virtual Result<std::optional<Training>> add(const Reports& more, double duration_s,
                                              std::span<const Event> events) = 0;
};
inline constexpr size_t kMaxHeldSteps = 2'000'000;  // up to 150 MB
std::unique_ptr<TrainingFollower> follow_training(StepsToFollow steps);

// Points of some of the series train.*, range after range.
class TrainingPoints {
 public:
  // `series`: their places in Training::series. The training must outlive this.
  TrainingPoints(const Training& training, std::vector<size_t> series);
  // For each of the series. No range begins before the end of the last one.
  Result<std::vector<Points>> read(const Range& range);

  const std::vector<size_t>& series() const { return series_; }
  // Before this time nothing can be read any more.
  double position_s() const { return position_s_; }

 private:
  Status read_steps(const Range& range, std::vector<Points>& all);
  Status read_numbers(const Range& range, std::vector<Points>& all);

  const Training& training_;
  std::vector<size_t> series_;
  double position_s_;
  // The next one of each, if it was read already.
  std::unique_ptr<Reader<Step>> steps_;
  std::unique_ptr<Reader<TrainingNumber>> numbers_;
  Step step_;
  TrainingNumber number_;
  bool has_step_ = false, has_number_ = false;
};

// What the series train.* are, for the reference.
std::span<const MetricSpec> training_metrics();

}  // namespace trainscope
