// Start-up and shutdown: what a run took before its first step and after the last one.
#pragma once

#include <vector>

#include "analyze/support/reported_time.h"
#include "base/result.h"
#include "model/finding.h"
#include "model/model.h"

namespace trainscope {

// Findings `startup` and `shutdown` of severity info, each only if it is a noticeable part of the
// run. They make no step slower, so they bound no speed-up.
Result<std::vector<Finding>> time_outside_steps(const RunView& run, const ReportedTime& reported);

}  // namespace trainscope
