#include "model/points_summary.h"

#include <algorithm>

namespace trainscope {

void PointsSummary::add(const Points& points) {
  if (points.time_s.empty()) return;
  begin_s_ = begin_s_.value_or(points.time_s.front());
  for (size_t i = 0; i < points.time_s.size(); ++i) {
    if (points.present[i] != 0) add(points.time_s[i], points.value[i]);
  }
  end_s_ = points.time_s.back();
}

void PointsSummary::add(double time_s, double value, double weight) {
  if (!begin_s_) begin_s_ = time_s;
  end_s_ = time_s;
  min_ = samples_ == 0 ? value : std::min(min_, value);
  max_ = samples_ == 0 ? value : std::max(max_, value);
  last_ = value;
  sum_ += static_cast<long double>(value) * static_cast<long double>(weight);
  weights_ += static_cast<long double>(weight);
  ++samples_;
}

Summary PointsSummary::finish(Kind kind) const {
  Summary summary;
  summary.samples = samples_;
  if (samples_ == 0) return summary;
  summary.min = min_;
  summary.max = max_;
  summary.last = last_;
  if (kind != Kind::counter) {
    summary.mean = static_cast<double>(sum_ / weights_);
    return summary;
  }
  summary.delta = max_ - min_;
  const double elapsed_s = end_s_ - begin_s_.value_or(end_s_);
  if (elapsed_s > 0) summary.rate = *summary.delta / elapsed_s;
  return summary;
}

}  // namespace trainscope
