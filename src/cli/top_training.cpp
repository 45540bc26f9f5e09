#include "cli/top_training.h"

#include <algorithm>

#include "model/training.h"

namespace trainscope {

namespace {

// What one step tells of a series of the training; nothing if that is not known of it.
std::optional<double> value_of_step(const Step& step, const Series& series) {
  if (series.metric == "train.step") return static_cast<double>(step.step);
  if (series.metric == "train.step.duration") return step.duration_s;
  if (series.metric == "train.input_wait") return step.input_wait_s;
  if (series.metric == "train.throughput") return step.throughput;
  if (value_of_label(series.labels, "set") != "train") return std::nullopt;
  return series.metric == "train.loss" ? step.loss : step.accuracy;
}

const TrainingSeries* find_reported(const RunView& run, const Series& series) {
  const std::vector<TrainingSeries>& all = run.training().series;
  const auto found = std::find_if(all.begin(), all.end(), [&](const TrainingSeries& each) {
    return each.series.metric == series.metric && each.series.labels == series.labels;
  });
  return found == all.end() ? nullptr : &*found;
}

// Losses and accuracies that are not those of the steps.
Status fold_results(const RunView& run, const std::vector<WindowQuery>& queries,
                    const TimeWindows& windows, std::vector<WindowFold>& folds) {
  const auto& details = run.training().details;
  if (details == nullptr) return {};
  const auto results = details->results();
  for (TrainingNumber number;;) {
    TS_TRY(const bool is_number, results->next(number));
    if (!is_number || number.time_s > windows.end_s()) return {};
    if (number.time_s < windows.begin_s) continue;
    for (size_t k = 0; k < queries.size(); ++k) {
      if (queries[k].series < run.recorded_series().size()) continue;
      const TrainingSeries* const its = find_reported(run, run.series()[queries[k].series]);
      if (its == nullptr || !its->consists_of(number)) continue;
      folds[k].add(Points{{number.time_s}, {number.value}, {1}});
    }
  }
}

// Of a run that is followed only the steps and the results are known, not all that was reported.
Status fold_steps(const RunView& run, const std::vector<WindowQuery>& queries,
                  const TimeWindows& windows, std::vector<WindowFold>& folds) {
  const auto& details = run.training().details;
  if (details == nullptr) return {};
  const auto steps = details->steps_from(windows.begin_s);
  for (Step step;;) {
    TS_TRY(const bool is_step, steps->next(step));
    if (!is_step || step.time_s > windows.end_s()) return {};
    if (step.time_s < windows.begin_s) continue;
    for (size_t k = 0; k < queries.size(); ++k) {
      if (queries[k].series < run.recorded_series().size()) continue;
      const Series& series = run.series()[queries[k].series];
      if (value_of_label(series.labels, "source") != run.training().source) continue;
      const auto value = value_of_step(step, series);
      if (value) folds[k].add(Points{{step.time_s}, {*value}, {1}});
    }
  }
}

}  // namespace

Status fold_followed_training(const RunView& run, const std::vector<WindowQuery>& queries,
                              const TimeWindows& windows, std::vector<WindowFold>& folds) {
  TS_CHECK_OK(fold_steps(run, queries, windows, folds));
  return fold_results(run, queries, windows, folds);
}

}  // namespace trainscope
