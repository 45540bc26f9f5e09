#include "model/window_fold.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainscope {

Range all_of(const TimeWindows& windows) {
  const double end_s = std::nextafter(windows.end_s(), std::numeric_limits<double>::infinity());
  return {windows.begin_s, end_s};
}

WindowFold::WindowFold(const TimeWindows& windows, Reading reading, bool has_extremes)
    : windows_(windows),
      reading_(reading),
      window_end_s_(windows.edge_s(1)),
      sum_(windows.count),
      weight_(windows.count),
      min_(has_extremes ? windows.count : 0, std::numeric_limits<double>::infinity()),
      max_(has_extremes ? windows.count : 0, -std::numeric_limits<double>::infinity()) {}

void WindowFold::add(const Points& points) {
  if (points.time_s.empty() || windows_.count == 0) return;
  if (reading_ == Reading::rate) {
    add_rates(points);
  } else {
    add_levels(points);
  }
}

void WindowFold::add(const FoldedValues& values) {
  if (reading_ == Reading::level) {
    move_to(values.from_s);
    Sums sums = sums_of(window_);
    sums.add(values.sum, values.count, values.min, values.max);
    set_sums(window_, sums);
    return;
  }
  add_rate(values.from_s, values.first);
  add_rate(values.to_s, values.last);
}

void WindowFold::append(const WindowFold& later, size_t first_window) {
  if (later.has_last_) add_rate(later.first_s_, later.first_);
  for (size_t i = 0; i < later.windows_.count; ++i) {
    if (!(later.weight_[i] > 0)) continue;
    const size_t window = std::min(first_window + i, windows_.count - 1);
    const Sums more = later.sums_of(i);
    Sums sums = sums_of(window);
    sums.add(more.sum, more.weight, more.min, more.max);
    set_sums(window, sums);
  }
  if (!later.has_last_) return;
  last_s_ = later.last_s_;
  last_ = later.last_;
}

std::optional<double> WindowFold::mean() const {
  double sum = 0, weight = 0;
  for (size_t i = 0; i < sum_.size(); ++i) {
    sum += sum_[i];
    weight += weight_[i];
  }
  return weight > 0 ? std::optional(sum / weight) : std::nullopt;
}

std::optional<double> WindowFold::at(size_t window) const {
  if (!(weight_[window] > 0)) return std::nullopt;
  return sum_[window] / weight_[window];
}

std::optional<double> WindowFold::min(size_t window) const {
  return has_extremes() && weight_[window] > 0 ? std::optional(min_[window]) : std::nullopt;
}

std::optional<double> WindowFold::max(size_t window) const {
  return has_extremes() && weight_[window] > 0 ? std::optional(max_[window]) : std::nullopt;
}

WindowFold::Sums WindowFold::sums_of(size_t window) const {
  Sums sums{sum_[window], weight_[window], 0, 0};
  if (min_.empty()) return sums;
  sums.min = min_[window];
  sums.max = max_[window];
  return sums;
}

void WindowFold::set_sums(size_t window, const Sums& sums) {
  sum_[window] = sums.sum;
  weight_[window] = sums.weight;
  if (min_.empty()) return;
  min_[window] = sums.min;
  max_[window] = sums.max;
}

void WindowFold::move_to(double time_s) {
  while (time_s >= window_end_s_ && window_ + 1 < windows_.count) {
    ++window_;
    window_end_s_ = windows_.edge_s(window_ + 1);
  }
}

void WindowFold::add_levels(const Points& points) {
  Sums sums = sums_of(window_);
  for (size_t i = 0; i < points.time_s.size(); ++i) {
    if (points.present[i] == 0) continue;
    if (points.time_s[i] >= window_end_s_) {
      set_sums(window_, sums);
      move_to(points.time_s[i]);
      sums = sums_of(window_);
    }
    const double value = points.value[i];
    sums.add(value, 1, value, value);
  }
  set_sums(window_, sums);
}

// A counter grew from one value to another.
inline void WindowFold::add_interval(double from_s, double from, double to_s, double to,
                                     Sums& sums) {
  const double middle_s = (from_s + to_s) / 2;
  if (middle_s >= window_end_s_) {
    set_sums(window_, sums);
    move_to(middle_s);
    sums = sums_of(window_);
  }
  const double grown = to - from, length_s = to_s - from_s, rate = grown / length_s;
  sums.add(grown, length_s, rate, rate);
}

void WindowFold::take_rate(double time_s, double value, Sums& sums) {
  if (!has_last_) {
    has_last_ = true;
    first_s_ = time_s;
    first_ = value;
  } else if (time_s > last_s_ && value >= last_) {
    add_interval(last_s_, last_, time_s, value, sums);
  }
  last_s_ = time_s;
  last_ = value;
}

void WindowFold::add_rates(const Points& points) {
  Sums sums = sums_of(window_);
  size_t i = 0;
  for (; i < points.time_s.size() && !has_last_; ++i) {
    if (points.present[i] != 0) take_rate(points.time_s[i], points.value[i], sums);
  }
  double last_s = last_s_, last = last_;
  for (; i < points.time_s.size(); ++i) {
    if (points.present[i] == 0) continue;
    const double time_s = points.time_s[i], value = points.value[i];
    if (time_s > last_s && value >= last) add_interval(last_s, last, time_s, value, sums);
    last_s = time_s;
    last = value;
  }
  last_s_ = last_s;
  last_ = last;
  set_sums(window_, sums);
}

void WindowFold::add_rate(double time_s, double value) {
  Sums sums = sums_of(window_);
  take_rate(time_s, value, sums);
  set_sums(window_, sums);
}

}  // namespace trainscope
