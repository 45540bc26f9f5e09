#include "document/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "document/column_samples.h"
#include "document/column_writer.h"

namespace trainscope {

namespace {

// More values than this take too long to decode for one chart: then windows come from overviews.
constexpr double kMostDecodedValues = 0.45e6;
// Windows within half of the moving mean's width, so that its edges are not coarse.
constexpr double kWindowsPerSmoothing = 8;
constexpr double kMostFineWindows = 1 << 14;
// Of a moving mean that is much wider than what is shown.
constexpr double kWindowsPerWideSmoothing = 64;

// What is read: windows of `fine_s` of which `per_window` make one of the answer, `pad` of them
// before and after it for the moving mean.
struct WindowPlan {
  double from_s = 0, fine_s = 0;
  size_t count = 0, per_window = 1, pad = 0;

  double window_s() const { return fine_s * static_cast<double>(per_window); }
};

TimeSpan span_of(const RunView& run, const ColumnsQuery& query) {
  const double end_s = std::max(run.duration_s(), 1e-3);
  const TimeSpan span = {std::clamp(query.from_s.value_or(0), 0.0, end_s),
                         std::clamp(query.to_s.value_or(end_s), 0.0, end_s)};
  return span;
}

// The span of samples that are taken at equal intervals; of others, all that there are.
double samples_within(const RunView& run, size_t series, const TimeSpan& span) {
  const double period_s = run.series_at(series).period_s;
  if (period_s > 0) return span.length_s() / period_s + 1;
  if (series < run.recorded_series().size()) {
    return span.length_s() / std::max(run.sampling().period_s, 1e-3) + 1;
  }
  return static_cast<double>(reported_samples(run, {series}).all);
}

struct ExpectedSamples {
  double all = 0, most_of_one = 0;
};
ExpectedSamples expected_samples(const RunView& run, const std::vector<size_t>& series,
                                 const TimeSpan& span) {
  ExpectedSamples expected;
  for (const size_t each : series) {
    const double samples = samples_within(run, each, span);
    expected.all += samples;
    expected.most_of_one = std::max(expected.most_of_one, samples);
  }
  return expected;
}

std::vector<WindowQuery> window_queries(const RunView& run, const std::vector<size_t>& series) {
  std::vector<WindowQuery> queries;
  for (const size_t each : series) queries.push_back({each, reading_of(run.series_at(each)), true});
  return queries;
}

size_t windows_within(double length_s, double window_s) {
  return static_cast<size_t>(std::max(1.0, std::ceil(length_s / window_s - 1e-9)));
}

WindowPlan plan_decoded(const ColumnsQuery& query, const TimeSpan& span) {
  WindowPlan plan;
  const double window_s = span.length_s() / static_cast<double>(query.points);
  if (query.smooth_s > 0) {
    const double fine_s = query.smooth_s / kWindowsPerSmoothing;
    const double most = std::max(1.0, kMostFineWindows / static_cast<double>(query.points));
    plan.per_window = static_cast<size_t>(std::clamp(std::ceil(window_s / fine_s), 1.0, most));
  }
  plan.from_s = span.from_s;
  plan.fine_s = window_s / static_cast<double>(plan.per_window);
  plan.count = query.points;
  return plan;
}

WindowPlan plan_overview(const ColumnsQuery& query, const TimeSpan& span, double fine_s) {
  WindowPlan plan;
  plan.fine_s = fine_s;
  plan.per_window = windows_within(span.length_s() / static_cast<double>(query.points), fine_s);
  plan.from_s = std::floor(span.from_s / fine_s) * fine_s;
  plan.count = windows_within(span.to_s - plan.from_s, plan.window_s());
  return plan;
}

// The mean over a width around the middle of each window of the answer.
class MovingWindows {
 public:
  MovingWindows(const FoldedSeries& fine, double width_s) : fine_(fine), width_s_(width_s) {
    sums_.push_back(0);
    weights_.push_back(0);
    for (const FoldedWindow& window : fine.windows) {
      sums_.push_back(sums_.back() + window.sum);
      weights_.push_back(weights_.back() + window.weight);
    }
  }

  // Nothing if there is no value near it.
  std::optional<double> mean_at(double time_s) const {
    const size_t from = place_of(time_s - width_s_ / 2), to = place_of(time_s + width_s_ / 2);
    const size_t end = std::max(to, from + 1);
    if (end >= sums_.size()) return mean_of(std::min(from, sums_.size() - 1), sums_.size() - 1);
    return mean_of(from, end);
  }

 private:
  size_t place_of(double time_s) const {
    const double place = std::round((time_s - fine_.begin_s) / fine_.window_s);
    return static_cast<size_t>(std::clamp(place, 0.0, static_cast<double>(fine_.windows.size())));
  }
  std::optional<double> mean_of(size_t from, size_t to) const {
    const double weight = weights_[to] - weights_[from];
    if (!(weight > 0)) return std::nullopt;
    return (sums_[to] - sums_[from]) / weight;
  }

  const FoldedSeries& fine_;
  double width_s_;
  std::vector<double> sums_, weights_;  // of all windows before each
};

// `fine` begins at any time; the windows of the answer are made of its windows, the moving mean of
// those of `smoothed`.
ChartColumn window_column(const Json& header, const FoldedSeries& fine,
                          const FoldedSeries& smoothed, const WindowPlan& plan,
                          const ColumnsQuery& query) {
  std::vector<double> times, means, mins, maxs, smooth, weights;
  const double smooth_s = query.smooth_s;
  const MovingWindows moving(smoothed, smooth_s);
  const auto first = static_cast<size_t>(std::llround((plan.from_s - fine.begin_s) / plan.fine_s));
  for (size_t w = 0; w < plan.count; ++w) {
    FoldedWindow sum;
    for (size_t k = 0; k < plan.per_window; ++k) {
      const size_t at = first + w * plan.per_window + k;
      if (at < fine.windows.size()) sum.add(fine.windows[at]);
    }
    if (sum.is_empty()) continue;
    const double time_s = plan.from_s + plan.window_s() * (static_cast<double>(w) + 0.5);
    const double mean = std::clamp(sum.sum / sum.weight, sum.min, sum.max);
    times.push_back(time_s);
    means.push_back(mean);
    mins.push_back(sum.min);
    maxs.push_back(sum.max);
    if (smooth_s > 0) smooth.push_back(moving.mean_at(time_s).value_or(mean));
    if (query.has_weights) weights.push_back(sum.weight);
  }
  ChartColumn column{header,
                     {{"time", std::move(times)},
                      {"mean", std::move(means)},
                      {"min", std::move(mins)},
                      {"max", std::move(maxs)}}};
  if (smooth_s > 0) column.arrays.emplace_back("smooth", std::move(smooth));
  if (query.has_weights) column.arrays.emplace_back("weight", std::move(weights));
  return column;
}

using SeriesPointers = std::vector<const FoldedSeries*>;
SeriesPointers pointers_to(const std::vector<FoldedSeries>& all) {
  SeriesPointers pointers;
  for (const FoldedSeries& each : all) pointers.push_back(&each);
  return pointers;
}

std::string write_windows(const RunView& run, const ColumnsQuery& query, const WindowPlan& plan,
                          const SeriesPointers& fine, const SeriesPointers& smoothed) {
  std::vector<ChartColumn> columns;
  for (size_t i = 0; i < query.series.size(); ++i) {
    columns.push_back(
        window_column(column_header(run, query.series[i]), *fine[i], *smoothed[i], plan, query));
  }
  const TimeSpan span = {plan.from_s,
                         plan.from_s + plan.window_s() * static_cast<double>(plan.count)};
  return write_columns(columns_header(run, span, plan.window_s()), columns);
}

Result<std::string> overview_columns(const RunView& run, const ColumnsQuery& query,
                                     const TimeSpan& span, Overviews& overviews) {
  TS_TRY(const std::vector<Overviews::Overview> all,
         overviews.of(run, window_queries(run, query.series)));
  SeriesPointers fine;
  for (const Overviews::Overview& each : all) fine.push_back(each.get());
  return write_windows(run, query, plan_overview(query, span, fine.front()->window_s), fine, fine);
}

// Reported values are not at equal intervals: how many there are is known when they were read.
bool are_few(const RunView& run, const ColumnsQuery& query, const TimeSpan& span,
             const std::vector<FoldedSeries>& read) {
  for (size_t i = 0; i < read.size(); ++i) {
    const size_t series = query.series[i];
    double samples = samples_within(run, series, span);
    if (series >= run.recorded_series().size() &&
        reading_of(run.series_at(series)) == Reading::level) {
      samples = 0;
      for (const FoldedWindow& window : read[i].windows) samples += window.weight;
    }
    if (samples > 2 * static_cast<double>(query.points)) return false;
  }
  return true;
}

// Windows around what is shown for a moving mean that is much wider than it: in the width of those
// that are shown there could be millions.
TimeWindows wide_smoothing(const ColumnsQuery& query, const TimeSpan& span) {
  const double length_s = query.smooth_s / kWindowsPerWideSmoothing;
  const double begin_s = std::max(0.0, span.from_s - query.smooth_s / 2);
  return {begin_s, length_s, windows_within(span.to_s + query.smooth_s / 2 - begin_s, length_s)};
}

Result<std::string> decoded_columns(const RunView& run, const ColumnsQuery& query,
                                    const TimeSpan& span) {
  WindowPlan plan = plan_decoded(query, span);
  const std::vector<WindowQuery> queries = window_queries(run, query.series);
  const double padding = std::ceil(query.smooth_s / 2 / plan.fine_s);
  const bool is_wide = padding > kMostFineWindows;
  if (query.smooth_s > 0 && !is_wide) {
    const double before = std::floor(plan.from_s / plan.fine_s);
    plan.pad = static_cast<size_t>(std::min(before, padding));
  }
  const double begin_s = plan.from_s - plan.fine_s * static_cast<double>(plan.pad);
  const size_t count = plan.count * plan.per_window + 2 * plan.pad;
  TS_TRY(const std::vector<FoldedSeries> read,
         fold_series(run, queries, {std::max(0.0, begin_s), plan.fine_s, count}));
  if (are_few(run, query, span, read)) return sample_columns(run, query, span);
  const SeriesPointers fine = pointers_to(read);
  if (!is_wide) return write_windows(run, query, plan, fine, fine);
  TS_TRY(const std::vector<FoldedSeries> smoothed,
         fold_series(run, queries, wide_smoothing(query, span)));
  return write_windows(run, query, plan, fine, pointers_to(smoothed));
}

}  // namespace

Status check_columns_query(const RunView& run, const ColumnsQuery& query) {
  if (query.series.empty()) return Error("'series' names no series");
  if (query.series.size() > kMostColumns) {
    return Error(fmt::format("'series' names more than {} series", kMostColumns));
  }
  for (const size_t series : query.series) {
    if (series < run.recorded_series().size() || series < run.series().size()) continue;
    return Error(fmt::format("the run has no series {}", series));
  }
  if (query.points < kFewestPoints || query.points > kMostPoints) {
    return Error(fmt::format("'points' must be from {} to {}", kFewestPoints, kMostPoints));
  }
  if (!(query.smooth_s >= 0) || !std::isfinite(query.smooth_s)) {
    return Error("'smooth' must be a number of seconds from 0 on");
  }
  if (query.from_s && query.to_s && !(*query.from_s < *query.to_s)) {
    return Error("'from' must be before 'to'");
  }
  return {};
}

Result<std::string> columns_document(const RunView& run, const ColumnsQuery& asked,
                                     Overviews& overviews) {
  TS_CHECK_OK(check_columns_query(run, asked));
  ColumnsQuery query = asked;
  const TimeSpan span = span_of(run, query);
  // A mean over twice the time of the run is that over all of it; of no time there is none.
  query.smooth_s = std::min(query.smooth_s, 2 * std::max(run.duration_s(), 1e-3));
  if (!(span.length_s() > 0)) query.smooth_s = 0;
  const TimeSpan read = {std::max(0.0, span.from_s - query.smooth_s / 2),
                         std::min(run.duration_s(), span.to_s + query.smooth_s / 2)};
  const ExpectedSamples expected = expected_samples(run, query.series, read);
  const ExpectedSamples shown = expected_samples(run, query.series, span);
  const double few = 2 * static_cast<double>(query.points);
  const bool is_readable = expected.most_of_one <= few || expected.all <= kMostDecodedValues;
  if (!(span.length_s() > 0) || (shown.most_of_one <= few && is_readable)) {
    return sample_columns(run, query, span);
  }
  if (expected.all > kMostDecodedValues) return overview_columns(run, query, span, overviews);
  return decoded_columns(run, query, span);
}

}  // namespace trainscope
