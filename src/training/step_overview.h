// Folds steps into a StepOverview.
//
// Limits: kMaxLongest steps are kept besides the first ones. If more stand out, the overview shows
// it (StepOverview::longest_s), and the steps must be read again.
#pragma once

#include <vector>

#include "model/training.h"
#include "training/survey.h"

namespace trainscope {

class StepOverviewFold {
 public:
  static constexpr size_t kMaxLongest = 4096;

  // In order of time, without their numbers: these are kept in memory.
  void add(const Step& step);
  // `survey` states which of the first steps are warm-up.
  StepOverview finish(const Survey& survey);

 private:
  void leave_out(const Step& step);

  StepOverview overview_;                    // its `kept` are the first ones
  std::vector<StepOverview::Kept> longest_;  // a heap, the shortest first
  double before_s_ = -1;
};

}  // namespace trainscope
