// Numbers that a job reports: which a report holds, and what they show of how well it learns.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "model/points_summary.h"
#include "model/training.h"
#include "training/training.h"
#include "training/training_series.h"

namespace trainscope {

// Appends the finite numbers of a report. Returns the name of one that is not finite, or "".
std::string append_numbers(const StoredReport& stored, std::vector<TrainingNumber>& numbers);

// Results by set and the series of losses and accuracies, from numbers in order of time.
class NumberFold {
 public:
  void add(const TrainingNumber& number);
  // One per set with a number. If the source of the steps reports numbers, those of other sources
  // are left out. Milestones have no step yet.
  std::vector<SetResults> results(const std::string& source) const;
  std::vector<TrainingSeries> series() const;

 private:
  using BySet = std::map<std::string, SetResults, std::less<>>;
  static void take(BySet& all, const TrainingNumber& number);

  BySet all_;
  std::map<std::string, BySet, std::less<>> by_source_;
  std::map<std::tuple<const MetricSpec*, std::string, std::string>, PointsSummary> series_;
};

}  // namespace trainscope
