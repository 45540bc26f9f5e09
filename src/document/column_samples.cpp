#include "document/column_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "document/column_writer.h"
#include "model/training.h"

namespace trainscope {

Reading reading_of(const Series& series) {
  return series.kind == Kind::counter ? Reading::rate : Reading::level;
}

std::string shown_unit(const Series& series) {
  if (reading_of(series) == Reading::level) return series.unit;
  if (series.unit == "s") return "1";
  if (series.unit == "J") return "W";
  return series.unit + "/s";
}

Json column_header(const RunView& run, size_t series) {
  const Series& each = run.series_at(series);
  return {{"series", series},
          {"name", series_text(each)},
          {"reading", reading_of(each) == Reading::rate ? "rate" : "level"},
          {"unit", shown_unit(each)}};
}

Json columns_header(const RunView& run, const TimeSpan& span, const Json& window_s) {
  return {{"from_s", span.from_s},
          {"to_s", span.to_s},
          {"window_s", window_s},
          {"duration_s", run.duration_s()},
          {"status", run_status_name(run.status())}};
}

namespace {

struct Samples {
  std::vector<double> time_s, value;
  std::vector<double> weight = {};  // 1; of a rate, the seconds between its two samples
};

// Of a counter the rate between two samples, at the middle of them; none where it was reset.
Samples shown_samples(const Points& points, Reading reading) {
  Samples shown;
  std::optional<size_t> last;
  for (size_t i = 0; i < points.time_s.size(); ++i) {
    if (points.present[i] == 0 || !std::isfinite(points.value[i])) continue;
    if (reading == Reading::level) {
      shown.time_s.push_back(points.time_s[i]);
      shown.value.push_back(points.value[i]);
      shown.weight.push_back(1);
      continue;
    }
    const double since_s = last ? points.time_s[i] - points.time_s[*last] : 0;
    if (since_s > 0 && points.value[i] >= points.value[*last]) {
      shown.time_s.push_back((points.time_s[i] + points.time_s[*last]) / 2);
      shown.value.push_back((points.value[i] - points.value[*last]) / since_s);
      shown.weight.push_back(since_s);
    }
    last = i;
  }
  return shown;
}

// The mean of the samples within half the width before and after each of them.
std::vector<double> moving_mean(const Samples& samples, double width_s) {
  std::vector<double> means;
  size_t begin = 0, end = 0;
  long double sum = 0;
  for (const double time_s : samples.time_s) {
    for (; end < samples.time_s.size() && samples.time_s[end] <= time_s + width_s / 2; ++end) {
      sum += samples.value[end];
    }
    for (; samples.time_s[begin] < time_s - width_s / 2; ++begin) sum -= samples.value[begin];
    means.push_back(static_cast<double>(sum / static_cast<long double>(end - begin)));
  }
  return means;
}

template <typename Value>
void keep_places(std::vector<Value>& values, size_t begin, size_t end) {
  values.erase(values.begin() + static_cast<ptrdiff_t>(end), values.end());
  values.erase(values.begin(), values.begin() + static_cast<ptrdiff_t>(begin));
}

ChartColumn sample_column(const RunView& run, size_t series, const Points& points,
                          const TimeSpan& span, const ColumnsQuery& query) {
  Samples samples = shown_samples(points, reading_of(run.series_at(series)));
  std::vector<double> smooth;
  const double smooth_s = query.smooth_s;
  if (smooth_s > 0) smooth = moving_mean(samples, smooth_s);
  const auto first = std::lower_bound(samples.time_s.begin(), samples.time_s.end(), span.from_s);
  const auto past = std::upper_bound(first, samples.time_s.end(), span.to_s);
  const auto begin = static_cast<size_t>(first - samples.time_s.begin());
  const auto end = static_cast<size_t>(past - samples.time_s.begin());
  keep_places(samples.time_s, begin, end);
  keep_places(samples.value, begin, end);
  ChartColumn column{column_header(run, series),
                     {{"time", std::move(samples.time_s)}, {"value", std::move(samples.value)}}};
  if (smooth_s > 0) {
    keep_places(smooth, begin, end);
    column.arrays.emplace_back("smooth", std::move(smooth));
  }
  if (query.has_weights) {
    keep_places(samples.weight, begin, end);
    column.arrays.emplace_back("weight", std::move(samples.weight));
  }
  return column;
}

}  // namespace

Result<std::string> sample_columns(const RunView& run, const ColumnsQuery& query,
                                   const TimeSpan& span) {
  // A rate at an edge is between samples on both sides of it, and some sources are slow.
  const double beside_s =
      query.smooth_s / 2 + 2 * std::max(longest_period_s(run, query.series), 1e-3);
  TS_TRY(const std::vector<Points> points,
         run.points_of(query.series, {span.from_s - beside_s, span.to_s + beside_s}));
  std::vector<ChartColumn> columns;
  for (size_t i = 0; i < query.series.size(); ++i) {
    columns.push_back(sample_column(run, query.series[i], points[i], span, query));
  }
  return write_columns(columns_header(run, span, nullptr), columns);
}

Result<std::string> steps_columns(const RunView& run, size_t points) {
  if (points < kFewestPoints || points > kMostPoints) {
    return Error(fmt::format("'points' must be from {} to {}", kFewestPoints, kMostPoints));
  }
  const Training& training = run.training();
  // The last step is added to every k-th.
  const auto others = static_cast<int64_t>(points) - 1;
  const int64_t every = std::max<int64_t>(1, (training.observed + others - 1) / others);
  Samples steps;
  Step step, last;
  int64_t number = 0;
  if (training.details != nullptr && training.observed > 0) {
    const auto reader = training.details->steps();
    while (true) {
      TS_TRY(const bool has_step, reader->next(step));
      if (!has_step) break;
      last = step;
      if (number++ % every != 0) continue;
      steps.time_s.push_back(step.time_s);
      steps.value.push_back(static_cast<double>(step.step));
    }
  }
  if (!steps.time_s.empty() && steps.time_s.back() < last.time_s) {
    steps.time_s.push_back(last.time_s);
    steps.value.push_back(static_cast<double>(last.step));
  }
  Json header = columns_header(run, {0, run.duration_s()}, nullptr);
  return write_columns(
      std::move(header),
      {{{{"series", nullptr}, {"name", "step"}, {"reading", "level"}, {"unit", "{step}"}},
        {{"time", std::move(steps.time_s)}, {"value", std::move(steps.value)}}}});
}

}  // namespace trainscope
