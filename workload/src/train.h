// The training run: chooses the device, makes the model, learns until a limit is reached, tests it
// on held-out pictures after every epoch and at the end.
//
// Guarantees: the limits are checked between steps; a time limit counts from the first step and
// includes evaluations between epochs, not the loading before nor the last evaluation. With the
// same options, data and thread count the same steps are computed.
// Limits: pictures live on the device as bytes; each step waits for its result, so that its
// duration is the real one.
#pragma once

#include "arguments.h"
#include "dataset.h"
#include "result.h"

namespace trainscope::workload {

Status train(const TrainOptions& options, const Dataset& data, const char* pipe_path);

}  // namespace trainscope::workload
