// Memory that was nearly full while the job trained: that of its GPUs, of its control group, of the
// machine.
//
// Limits: the highest usage that was sampled; a peak between two samples is not seen. The memory of
// processes has pages of files that they have mapped, which the kernel can take back: where that
// may be all, it is no warning.
#pragma once

#include <vector>

#include "analyze/support/evidence.h"
#include "base/result.h"
#include "model/finding.h"
#include "model/model.h"

namespace trainscope {

Result<std::vector<Finding>> full_memory(const RunView& run, const Evidence& evidence);

}  // namespace trainscope
