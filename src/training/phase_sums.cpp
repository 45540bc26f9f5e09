#include "training/phase_sums.h"

#include <algorithm>

namespace trainscope {

namespace {

// Of how many phases a timed step has. Without a data loader the hooks change in the middle of a
// step: one step per burst is between both.
constexpr double kFew = 0.5;
constexpr double kRoundingS = 1e-9;

}  // namespace

void PhaseSums::add(const TrainingPhase& phase) {
  auto found = std::find_if(sums_.begin(), sums_.end(),
                            [&](const Sum& each) { return each.sum.name == phase.name; });
  if (found == sums_.end()) {
    const bool is_part = phase.is_step_phase() || phase.is_pause();
    if (!is_part && own_names_ == kMaxSummedPhases) return;
    own_names_ += is_part ? 0 : 1;
    found = sums_.insert(sums_.end(), Sum());
    found->sum.name = phase.name;
    found->is_of_step = phase.is_step_phase();
  }
  if (phase.is_pause()) leave_out_since(phase.from_s);
  const double time_s = phase.to_s - phase.from_s;
  const auto place = static_cast<size_t>(found - sums_.begin());
  found->sum.time_s += time_s;
  found->since_step_s += time_s;
  found->since_step += 1;
  if (found->is_of_step && recent_.size() < kMaxRecent) {
    recent_.push_back({place, phase.from_s, time_s});
  }
  if (early_.size() < kMaxEarly) early_.push_back({place, phase.from_s, phase.to_s});
}

// What a pause did that began then. Of one whose begin was reported, nothing came here.
void PhaseSums::leave_out_since(double time_s) {
  auto first = recent_.end();  // they are in order of their end
  while (first != recent_.begin() && (first - 1)->from_s + (first - 1)->time_s > time_s) --first;
  const auto kept = std::remove_if(first, recent_.end(), [&](const Recent& recent) {
    if (recent.from_s < time_s) return false;
    sums_[recent.sum].sum.time_s -= recent.time_s;
    sums_[recent.sum].since_step_s -= recent.time_s;
    return true;
  });
  recent_.erase(kept, recent_.end());
}

void PhaseSums::end_step() {
  has_steps_ = true;
  recent_.clear();
  for (Sum& each : sums_) each.since_step_s = 0;
}

void PhaseSums::count_timed(bool is_timed) {
  (is_timed ? timed_steps_ : other_steps_) += 1;
  for (Sum& each : sums_) {
    (is_timed ? each.in_timed : each.in_others) += each.since_step;
    each.since_step = 0;
  }
}

bool PhaseSums::is_in_bursts(const Sum& sum) const {
  TrainingPhase phase;
  phase.name = sum.sum.name;
  return phase.is_step_phase() && sum.in_others * timed_steps_ < kFew * sum.in_timed * other_steps_;
}

std::vector<PhaseSum> PhaseSums::finish(double warmup_to_s) const {
  std::vector<PhaseSum> sums;
  for (const Sum& each : sums_) {
    sums.push_back(each.sum);
    sums.back().is_in_bursts = is_in_bursts(each);
    if (has_steps_ && each.is_of_step) sums.back().time_s -= each.since_step_s;
    // What is left of a difference by rounding is none.
    if (sums.back().time_s < kRoundingS) sums.back().time_s = 0;
  }
  for (const Early& early : early_) {
    sums[early.sum].warmup_s += std::max(0.0, std::min(early.to_s, warmup_to_s) - early.from_s);
  }
  return sums;
}

}  // namespace trainscope
