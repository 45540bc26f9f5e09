// The steps that one source reports, one after the other: repeats merged, numbers unrolled.
//
// Limits: reports are given in order of time.
#pragma once

#include <optional>
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
  explicit StepTrack(ValueNames names = {}, StepNumbers numbers = StepNumbers::absent)
      : names_(std::move(names)), numbers_(numbers) {}

  // `items`: the batch size that applies at this time. Returns the step before, once this report
  // begins another: nothing more is reported of it.
  std::optional<Step> add(double time_s, const Report& report,
                          std::optional<double> items = std::nullopt);
  // The last step.
  std::optional<Step> finish();

  const StepCounter& counter() const { return counter_; }
  // Reports name items of the dataset instead of steps: each counts as a step.
  bool counts_items() const { return last_item_.has_value(); }

 private:
  std::optional<double> items_since_last(const Report& report);
  void merge(const Report& report);

  ValueNames names_;
  StepNumbers numbers_;
  StepCounter counter_;
  std::optional<Step> step_;
  std::optional<double> last_item_;
};

}  // namespace trainscope
