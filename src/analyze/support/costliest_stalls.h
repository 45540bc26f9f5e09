// The interruptions of a training that cost most, each with what the job and the machine did
// meanwhile.
//
// Guarantees: what was not recorded meanwhile is not mentioned. Limits: an interruption that is
// shorter than a few sampling periods has no company; the summary says so.
#pragma once

#include <optional>

#include "analyze/support/evidence.h"
#include "base/result.h"
#include "model/finding.h"
#include "model/model.h"

namespace trainscope {

inline constexpr size_t kShownStalls = 5;

// Nothing if the interruptions of the steps together are not worth a word.
Result<std::optional<Finding>> costliest_stalls(const RunView& run, const Evidence& evidence);

}  // namespace trainscope
