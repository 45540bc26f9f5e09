// What `info` shows of a series, from its points one after the other: min, max, last, and the mean
// or, of a counter, how much and how fast it grew.
#pragma once

#include <optional>

#include "model/metric.h"
#include "model/points.h"

namespace trainscope {

class PointsSummary {
 public:
  // Points that follow those added before.
  void add(const Points& points);
  // `weight`: of the value in the mean.
  void add(double time_s, double value, double weight = 1);
  Summary finish(Kind kind) const;

 private:
  int64_t samples_ = 0;
  double min_ = 0, max_ = 0, last_ = 0;
  long double sum_ = 0, weights_ = 0;
  std::optional<double> begin_s_;
  double end_s_ = 0;
};

}  // namespace trainscope
