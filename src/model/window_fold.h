// A series reduced to windows of time: a rate or a mean for each of them and for all together, and
// if it is wanted the smallest and the largest.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/points.h"

namespace trainscope {

// Equal parts of some time.
struct TimeWindows {
  double begin_s = 0, length_s = 0;
  size_t count = 0;

  double end_s() const { return begin_s + length_s * static_cast<double>(count); }
  // When a window begins; of `count`, when the last one ends.
  double edge_s(size_t window) const { return begin_s + length_s * static_cast<double>(window); }
};

// With their last instant: a range ends before its end.
Range all_of(const TimeWindows& windows);

enum class Reading { rate, level };  // of a counter per second; mean of a gauge

// Some values in a row without a gap, of which only these are known.
struct FoldedValues {
  double from_s = 0, to_s = 0;  // of the first and of the last
  double first = 0, last = 0;   // a counter grew from one to the other without a reset
  double sum = 0, count = 0;    // of a gauge
  double min = 0, max = 0;      // of a gauge
};

class WindowFold {
 public:
  // `has_extremes`: min() and max() are known.
  WindowFold(const TimeWindows& windows, Reading reading, bool has_extremes = false);

  // Points follow those that were added before. An interval between two values of a counter belongs
  // to the window of its middle; one in which the counter was reset has neither increase nor time.
  void add(const Points& points);
  // The same of values that are all in one window. Of a counter they do not tell the extremes.
  void add(const FoldedValues& values);
  // Values that follow, folded apart from these: into windows of the same length, of which the
  // first is number `first_window` here.
  void append(const WindowFold& later, size_t first_window);

  std::optional<double> mean() const;
  std::optional<double> at(size_t window) const;
  // What the value of a window is the mean of: seconds of a rate, values of a level.
  double weight(size_t window) const { return weight_[window]; }
  // Of the values, or of the rates between two of them; nothing for a window without one.
  std::optional<double> min(size_t window) const;
  std::optional<double> max(size_t window) const;
  bool has_extremes() const { return !min_.empty(); }

 private:
  // What is known of a window. While values are added to it, it is not in the vectors: reading a
  // long run is little else than this.
  struct Sums {
    double sum, weight, min, max;

    void add(double more, double of, double low, double high) {
      sum += more;
      weight += of;
      min = low < min ? low : min;
      max = high > max ? high : max;
    }
  };
  Sums sums_of(size_t window) const;
  void set_sums(size_t window, const Sums& sums);
  void add_levels(const Points& points);
  void add_rates(const Points& points);
  void add_rate(double time_s, double value);
  void add_interval(double from_s, double from, double to_s, double to, Sums& sums);
  void take_rate(double time_s, double value, Sums& sums);  // `sums`: of the window_
  void move_to(double time_s);  // the window of this time, or the last one

  TimeWindows windows_;
  Reading reading_;
  size_t window_ = 0;  // of the last value
  double window_end_s_;
  std::vector<double> sum_, weight_;
  std::vector<double> min_, max_;  // empty: not wanted
  // Of a counter: its first and its last value.
  bool has_last_ = false;
  double first_s_ = 0, first_ = 0, last_s_ = 0, last_ = 0;
};

}  // namespace trainscope
