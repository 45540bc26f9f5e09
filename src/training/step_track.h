// The steps that one source reports, one after the other: repeats merged, numbers unrolled.
//
// Limits: reports are given in order of time. Further reports of the same step bring at most
// kMaxRepeatedNames names of numbers, so that a job that reports one step forever takes no more
// memory; numbers beyond that are left out and counted.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "model/training.h"
#include "training/report.h"
#include "training/step_counter.h"

namespace trainscope {

// The names of the numbers that are the loss and the accuracy of a step; "": none is.
struct ValueNames {
  std::string loss, accuracy;
};

// Whether steps have Step::numbers, which take much more memory than the rest.
enum class StepNumbers { absent, present };

class StepTrack {
 public:
  static constexpr size_t kMaxRepeatedNames = 1000;

  explicit StepTrack(ValueNames names = {}, StepNumbers numbers = StepNumbers::absent)
      : names_(std::move(names)), numbers_(numbers) {}

  // `items`: the batch size that applies at this time. Returns the step before, once this report
  // begins another: nothing more is reported of it.
  std::optional<Step> add(double time_s, const Report& report,
                          std::optional<double> items = std::nullopt);
  // The last step.
  std::optional<Step> finish();

  const StepCounter& counter() const { return counter_; }
  // Numbers that are in no step, because the same step was reported with too many names.
  int64_t left_out() const { return left_out_; }
  // Reports name items of the dataset instead of steps: each counts as a step.
  bool counts_items() const { return last_item_.has_value(); }

 private:
  std::optional<double> items_since_last(const Report& report);
  void merge(const Report& report, bool is_repeated);
  bool has_space_for(const std::string& name, bool is_repeated);

  ValueNames names_;
  StepNumbers numbers_;
  StepCounter counter_;
  std::optional<Step> step_;
  std::optional<double> last_item_;
  std::set<std::string> repeated_names_;  // of numbers in further reports of the same step
  int64_t left_out_ = 0;
};

}  // namespace trainscope
