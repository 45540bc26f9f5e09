#include "model/training.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace trainscope {

namespace {

constexpr double kMilestones[] = {0.5,  0.6,  0.7,  0.8,  0.85, 0.9,  0.91, 0.92,
                                  0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995};

// The last step that had ended by then.
std::optional<int64_t> step_at(const Training& training, double time_s) {
  const auto after =
      std::upper_bound(training.steps.begin(), training.steps.end(), time_s,
                       [](double time, const Step& step) { return time < step.time_s; });
  if (after == training.steps.begin()) return std::nullopt;
  return std::prev(after)->step;
}

void take_accuracy(const Training& training, const TrainingNumber& number, SetResults& results) {
  results.accuracy = number.value;
  if (number.value > results.best_accuracy.value_or(-1)) {
    results.best_accuracy = number.value;
    results.best_time_s = number.time_s;
  }
  for (const double milestone : kMilestones) {
    const bool reached =
        !results.milestones.empty() && results.milestones.back().accuracy >= milestone;
    if (reached || number.value < milestone || number.value > 1)
      continue;  // a percentage is not a ratio
    results.milestones.push_back({milestone, number.time_s, step_at(training, number.time_s)});
  }
}

}  // namespace

std::vector<SetResults> results_by_set(const Training& training) {
  std::vector<SetResults> all;
  // Values of other sources for the same set are left out.
  const bool own =
      std::any_of(training.numbers.begin(), training.numbers.end(),
                  [&](const TrainingNumber& number) { return number.source == training.source; });
  for (const char* set : {"train", "validation", "test"}) {
    SetResults results;
    results.set = set;
    for (const TrainingNumber& number : training.numbers) {
      if (number.set != set || (own && number.source != training.source)) continue;
      if (number.name == "loss") results.loss = number.value;
      if (is_accuracy(number.name)) take_accuracy(training, number, results);
    }
    if (results.loss || results.accuracy) all.push_back(std::move(results));
  }
  return all;
}

bool TrainingPhase::is_pause() const {
  return who.empty() && (name == "checkpoint" || name == "evaluation");
}

bool TrainingPhase::is_input() const { return who.empty() && name == "input"; }

bool TrainingPhase::is_compute() const {
  return who.empty() &&
         (name == "forward" || name == "backward" || name == "compute" || name == "optimizer");
}

bool TrainingPhase::is_step_phase() const {
  return is_input() || is_compute() || (who.empty() && name == "prepare");
}

bool is_accuracy(const std::string& name) {
  return name == "accuracy" || name == "acc" ||
         (name.ends_with("_accuracy") && name.find("top") == std::string::npos);
}

int64_t Training::warmup_steps() const {
  int64_t count = 0;
  for (const Step& step : steps) {
    if (step.kind == "warmup") count += step.covers;
  }
  return count;
}

StepStatistics step_statistics(const Training& training) {
  StepStatistics statistics;
  std::vector<double> durations, told;
  double time_s = 0, steps = 0, items = 0, counted_s = 0;
  for (const Step& step : training.steps) {
    const auto mean_s = step.duration_s ? step.duration_s : step.average_s;
    if (!mean_s || step.kind == "warmup") continue;
    const auto covers = static_cast<double>(step.covers);
    durations.push_back(*mean_s);
    if (step.throughput) told.push_back(*step.throughput);
    time_s += *mean_s * covers;
    steps += covers;
    if (step.items) {
      items += *step.items * covers;
      counted_s += *mean_s * covers;
    }
  }
  if (!(steps > 0)) return statistics;
  statistics.mean_s = time_s / steps;
  if (training.times_reason.empty() && !durations.empty()) {
    statistics.p50_s = nearest_rank(durations, 0.5);
    statistics.p99_s = nearest_rank(durations, 0.99);
  }
  if (counted_s > 0) {
    statistics.throughput = items / counted_s;
  } else if (!told.empty()) {
    double sum = 0;
    for (const double each : told) sum += each;
    statistics.throughput = sum / static_cast<double>(told.size());
  }
  return statistics;
}

}  // namespace trainscope
