#include "export/support/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/suggest.h"
#include "base/text.h"

namespace trainscope {

namespace {

constexpr double kValuesAWindow = 2e6;
constexpr double kMinRows = 256, kMaxRows = 65536;
constexpr size_t kSuggestions = 3;

Error unknown_metric(const RunView& run, const std::string& wanted) {
  std::set<std::string> names;
  for (const Series& series : run.series()) {
    if (series.status != SeriesStatus::absent) names.insert(series.metric);
  }
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& name : names) near.emplace_back(edit_distance(wanted, name), name);
  std::sort(near.begin(), near.end());
  std::string message = fmt::format("this run has no metric '{}'", wanted);
  for (size_t i = 0; i < near.size() && i < kSuggestions; ++i) {
    message += (i == 0 ? "; similar: " : ", ") + near[i].second;
  }
  return Error(message);
}

Values present_values(const Points& points) {
  Values values;
  for (size_t i = 0; i < points.time_s.size(); ++i) {
    if (points.present[i] == 0) continue;
    values.time_s.push_back(points.time_s[i]);
    values.value.push_back(points.value[i]);
  }
  return values;
}

int64_t bucket_of(double time_s, int64_t every_ns) {
  return static_cast<int64_t>(std::floor(std::round(time_s * 1e9) / static_cast<double>(every_ns)));
}

Values resampled(const Values& in, Kind kind, int64_t every_ns) {
  Values out;
  for (size_t i = 0; i < in.time_s.size();) {
    const int64_t bucket = bucket_of(in.time_s[i], every_ns);
    long double sum = 0;
    size_t n = 0;
    for (; i < in.time_s.size() && bucket_of(in.time_s[i], every_ns) == bucket; ++i, ++n) {
      sum += static_cast<long double>(in.value[i]);
    }
    const bool mean = kind == Kind::gauge;
    out.time_s.push_back(static_cast<double>(bucket) * static_cast<double>(every_ns) / 1e9);
    out.value.push_back(mean ? static_cast<double>(sum / static_cast<long double>(n))
                             : in.value[i - 1]);
  }
  return out;
}

bool is_known(const std::vector<Series>& all, const std::string& wanted) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Series& series) { return glob_matches(wanted, series.metric); });
}

// Whether a pattern matches a name that begins with "train.".
bool may_be_of_training(const std::string& pattern) {
  constexpr std::string_view kTraining = "train.";
  const std::string_view literal = std::string_view(pattern).substr(0, pattern.find('*'));
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

// The length of a window: so long that there are not too many values in it, a multiple of the
// buckets.
double window_length_s(const RunView& run, size_t series, int64_t every_ns) {
  const double period_s = run.sampling().period_s > 0 ? run.sampling().period_s : 1;
  const double rows = std::clamp(kValuesAWindow / static_cast<double>(std::max<size_t>(series, 1)),
                                 kMinRows, kMaxRows);
  const double length = rows * period_s;
  if (every_ns == 0) return length;
  const double every_s = static_cast<double>(every_ns) / 1e9;
  return std::max(1.0, std::floor(length / every_s)) * every_s;
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Result<std::vector<size_t>> select_series(const RunView& run,
                                          const std::vector<std::string>& metrics) {
  const std::vector<Series>& all = series_to_search(run, metrics);
  for (const std::string& wanted : metrics) {
    if (!is_known(all, wanted)) return unknown_metric(run, wanted);
  }
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

std::vector<SampleAt> samples_by_time(const Window& window) {
  std::vector<SampleAt> samples;
  for (uint32_t s = 0; s < window.series.size(); ++s) {
    const std::vector<double>& times = window.series[s].time_s;
    for (uint32_t i = 0; i < times.size(); ++i) samples.push_back({times[i], s, i});
  }
  sort_by_time(samples);
  return samples;
}

Status for_each_window(const RunView& run, const std::vector<size_t>& selected,
                       const ExportOptions& options,
                       const std::function<Status(const Window&)>& take) {
  const double length = window_length_s(run, selected.size(), options.every_ns);
  // Window edges are between ticks, where no sample is, so that rows read together stay together.
  // Buckets have their own edges.
  const double shift = options.every_ns == 0 ? run.sampling().period_s / 2 : 0;
  const double end_s = std::min(options.range.end_s.value_or(run.duration_s()), run.duration_s());
  double from = options.every_ns == 0 ? -shift : 0;
  const double begin_s = options.range.begin_s.value_or(0);
  from += std::floor(std::max(0.0, begin_s - from) / length) * length;
  for (bool last = false; !last; from += length) {
    last = from + length > end_s;
    // The first and the last window are open, for samples a little outside of the run's time.
    const double low = options.range.begin_s ? std::max(from, begin_s) : from;
    Range range{low, from + length};
    if (!options.range.begin_s && from <= 0) range.begin_s.reset();
    if (last) range.end_s = options.range.end_s;
    if (!last && options.range.end_s) range.end_s = std::min(*range.end_s, *options.range.end_s);
    Window window;
    TS_TRY(const std::vector<Points> all, run.points_of(selected, range));
    for (size_t k = 0; k < selected.size(); ++k) {
      Values values = present_values(all[k]);
      const Kind kind = run.series_at(selected[k]).kind;
      if (options.every_ns > 0) values = resampled(values, kind, options.every_ns);
      window.series.push_back(std::move(values));
    }
    TS_CHECK_OK(take(window));
  }
  return {};
}

}  // namespace trainscope
