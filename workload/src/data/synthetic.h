// Synthetic images in memory, of any size and number of classes: input that costs nothing.
//
// Guarantees: the same for the same seed and shape.
// Limits: noise with labels at random; there is nothing to learn but the images themselves.
#pragma once

#include "data/dataset.h"

namespace trainscope::workload {

Dataset make_synthetic(const DataRequest& request);

}  // namespace trainscope::workload
