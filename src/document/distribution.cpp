// Step times of a run, and the few numbers that its row of a table shows.
#include "base/distribution.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "document/document.h"
#include "model/training.h"

namespace trainscope {

namespace {

constexpr int kQuantiles = 100;
constexpr size_t kRowPoints = 60;

// The loss of the training set, if there is one; otherwise the first that was reported. A job may
// print now and then what it reports with each step: what comes from where the steps come from is
// shown.
std::optional<size_t> loss_series(const RunView& run) {
  std::optional<size_t> found;
  int found_rank = -1;
  for (size_t i = run.recorded_series().size(); i < run.series().size(); ++i) {
    const Series& series = run.series()[i];
    if (series.metric != "train.loss" || series.status == SeriesStatus::absent) continue;
    const bool is_of_training = value_of_label(series.labels, "set") == "train";
    const bool is_of_steps = value_of_label(series.labels, "source") == run.training().source;
    const int rank = (is_of_training ? 2 : 0) + (is_of_steps ? 1 : 0);
    if (rank <= found_rank) continue;
    found = i;
    found_rank = rank;
  }
  return found;
}

// What a job reports last may come in when it has ended.
double end_of_reports_s(const RunView& run) {
  const Training& training = run.training();
  double end_s = std::max(run.duration_s(), training.end_s);
  for (const Epoch& epoch : training.epochs) end_s = std::max(end_s, epoch.time_s);
  return end_s;
}

}  // namespace

Result<Json> distribution_json(const RunView& run) {
  const Training& training = run.training();
  Json document = {{"id", run.manifest().id}};
  Distribution times;
  if (training.details != nullptr && training.observed > 0) {
    const auto reader = training.details->steps();
    Step step;
    while (true) {
      TS_TRY(const bool has_step, reader->next(step));
      if (!has_step) break;
      if (step.kind == "step" && step.duration_s) times.add(*step.duration_s);
    }
  }
  if (times.count() == 0) {
    const std::string& reason = training.count ? training.times_reason : training.reason;
    document["reason"] = reason.empty() ? "no steps after the warm-up" : reason;
    return document;
  }
  Json quantiles = Json::array();
  for (int q = 0; q <= kQuantiles; ++q) {
    quantiles.push_back(times.nearest_rank(static_cast<double>(q) / kQuantiles));
  }
  document["unit"] = "s";
  document["quantiles"] = std::move(quantiles);
  document["steps"] = times.count();
  return document;
}

Result<Json> row_json(const RunView& run) {
  const Training& training = run.training();
  Json row = {{"id", run.manifest().id},
              {"duration_s", run.duration_s()},
              {"steps", value_or_null(training.count)},
              {"steps_per_s", value_or_null(training.steps_per_s)},
              {"loss", nullptr},
              {"name_of_loss", nullptr}};
  const auto series = loss_series(run);
  const double end_s = end_of_reports_s(run);
  if (!series || !(end_s > 0)) return row;
  const double window_s = std::nextafter(end_s / static_cast<double>(kRowPoints), end_s);
  const TimeWindows windows = {0, window_s, kRowPoints};
  TS_TRY(const std::vector<WindowFold> folds,
         run.fold_windows({{*series, Reading::level}}, windows));
  row["name_of_loss"] = series_text(run.series()[*series]);
  row["loss"] = Json::array();
  for (size_t w = 0; w < kRowPoints; ++w) {
    if (const auto value = folds[0].at(w)) row["loss"].push_back(*value);
  }
  return row;
}

}  // namespace trainscope
