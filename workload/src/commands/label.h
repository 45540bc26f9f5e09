// The command `label`: names what is in an image, with scores and the time that it took.
//
// Prints one line per name, `NAME (score=0.99794)`, best first, then the time of the first call and
// the mean of the warm ones after it: the first includes what libtorch prepares once.
#pragma once

#include "base/result.h"
#include "options.h"

namespace trainscope::workload {

Status label(const LabelOptions& options);

}  // namespace trainscope::workload
