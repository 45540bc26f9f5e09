// The command `transfer`: keeps a trained trunk as it is and trains a new last layer on a folder of
// images.
//
// Filling the cache of bottleneck vectors and training the layer are two phases for the recorder,
// `bottlenecks` and `train`, and two times on stdout. Of several learning rates the one that does
// best on the validation images is taken; the test images are looked at once, at the end.
#pragma once

#include "base/result.h"
#include "options.h"

namespace trainscope::workload {

Status transfer(const TransferOptions& options);

}  // namespace trainscope::workload
