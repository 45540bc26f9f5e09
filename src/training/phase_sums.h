// How long the phases of each name took together, and how much of that was before the steps that
// statistics are made of.
//
// Limits: kMaxSummedPhases names; of the time before, the first kMaxEarly phases.
#pragma once

#include <cstddef>
#include <vector>

#include "model/training.h"

namespace trainscope {

class PhaseSums {
 public:
  static constexpr size_t kMaxEarly = 1000;  // of ten steps of warm-up, each with a hundred phases

  // Of the thread that does the steps.
  void add(const TrainingPhase& phase);
  // `warmup_to_s`: when the last step ended that statistics leave out.
  std::vector<PhaseSum> finish(double warmup_to_s) const;

 private:
  struct Early {
    size_t sum = 0;  // its place in sums_
    double from_s = 0, to_s = 0;
  };
  std::vector<PhaseSum> sums_;
  std::vector<Early> early_;
};

}  // namespace trainscope
