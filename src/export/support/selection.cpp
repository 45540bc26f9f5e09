#include "export/support/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

#include "base/glob.h"
#include "base/suggest.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr double kValuesAWindow = 2e6;
constexpr double kMinRows = 256, kMaxRows = 65536;
constexpr double kMaxWindows = 100'000;  // a damaged manifest may claim thousands of years
constexpr size_t kSuggestions = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Error unknown_metric(const RunView& run, const std::string& wanted) {
  std::set<std::string> names;
  for (const Series& series : run.series()) {
    if (series.status != SeriesStatus::absent) names.insert(series.metric);
  }
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& name : names) near.emplace_back(edit_distance(wanted, name), name);
  std::sort(near.begin(), near.end());
  std::vector<std::string> suggestions;
  for (size_t i = 0; i < near.size() && i < kSuggestions; ++i)
    suggestions.push_back(near[i].second);
  return Error(fmt::format("this run has no metric '{}'{}", wanted, did_you_mean(suggestions)));
}

bool is_known(const std::vector<Series>& all, const std::string& wanted) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Series& series) { return glob_matches(wanted, series.metric); });
}

// Whether a pattern matches a name that begins with "train.".
bool may_be_of_training(const std::string& pattern) {
  constexpr std::string_view kTraining = "train.";
  const std::string_view literal =
      std::string_view(pattern).substr(0, pattern.find_first_of("*?["));
  return literal.starts_with(kTraining) ||
         (literal.size() < pattern.size() && kTraining.starts_with(literal));
}

// All series that these metrics may be, without reading reported progress where that is no matter.
const std::vector<Series>& series_to_search(const RunView& run,
                                            const std::vector<std::string>& metrics) {
  for (const std::string& wanted : metrics) {
    // An absent metric may be named too.
    if (may_be_of_training(wanted) || !is_known(run.recorded_series(), wanted)) return run.series();
  }
  return metrics.empty() ? run.series() : run.recorded_series();
}

// How much of the run's time has as many reported values as a window may have, if they are spread
// evenly.
double reported_length_s(const RunView& run, const std::vector<size_t>& selected) {
  const auto values = static_cast<double>(reported_samples(run, selected).all);
  return values > kValuesAWindow ? run.duration_s() * kValuesAWindow / values : kInfinity;
}

bool is_increasing(const std::vector<double>& times) {
  return std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) == times.end();
}

// The times of all series, each once. Most series have the same times.
std::vector<double> distinct_times(const Window& window) {
  std::vector<double> all, more;
  for (const Values& values : window.series) {
    const std::vector<double>& times = values.time_s;
    if (times == all || std::includes(all.begin(), all.end(), times.begin(), times.end())) continue;
    more.clear();
    std::set_union(all.begin(), all.end(), times.begin(), times.end(), std::back_inserter(more));
    all.swap(more);
  }
  return all;
}

// for_each_sample where the times of each series increase. A window is so small that looking at
// every series at every time takes less than sorting.
Status merge_by_time(const Window& window, const TakeSample& take) {
  std::vector<uint32_t> next(window.series.size());
  for (const double time_s : distinct_times(window)) {
    for (uint32_t s = 0; s < next.size(); ++s) {
      const std::vector<double>& times = window.series[s].time_s;
      if (next[s] == times.size() || times[next[s]] != time_s) continue;
      TS_CHECK_OK(take({time_s, s, next[s]++}));
    }
  }
  return {};
}

// Window k is [edge_s(k), edge_s(k + 1)). An edge is computed from its number: a sum of lengths
// would drift across samples.
class Windows {
 public:
  // So long that there are not too many values in a window, and a multiple of the buckets.
  Windows(const RunView& run, const std::vector<size_t>& selected, int64_t every_ns) {
    const double period_s = run.sampling().period_s > 0 ? run.sampling().period_s : 1;
    double rows =
        std::clamp(kValuesAWindow / static_cast<double>(std::max<size_t>(selected.size(), 1)),
                   kMinRows, kMaxRows);
    rows = std::clamp(std::floor(reported_length_s(run, selected) / period_s), 1.0, rows);
    const double wanted_ns = std::max(rows * period_s, run.duration_s() / kMaxWindows) * 1e9;
    // Buckets have their own edges, where a time rounds to the nanosecond of the next bucket.
    // Other edges are between ticks, where no sample is, so that rows read together stay together.
    const double part_ns = every_ns > 0 ? static_cast<double>(every_ns) : period_s * 1e9;
    length_ns_ = std::max(1.0, std::floor(wanted_ns / part_ns)) * part_ns;
    shift_ns_ = every_ns > 0 ? 0.5 : part_ns / 2;
  }
  double edge_s(int64_t k) const { return (static_cast<double>(k) * length_ns_ - shift_ns_) / 1e9; }
  int64_t window_at(double time_s) const {
    return static_cast<int64_t>(std::max(0.0, std::floor((time_s * 1e9 + shift_ns_) / length_ns_)));
  }

 private:
  double length_ns_ = 0, shift_ns_ = 0;
};

}  // namespace

Result<std::vector<size_t>> select_series(const RunView& run,
                                          const std::vector<std::string>& metrics) {
  const std::vector<Series>& all = series_to_search(run, metrics);
  for (const std::string& wanted : metrics) {
    if (!is_known(all, wanted)) return unknown_metric(run, wanted);
  }
  return matching_series(all, metrics);
}

std::vector<size_t> matching_series(const std::vector<Series>& all,
                                    const std::vector<std::string>& metrics) {
  std::vector<size_t> selected;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].status == SeriesStatus::absent) continue;
    const bool wanted = metrics.empty() ||
                        std::any_of(metrics.begin(), metrics.end(),
                                    [&](const auto& m) { return glob_matches(m, all[i].metric); });
    if (wanted) selected.push_back(i);
  }
  return selected;
}

void sort_by_time(std::vector<SampleAt>& samples) {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const SampleAt& a, const SampleAt& b) { return a.time_s < b.time_s; });
}

Status for_each_sample(const Window& window, const TakeSample& take) {
  const bool is_ordered =
      std::all_of(window.series.begin(), window.series.end(),
                  [](const Values& values) { return is_increasing(values.time_s); });
  if (is_ordered) return merge_by_time(window, take);
  std::vector<SampleAt> samples;
  for (uint32_t s = 0; s < window.series.size(); ++s) {
    const std::vector<double>& times = window.series[s].time_s;
    for (uint32_t i = 0; i < times.size(); ++i) samples.push_back({times[i], s, i});
  }
  sort_by_time(samples);
  for (const SampleAt& at : samples) TS_CHECK_OK(take(at));
  return {};
}

Status for_each_window(const RunView& run, const std::vector<size_t>& selected,
                       const ExportOptions& options,
                       const std::function<Status(const Window&)>& take) {
  const Windows windows(run, selected, options.every_ns);
  const double end_s = std::min(options.range.end_s.value_or(run.duration_s()), run.duration_s());
  const int64_t first = windows.window_at(options.range.begin_s.value_or(0));
  std::vector<SeriesFilter> filters;
  for (const size_t i : selected) filters.emplace_back(run.series_at(i), options);
  bool is_last = false;
  for (int64_t k = first; !is_last; ++k) {
    is_last = windows.edge_s(k + 1) > end_s;
    // Without a range the first and the last window are open, for samples a little outside of the
    // run's time.
    Range range = options.range;
    if (k > first) range.begin_s = windows.edge_s(k);
    if (!is_last) range.end_s = windows.edge_s(k + 1);
    Window window;
    TS_TRY(std::vector<Points> all, run.points_of(selected, range));
    for (size_t i = 0; i < selected.size(); ++i) {
      window.series.push_back(filters[i].add(present_values(std::move(all[i]))));
      filters[i].finish_bucket(window.series.back());  // no bucket is in two windows
    }
    TS_CHECK_OK(take(window));
  }
  return {};
}

}  // namespace trainscope
