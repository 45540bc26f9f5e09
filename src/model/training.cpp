#include "model/training.h"

#include <algorithm>

namespace trainscope {

bool TrainingPhase::is_pause() const {
  return who.empty() && (name == "checkpoint" || name == "evaluation");
}

bool TrainingPhase::is_input() const { return who.empty() && name == "input"; }

bool TrainingPhase::is_compute() const {
  return who.empty() &&
         (name == "forward" || name == "backward" || name == "compute" || name == "optimizer");
}

bool TrainingPhase::is_step_phase() const {
  return is_input() || is_compute() ||
         (who.empty() && (name == "prepare" || name == "transfer" || name == "communication"));
}

const PhaseSum* Training::find_phase_sum(std::string_view name) const {
  const auto found = std::find_if(phase_sums.begin(), phase_sums.end(),
                                  [&](const PhaseSum& sum) { return sum.name == name; });
  return found == phase_sums.end() ? nullptr : &*found;
}

}  // namespace trainscope
