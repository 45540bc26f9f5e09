// The ranks of one distributed job, diagnosed one by one and together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"

namespace trainscope {

struct RankDiagnosis {
  int64_t rank = 0;
  std::string run, host;  // the id of its run
  std::string problem;    // why the run cannot be read; "": it was read
  Diagnosis diagnosis;
  bool has_machine_metrics = true;  // false: its GPU and the load of its machine are unknown
  // Of a step after the warm-up; empty: the rank reported no steps, or no communication.
  std::optional<double> step_s, communication_s;
  double steps = 0;  // that these are of
};

struct GroupDiagnosis {
  std::vector<RankDiagnosis> ranks;
  Diagnosis together;
};

}  // namespace trainscope
