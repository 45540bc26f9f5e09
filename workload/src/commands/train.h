// The command `train`: chooses the device, loads the data, makes the model, and learns
// (training.h).
#pragma once

#include "base/result.h"
#include "options.h"

namespace trainscope::workload {

Status train(const TrainOptions& options);

}  // namespace trainscope::workload
