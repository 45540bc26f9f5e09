// The series train.*: steps and their numbers as the rest of a run is read, by name and time.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/points_summary.h"
#include "model/training.h"

namespace trainscope {

Series make_series(const MetricSpec& spec, Labels labels);

// The metrics that reported numbers give.
enum class TrainingMetric { loss, accuracy };
const MetricSpec& spec_of(TrainingMetric metric);

// The metric that a number of this name may be, or nothing: other numbers are found in the run by
// their own names. An accuracy of the best five classes is not the accuracy.
std::optional<TrainingMetric> metric_of_number(std::string_view name);

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
