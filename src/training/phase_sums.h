// How long the phases of each name took together, and how much of that was before the steps that
// statistics are made of.
//
// Limits: kMaxSummedPhases names of the job's own, so that they hide no part of the steps; of the
// time before, the first kMaxEarly phases.
#pragma once

#include <cstddef>
#include <vector>

#include "model/training.h"

namespace trainscope {

class PhaseSums {
 public:
  static constexpr size_t kMaxEarly = 1000;  // of ten steps of warm-up, each with a hundred phases

  // Of the thread that does the steps, by end.
  void add(const TrainingPhase& phase);
  // A step of that thread has ended; `is_timed`: all its phases were timed, not only some of them.
  void end_step(bool is_timed);
  // `warmup_to_s`: when the last step ended that statistics leave out.
  std::vector<PhaseSum> finish(double warmup_to_s) const;

 private:
  struct Early {
    size_t sum = 0;  // its place in sums_
    double from_s = 0, to_s = 0;
  };
  struct Sum {
    PhaseSum sum;
    double since_step = 0, in_timed = 0, in_others = 0;  // how many
  };
  bool is_in_bursts(const Sum& sum) const;

  std::vector<Sum> sums_;
  std::vector<Early> early_;
  size_t own_names_ = 0;  // in sums_
  double timed_steps_ = 0, other_steps_ = 0;
};

}  // namespace trainscope
