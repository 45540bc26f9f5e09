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
  for (size_t i = 0; i < points.time_s.size(); ++i) {
    if (points.present[i] == 0) continue;
    if (reading_ == Reading::rate) {
      add_rate(points.time_s[i], points.value[i]);
    } else {
      const double value = points.value[i];
      add_to_window(points.time_s[i], value, 1, value, value);
    }
  }
}

void WindowFold::add(const FoldedValues& values) {
  if (reading_ == Reading::level) {
    add_to_window(values.from_s, values.sum, values.count, values.min, values.max);
    return;
  }
  add_rate(values.from_s, values.first);
  add_rate(values.to_s, values.last);
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

void WindowFold::add_rate(double time_s, double value) {
  if (has_last_ && time_s > last_s_ && value >= last_) {
    const double rate = (value - last_) / (time_s - last_s_);
    add_to_window((last_s_ + time_s) / 2, value - last_, time_s - last_s_, rate, rate);
  }
  has_last_ = true;
  last_s_ = time_s;
  last_ = value;
}

void WindowFold::add_to_window(double time_s, double sum, double weight, double min, double max) {
  while (time_s >= window_end_s_ && window_ + 1 < windows_.count) {
    ++window_;
    window_end_s_ = windows_.edge_s(window_ + 1);
  }
  sum_[window_] += sum;
  weight_[window_] += weight;
  if (min_.empty()) return;
  min_[window_] = std::min(min_[window_], min);
  max_[window_] = std::max(max_[window_], max);
}

}  // namespace trainscope
