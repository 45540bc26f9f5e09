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

StepTimeline::Part StepTimeline::within(double from_s, double to_s) const {
  Part sum;
  const double first = std::max(0.0, from_s / part_s);
  for (auto i = static_cast<size_t>(first); i < parts.size(); ++i) {
    const double begin_s = static_cast<double>(i) * part_s;
    if (begin_s >= to_s) break;
    const double overlap_s = std::min(to_s, begin_s + part_s) - std::max(from_s, begin_s);
    const double share = std::max(0.0, overlap_s) / part_s;
    sum.input_s += share * parts[i].input_s;
    sum.known_s += share * parts[i].known_s;
    sum.lost_s += share * parts[i].lost_s;
  }
  return sum;
}

const PhaseSum* Training::find_phase_sum(std::string_view name) const {
  const auto found = std::find_if(phase_sums.begin(), phase_sums.end(),
                                  [&](const PhaseSum& sum) { return sum.name == name; });
  return found == phase_sums.end() ? nullptr : &*found;
}

std::optional<double> Training::time_in_all_steps(const PhaseSum& sum) const {
  if (!sum.is_in_bursts) return sum.time_s;
  const double timed_share = statistics.timed_share.value_or(0);
  if (!(timed_share > 0)) return std::nullopt;
  return sum.warmup_s + (sum.time_s - sum.warmup_s) / timed_share;
}

}  // namespace trainscope
