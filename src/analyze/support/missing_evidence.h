// What a run without a verdict would need for one.
#pragma once

#include <string>
#include <vector>

#include "analyze/support/evidence.h"
#include "analyze/support/judged.h"

namespace trainscope {

// At least one sentence. `run_s`: how long the run took.
std::vector<std::string> missing_evidence(const Evidence& evidence,
                                          const std::vector<Judged>& judged, double run_s);

}  // namespace trainscope
