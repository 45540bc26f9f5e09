// The training of a run: steps, epochs, phases, numbers, from any source.
//
// Times are seconds from t = 0. Only finite numbers are stored: a loss that is not finite is absent
// and listed in `notes`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainscope {

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
  std::optional<double> input_wait_s;  // waiting for data, of one step
  std::optional<double> items;         // the batch size at that time
  std::optional<double> loss, accuracy, throughput;
  std::string kind;  // warmup, step
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

  // Of the thread that does the steps:
  bool is_pause() const;       // a checkpoint or an evaluation, which is not part of a step
  bool is_input() const;       // waiting for data
  bool is_compute() const;     // forward, backward and the like
  bool is_step_phase() const;  // those two, and making a batch ready
};

struct TrainingNumber {
  std::string name;
  std::string set;     // train, validation, test
  std::string source;  // pipe, tensorboard, output
  double time_s = 0;
  std::optional<int64_t> step;
  double value = 0;
};

struct Training {
  std::string source;                       // of the steps: pipe, tensorboard, output; empty: none
  std::vector<std::string> unused_sources;  // other sources that reported steps
  std::vector<Step> steps;
  std::optional<int64_t> count;    // how many steps the job did
  std::string reason;              // why there is no count
  bool are_steps_refused = false;  // some reported steps may not be the job's
  std::string times_reason;        // why the times of single steps are unknown
  std::optional<double> batch;     // items per step, the largest reported
  std::vector<Epoch> epochs;
  std::vector<TrainingPhase> phases;  // by begin
  std::vector<TrainingNumber> numbers;
  int64_t dropped = 0;  // messages that senders could not send
  std::vector<std::string> notes;

  int64_t warmup_steps() const;
};

// A number that a job calls so is an accuracy; that of the best five is another thing.
bool is_accuracy(const std::string& name);

// Of the steps after the warm-up.
struct StepStatistics {
  std::optional<double> mean_s, p50_s, p99_s, throughput;
};
StepStatistics step_statistics(const Training& training);

// How well it learnt on one set, and when.
struct SetResults {
  std::string set;                       // train, validation, test
  std::optional<double> loss, accuracy;  // the last reported
  std::optional<double> best_accuracy;
  double best_time_s = 0;
  struct Milestone {
    double accuracy = 0, time_s = 0;
    std::optional<int64_t> step;
  };
  std::vector<Milestone> milestones;  // when 50 %, 60 %, … 99 % were reached first
};
// One per set with reported numbers, train first. A number belongs to the step that had ended then.
std::vector<SetResults> results_by_set(const Training& training);

}  // namespace trainscope
