#include "model/window_fold.h"

#include <cmath>
#include <limits>

namespace trainscope {

Range all_of(const TimeWindows& windows) {
  const double end_s = std::nextafter(windows.end_s(), std::numeric_limits<double>::infinity());
  return {windows.begin_s, end_s};
}

WindowFold::WindowFold(const TimeWindows& windows, Reading reading)
    : windows_(windows),
      reading_(reading),
      window_end_s_(windows.edge_s(1)),
      sum_(windows.count),
      weight_(windows.count) {}

void WindowFold::add(const Points& points) {
  for (size_t i = 0; i < points.time_s.size(); ++i) {
    if (points.present[i] == 0) continue;
    if (reading_ == Reading::rate) {
      add_rate(points.time_s[i], points.value[i]);
    } else {
      add_to_window(points.time_s[i], points.value[i], 1);
    }
  }
}

void WindowFold::add(const FoldedValues& values) {
  if (reading_ == Reading::level) {
    add_to_window(values.from_s, values.sum, values.count);
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

void WindowFold::add_rate(double time_s, double value) {
  if (has_last_ && time_s > last_s_ && value >= last_) {
    add_to_window((last_s_ + time_s) / 2, value - last_, time_s - last_s_);
  }
  has_last_ = true;
  last_s_ = time_s;
  last_ = value;
}

void WindowFold::add_to_window(double time_s, double sum, double weight) {
  while (time_s >= window_end_s_ && window_ + 1 < windows_.count) {
    ++window_;
    window_end_s_ = windows_.edge_s(window_ + 1);
  }
  sum_[window_] += sum;
  weight_[window_] += weight;
}

}  // namespace trainscope
