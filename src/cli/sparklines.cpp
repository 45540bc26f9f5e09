#include "cli/sparklines.h"

#include <algorithm>

namespace trainscope {

namespace {

bool is_of_training(const Series& series) { return series.metric.starts_with("train."); }

bool has_sparkline(const Series& series) {
  if (is_of_training(series)) return series.kind == Kind::gauge;
  return series.unit == "1" && series.kind == Kind::gauge && !series.metric.starts_with("counter.");
}

// Shares from 0 to 1; what a training reports, from its least to its largest value.
std::string sparkline_of(const Series& series, const WindowFold& fold, Charset charset) {
  std::vector<std::optional<double>> values;
  std::optional<double> least, most;
  for (size_t k = 0; k < kSparklineColumns; ++k) {
    values.push_back(fold.at(k));
    if (!values[k]) continue;
    least = std::min(least.value_or(*values[k]), *values[k]);
    most = std::max(most.value_or(*values[k]), *values[k]);
  }
  if (!most) return "";
  const bool is_share = !is_of_training(series) && *least >= 0 && *most <= 1;
  return is_share ? sparkline(values, 0, 1, charset) : sparkline(values, *least, *most, charset);
}

}  // namespace

Result<std::vector<std::string>> sparklines_of(const RunView& run,
                                               const std::vector<size_t>& series, Charset charset) {
  std::vector<std::string> out(series.size());
  const double duration_s = run.duration_s();
  if (!(duration_s > 0)) return out;
  const TimeWindows windows{0, duration_s / kSparklineColumns, kSparklineColumns};
  const auto draw = [&](bool of_training) -> Status {
    std::vector<WindowQuery> queries;
    std::vector<size_t> places;
    for (size_t k = 0; k < series.size(); ++k) {
      const Series& one = run.series()[series[k]];
      if (!has_sparkline(one) || is_of_training(one) != of_training) continue;
      queries.push_back({series[k], Reading::level});
      places.push_back(k);
    }
    TS_TRY(const std::vector<WindowFold> folds, run.fold_windows(queries, windows));
    for (size_t k = 0; k < places.size(); ++k) {
      out[places[k]] = sparkline_of(run.series()[queries[k].series], folds[k], charset);
    }
    return {};
  };
  TS_CHECK_OK(draw(false));
  // Of a run that is followed, only the steps are known: then what it reports has no chart.
  (void)draw(true);
  return out;
}

}  // namespace trainscope
