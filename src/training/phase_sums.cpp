#include "training/phase_sums.h"

#include <algorithm>

namespace trainscope {

void PhaseSums::add(const TrainingPhase& phase) {
  auto found = std::find_if(sums_.begin(), sums_.end(),
                            [&](const PhaseSum& sum) { return sum.name == phase.name; });
  if (found == sums_.end()) {
    if (sums_.size() == kMaxSummedPhases) return;
    found = sums_.insert(sums_.end(), {phase.name, 0, 0});
  }
  found->time_s += phase.to_s - phase.from_s;
  if (early_.size() == kMaxEarly) return;
  early_.push_back({static_cast<size_t>(found - sums_.begin()), phase.from_s, phase.to_s});
}

std::vector<PhaseSum> PhaseSums::finish(double warmup_to_s) const {
  std::vector<PhaseSum> sums = sums_;
  for (const Early& early : early_) {
    sums[early.sum].warmup_s += std::max(0.0, std::min(early.to_s, warmup_to_s) - early.from_s);
  }
  return sums;
}

}  // namespace trainscope
