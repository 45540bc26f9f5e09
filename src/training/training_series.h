// The series train.*: steps and their numbers as the rest of a run is read, by name and time.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/points_summary.h"
#include "model/training.h"

namespace trainscope {

Series make_series(const MetricSpec& spec, Labels labels);

// The spec of the series that a number of this name belongs to, or null: other numbers are found in
// the run by their own names.
const MetricSpec* metric_of_number(std::string_view name);

// Summaries of the series that steps give.
class StepSeries {
 public:
  void add(const Step& step);
  // Those with a point.
  std::vector<TrainingSeries> list(const std::string& source) const;

 private:
  std::array<PointsSummary, 4> summaries_;
};

}  // namespace trainscope
