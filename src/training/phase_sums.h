// How long the phases of each name took together, and how much of that was before the steps that
// statistics are made of. Parts of a step that follow the last step, or are inside of an evaluation
// or a checkpoint, are left out.
//
// Limits: kMaxSummedPhases names of the job's own, so that they hide no part of the steps; of the
// time before, the first kMaxEarly phases; of a pause that is reported when it has ended, the first
// kMaxRecent phases since the step before it.
#pragma once

#include <cstddef>
#include <vector>

#include "model/training.h"

namespace trainscope {

class PhaseSums {
 public:
  static constexpr size_t kMaxEarly = 1000;  // of ten steps of warm-up, each with a hundred phases

  static constexpr size_t kMaxRecent = 10'000;

  // Of the thread that does the steps, by end.
  void add(const TrainingPhase& phase);
  // A step has ended.
  void end_step();
  // It was one of that thread; `is_timed`: all its phases were timed, not only some of them.
  void count_timed(bool is_timed);
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
    double since_step_s = 0;
    bool is_of_step = false;
  };
  struct Recent {
    size_t sum = 0;  // its place in sums_
    double from_s = 0, time_s = 0;
  };
  void leave_out_since(double time_s);
  bool is_in_bursts(const Sum& sum) const;

  std::vector<Sum> sums_;
  std::vector<Early> early_;
  std::vector<Recent> recent_;  // parts of the step that is not over
  bool has_steps_ = false;
  size_t own_names_ = 0;  // in sums_
  double timed_steps_ = 0, other_steps_ = 0;
};

}  // namespace trainscope
