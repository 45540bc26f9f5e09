// The phases that are not part of each step, kept in memory.
//
// Limits: more than kMaxPhasesOfAName phases of one name are part of each step, and so are more
// than kMaxPauses checkpoints or evaluations (then a note states it). Of the others, kMaxPhases
// with kMaxPhaseNames names are kept; a note states how many are not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/training.h"

namespace trainscope {

class PhaseList {
 public:
  static constexpr size_t kMaxPhases = 100'000, kMaxPhaseNames = 1000;
  static constexpr int64_t kMaxPauses = 100'000;  // of one name

  void add(const TrainingPhase& phase);
  // By begin; of two that begin together the longer one first. Appends what was left out to
  // `notes`.
  std::vector<TrainingPhase> finish(std::vector<std::string>& notes);

 private:
  void remove(const std::string& name);

  std::vector<TrainingPhase> phases_;
  std::map<std::string, int64_t> counts_;  // by name
  int64_t left_out_ = 0;
};

}  // namespace trainscope
