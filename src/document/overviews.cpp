#include "document/overviews.h"

#include <algorithm>
#include <cmath>

namespace trainscope {

namespace {

// Rows of slow sources are written later than others.
constexpr double kLateRowsS = 10;
// Windows that are read beside those that are wanted.
constexpr double kMostBeside = 1 << 14;

std::string overview_key(const RunView& run, const WindowQuery& query) {
  const char* const reading = query.reading == Reading::rate ? " rate " : " level ";
  return run.manifest().id + reading + series_text(run.series_at(query.series));
}

// The shortest power of two of sampling periods of which the run has at most kMostWindows.
double overview_window_s(const RunView& run) {
  double window_s = run.sampling().period_s > 0 ? run.sampling().period_s : 1;
  while (window_s * static_cast<double>(Overviews::kMostWindows) < run.duration_s()) window_s *= 2;
  return window_s;
}

// As many windows of a multiple of their width.
FoldedSeries widened(const FoldedSeries& series, double window_s) {
  FoldedSeries wide{series.begin_s, window_s, {}};
  const auto step = static_cast<size_t>(std::llround(window_s / series.window_s));
  for (size_t i = 0; i + step <= series.windows.size(); i += step) {
    FoldedWindow& sum = wide.windows.emplace_back(series.windows[i]);
    for (size_t k = 1; k < step; ++k) sum.add(series.windows[i + k]);
  }
  return wide;
}

FoldedWindow window_of(const WindowFold& fold, size_t window) {
  const double weight = fold.weight(window);
  const auto mean = fold.at(window), min = fold.min(window), max = fold.max(window);
  if (!mean || !min || !max || !std::isfinite(*mean)) return {};
  return {*mean * weight, weight, *min, *max};
}

}  // namespace

void FoldedWindow::add(const FoldedWindow& more) {
  if (more.is_empty()) return;
  if (is_empty()) {
    *this = more;
    return;
  }
  sum += more.sum;
  weight += more.weight;
  min = std::min(min, more.min);
  max = std::max(max, more.max);
}

size_t windows_to(double duration_s, double window_s) {
  const double whole = std::floor(duration_s / window_s);
  const bool is_at_edge = whole > 0 && whole * window_s == duration_s;  // the last one ends with it
  return static_cast<size_t>(is_at_edge ? whole : whole + 1);
}

double longest_period_s(const RunView& run, const std::vector<size_t>& series) {
  double longest_s = run.sampling().period_s;
  for (const size_t each : series) {
    if (each >= run.recorded_series().size()) continue;
    longest_s = std::max(longest_s, run.series_at(each).period_s);
  }
  return longest_s;
}

Result<std::vector<FoldedSeries>> fold_series(const RunView& run,
                                              const std::vector<WindowQuery>& queries,
                                              const TimeWindows& windows) {
  std::vector<WindowQuery> wanted = queries;
  std::vector<size_t> series;
  for (WindowQuery& query : wanted) {
    query.has_extremes = true;
    series.push_back(query.series);
  }
  // Windows beside those that are wanted: they have the values that the first and the last rate
  // begin and end with. At the end of the run there are none, so that its last instant counts.
  const double beside = std::ceil(2 * longest_period_s(run, series) / windows.length_s);
  const auto more = static_cast<size_t>(std::clamp(beside, 1.0, kMostBeside));
  const size_t before = windows.begin_s > 0 ? more : 0;
  const size_t after = windows.end_s() < run.duration_s() ? more : 0;
  const TimeWindows read = {windows.begin_s - static_cast<double>(before) * windows.length_s,
                            windows.length_s, before + windows.count + after};
  TS_TRY(const std::vector<WindowFold> folds, run.fold_windows(wanted, read));
  std::vector<FoldedSeries> all;
  for (const WindowFold& fold : folds) {
    FoldedSeries& folded = all.emplace_back(FoldedSeries{windows.begin_s, windows.length_s, {}});
    folded.windows.reserve(windows.count);
    for (size_t w = 0; w < windows.count; ++w) {
      folded.windows.push_back(window_of(fold, before + w));
    }
  }
  return all;
}

Overviews::Overview Overviews::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(key);
  if (found == kept_.end()) return nullptr;
  used_.splice(used_.end(), used_, found->second.used);
  return found->second.overview;
}

void Overviews::keep(const std::string& key, const Overview& overview) {
  const auto size_of = [](const Overview& each) {
    return each->windows.size() * sizeof(FoldedWindow);
  };
  const std::lock_guard lock(mutex_);
  if (const auto found = kept_.find(key); found != kept_.end()) {
    bytes_ += size_of(overview) - size_of(found->second.overview);
    found->second.overview = overview;
  } else {
    kept_[key] = {overview, used_.insert(used_.end(), key)};
    bytes_ += size_of(overview);
  }
  while (bytes_ > limit_bytes_ && used_.size() > 1) {
    const auto oldest = kept_.find(used_.front());
    bytes_ -= size_of(oldest->second.overview);
    kept_.erase(oldest);
    used_.pop_front();
  }
}

Result<std::vector<Overviews::Overview>> Overviews::of(const RunView& run,
                                                       const std::vector<WindowQuery>& queries) {
  const double window_s = overview_window_s(run), duration_s = run.duration_s();
  const auto count = static_cast<size_t>(std::ceil(std::max(duration_s / window_s, 1.0)));
  const bool is_running = run.status() == RunStatus::running;
  const auto complete =
      is_running ? static_cast<size_t>(std::max(0.0, (duration_s - kLateRowsS) / window_s)) : count;
  std::vector<Overview> all(queries.size());
  std::map<size_t, std::vector<size_t>> missing;  // by the first window that must be read
  for (size_t i = 0; i < queries.size(); ++i) {
    Overview kept = find(overview_key(run, queries[i]));
    if (kept != nullptr && kept->window_s < window_s) {
      kept = std::make_shared<const FoldedSeries>(widened(*kept, window_s));
    }
    const bool is_known = kept != nullptr && kept->window_s == window_s;
    all[i] = is_known ? kept : nullptr;
    const size_t known = is_known ? std::min(kept->windows.size(), count) : 0;
    if (known < count) missing[known].push_back(i);
  }
  for (const auto& [first, places] : missing) {
    std::vector<WindowQuery> wanted;
    for (const size_t i : places) wanted.push_back(queries[i]);
    TS_TRY(
        const std::vector<FoldedSeries> read,
        fold_series(run, wanted, {window_s * static_cast<double>(first), window_s, count - first}));
    for (size_t k = 0; k < places.size(); ++k) {
      Overview& place = all[places[k]];
      FoldedSeries whole{0, window_s, {}};
      if (place != nullptr) whole.windows = place->windows;
      whole.windows.resize(first);
      whole.windows.insert(whole.windows.end(), read[k].windows.begin(), read[k].windows.end());
      place = std::make_shared<const FoldedSeries>(whole);
      if (complete < whole.windows.size()) whole.windows.resize(complete);
      keep(overview_key(run, queries[places[k]]), std::make_shared<const FoldedSeries>(whole));
    }
  }
  return all;
}

}  // namespace trainscope
