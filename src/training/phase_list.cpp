#include "training/phase_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trainscope {

void PhaseList::add(const TrainingPhase& phase) {
  auto found = counts_.find(phase.name);
  if (found == counts_.end()) {
    if (!phase.is_pause() && counts_.size() >= kMaxPhaseNames) {
      ++left_out_;
      return;
    }
    found = counts_.emplace(phase.name, 0).first;
  }
  const int64_t most = phase.is_pause() ? kMaxPauses : kMaxPhasesOfAName;
  const int64_t count = ++found->second;
  if (count == most + 1) remove(phase.name);
  if (count > most) return;
  if (!phase.is_pause() && phases_.size() >= kMaxPhases) {
    ++left_out_;
    return;
  }
  phases_.push_back(phase);
}

void PhaseList::remove(const std::string& name) {
  std::erase_if(phases_, [&](const TrainingPhase& phase) { return phase.name == name; });
}

std::vector<TrainingPhase> PhaseList::finish(std::vector<std::string>& notes) {
  for (const char* name : {"checkpoint", "evaluation"}) {
    const auto found = counts_.find(name);
    if (found == counts_.end() || found->second <= kMaxPauses) continue;
    notes.push_back(
        fmt::format("{} {}s are too many: they count as part of the steps", found->second, name));
  }
  if (left_out_ > 0) {
    notes.push_back(
        fmt::format("{} phases are not listed; `trainscope sql` has all of them", left_out_));
  }
  std::stable_sort(phases_.begin(), phases_.end(),
                   [](const TrainingPhase& a, const TrainingPhase& b) {
                     return a.from_s != b.from_s ? a.from_s < b.from_s : a.to_s > b.to_s;
                   });
  return std::exchange(phases_, {});
}

}  // namespace trainscope
