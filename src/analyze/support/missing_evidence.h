// What a run without a verdict would need for one.
#pragma once

#include <string>
#include <vector>

#include "analyze/support/evidence.h"
#include "analyze/support/judged.h"
#include "model/model.h"

namespace trainscope {

// At least one sentence.
std::vector<std::string> missing_evidence(const Evidence& evidence,
                                          const std::vector<Judged>& judged, const RunView& run);

}  // namespace trainscope
