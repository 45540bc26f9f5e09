// The training of a run: steps, epochs, phases, numbers, from any source.
//
// Times are seconds from t = 0. Only finite numbers are stored: a loss that is not finite is absent
// and listed in `notes`. Memory never grows with the steps of a job, which are read one by one; it
// grows with what a job reports rarely (epochs, checkpoints, evaluations), up to limits that are
// stated in `notes` when they are reached.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/metric.h"
#include "model/points.h"

namespace trainscope {

// The event of a recorder that could not watch the file that the job prints to.
inline constexpr std::string_view kOutputIsPolled = "output_polled";  // times are coarse

// One report of a step; a source may report every step, or every hundredth.
struct Step {
  int64_t step = 0;    // counted through all epochs, from the first reported number
  double time_s = 0;   // when it had ended
  int64_t covers = 1;  // so many steps since the report before
  // Of one step: since the report before, without checkpoints and evaluations, divided by `covers`.
  std::optional<double> duration_s;
  // For a step without its own time, because it was reported together with others: the mean of the
  // group. Then there is no `duration_s`.
  std::optional<double> average_s;
  std::optional<double> input_wait_s;     // waiting for data, of one step
  std::optional<double> communication_s;  // of one step, as far as it was reported when it ended
  // The longest single wait for data that began in it; both 0: none did.
  double longest_wait_from_s = 0, longest_wait_to_s = 0;
  std::optional<double> items;  // the batch size at that time
  std::optional<double> loss, accuracy, throughput;
  std::optional<double> dry;               // above 0: a device had nothing left to do before it
  std::optional<double> timed;             // 0: of its phases, only waits for data were timed
  std::optional<int64_t> reported_number;  // as the job counts: it may begin anew in each epoch
  std::optional<double> epoch;             // that the job reported with the step
  // What else it reported with the step, by the names that the job gave: lr, grad_norm, val_loss, …
  std::vector<std::pair<std::string, double>> numbers;
  std::string_view kind = "step";  // warmup, step

  std::optional<double> mean_s() const { return duration_s ? duration_s : average_s; }
};

// Whether devices ran out of work, as far as the job reported it with its steps (dry=). The first
// step is not counted: before it a device has had nothing to do yet.
struct DeviceWaits {
  double steps = 0, time_s = 0;  // of which it is known
  double dry_steps = 0;          // before which a device had nothing left to do
  double lost_s = 0;             // waiting for data in these

  std::optional<double> dry_share() const {
    return steps > 0 ? std::optional(dry_steps / steps) : std::nullopt;
  }
  // Waits for data that a device had to wait for too, of the time of these steps.
  std::optional<double> lost_share() const {
    return time_s > 0 ? std::optional(lost_s / time_s) : std::nullopt;
  }
};

// What an analysis of the step times needs of all steps, without reading them again: those that
// stand out, and sums of the others.
struct StepOverview {
  struct Kept {
    Step step;
    double before_s = -1;  // when the step before it ended; -1: it is the first
  };
  std::vector<Kept> kept;  // by time: the first ten, and the longest of those with their own time
  // Of the others: the time that they waited for data, and the rest.
  double input_s = 0, rest_s = 0;
  double longest_s = 0;      // the longest of the others that have their own time
  int64_t most_covered = 0;  // steps that one report of the others stands for
};

// Where in time the steps waited for data: equal parts of the time from t = 0 on.
struct StepTimeline {
  struct Part {
    double input_s = 0;  // waiting for data
    // Of steps of which it is known whether a device ran out of work (dry=): their time, and the
    // waits of those before which it did.
    double known_s = 0, lost_s = 0;
  };
  double part_s = 0.125;  // length of a part
  std::vector<Part> parts;

  // The sum over this time; of a part that is only partly in it, in proportion.
  Part within(double from_s, double to_s) const;
};

struct Epoch {
  int64_t epoch = 0;
  double time_s = 0;
  std::map<std::string, double> values;  // by the names that the job gave: loss, val_accuracy, …
};

// A phase that the job reported. `who` is empty for the thread that does the steps.
struct TrainingPhase {
  std::string name, who;
  double from_s = 0, to_s = 0;
  bool is_open = false;  // the run ended within it
  // Of those in Training::phases: the first step that ended after it, or the last step.
  int64_t next_step = 0;
  bool is_after_last_step = false;  // no step ended after it

  // Of the thread that does the steps:
  bool is_pause() const;       // a checkpoint or an evaluation, which is not part of a step
  bool is_input() const;       // waiting for data
  bool is_compute() const;     // forward, backward and the like
  bool is_step_phase() const;  // those two, making a batch ready, moving it, collectives
};

// All phases of one name.
struct PhaseSum {
  std::string name;
  double time_s = 0;
  double warmup_s = 0;        // of that time before the first step of StepStatistics
  bool is_in_bursts = false;  // nearly no step with timed=0 has one
};
inline constexpr size_t kMaxSummedPhases = 64;

struct TrainingNumber {
  std::string name;
  std::string set;     // train, validation, test, or the job's own word
  std::string source;  // pipe, tensorboard, output
  double time_s = 0;
  std::optional<int64_t> step;
  double value = 0;
  std::string who = {};  // the sender; empty for the thread that does the steps
};

// Of the steps after the warm-up. Quantiles and medians of more than a million steps have an error
// of up to 0.05 % (base/distribution.h).
struct StepStatistics {
  std::optional<double> mean_s, p50_s, p99_s, throughput;
  double steps = 0;  // that mean_s is of
  // Of those with their own time: the median, its part that did not wait for data, and the median
  // distance from it.
  double typical_s = 0, typical_rest_s = 0, deviation_s = 0;
  std::optional<double> timed_share;  // of the steps that report it: all their phases were timed
};

// How well it learnt on one set, and when.
struct SetResults {
  std::string set;                       // train, validation, test, or the job's own word
  std::optional<double> loss, accuracy;  // the last reported
  std::optional<double> best_accuracy;
  double best_time_s = 0;
  struct Milestone {
    double accuracy = 0, time_s = 0;
    std::optional<int64_t> step;  // the last that had ended then
  };
  std::vector<Milestone> milestones;  // when 50 %, 60 %, … 99 % were reached first
};

// A series train.*; its points are read from the details.
struct TrainingSeries {
  Series series;
  Summary summary;
  std::string number;  // the name of the reported numbers that it consists of; "": it is of steps
  std::optional<std::string> sender = {};  // whose numbers these are; nothing: of every sender

  bool consists_of(const TrainingNumber& its) const {
    const Labels& labels = series.labels;
    return (!sender || its.who == *sender) && its.name == number && labels.size() == 2 &&
           labels[0].second == its.set && labels[1].second == its.source;
  }
};

// Items one by one, in order.
template <typename Item>
class Reader {
 public:
  virtual ~Reader() = default;
  // False after the last one.
  virtual Result<bool> next(Item& item) = 0;
};

// Everything that was reported, which may be millions: each call reads the reports again.
class TrainingDetails {
 public:
  virtual ~TrainingDetails() = default;
  virtual std::unique_ptr<Reader<Step>> steps() const = 0;  // by time
  // Those from a time on; some of before may be among them.
  virtual std::unique_ptr<Reader<Step>> steps_from(double /*time_s*/) const { return steps(); }
  virtual std::unique_ptr<Reader<TrainingPhase>> phases() const = 0;    // by end
  virtual std::unique_ptr<Reader<TrainingNumber>> numbers() const = 0;  // by time
  // Losses and accuracies that are not those of the steps, by time: all of them, or the last ones
  // of a run that is followed, of which numbers() are unknown.
  virtual std::unique_ptr<Reader<TrainingNumber>> results() const { return numbers(); }
};

// A process or thread that reported steps; `who` is empty for the main process.
struct StepSender {
  std::string who;
  int64_t observed = 0;
};

struct Training {
  std::string source;                       // of the steps: pipe, tensorboard, output; empty: none
  std::vector<std::string> unused_sources;  // other sources that reported steps
  // Of the pipe: who reported steps as well. The steps of a run are those of one sender.
  std::vector<StepSender> other_step_senders;
  int64_t reports = 0;                // of any kind and source
  int64_t observed = 0;               // steps that its source reported
  std::optional<int64_t> count;       // how many steps the job did
  std::optional<double> steps_per_s;  // from the first reported step to the last
  std::string reason;                 // why there is no count
  bool are_steps_refused = false;     // some reported steps may not be the job's
  std::string times_reason;           // why the times of single steps are unknown
  std::optional<double> batch;        // items per step, the largest reported
  int64_t warmup_steps = 0;
  StepStatistics statistics;
  std::optional<StepOverview> overview;  // none without steps
  DeviceWaits device_waits;
  StepTimeline timeline;          // of all steps but the first, whose wait is that of a start
  double begin_s = 0, end_s = 0;  // of the first step and of the last; both 0 without steps
  std::vector<Epoch> epochs;
  bool has_input_phases = false, has_compute_phases = false;
  // How long phases of the thread that does the steps took together, by name: all parts of a step,
  // checkpoints and evaluations, and at most kMaxSummedPhases names of the job's own.
  std::vector<PhaseSum> phase_sums;
  std::optional<double> other_communication_s;  // of the other sender with most of it
  // Those of the thread that does the steps that are not part of each step, by begin: checkpoints,
  // evaluations, and others of which there are at most kMaxPhasesOfAName with the same name. Of two
  // that begin together the longer one is first.
  std::vector<TrainingPhase> phases;
  std::vector<SetResults> results;  // one per set with reported numbers, train first
  std::vector<TrainingSeries> series;
  int64_t dropped = 0;  // messages that senders could not send
  std::vector<std::string> notes;
  std::shared_ptr<const TrainingDetails> details;  // none: nothing was reported

  // Nothing if no phase of this name was reported.
  const PhaseSum* find_phase_sum(std::string_view name) const;
  // In all steps: after the warm-up, phases that were timed in bursts took as long in each other
  // step. Nothing if no step after the warm-up was timed.
  std::optional<double> time_in_all_steps(const PhaseSum& sum) const;
};

// More phases of one name than this are part of each step, whatever they are called.
inline constexpr int64_t kMaxPhasesOfAName = 1000;

}  // namespace trainscope
