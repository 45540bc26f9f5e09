// The series of the training in windows of time, of a run that is followed.
//
// Guarantees: steps, their loss, accuracy and throughput, and the results of evaluations are those
// of the whole run. Limits: of the results only those that are held (training/held_steps.h).
#pragma once

#include <vector>

#include "model/model.h"

namespace trainscope {

// Adds to the folds of those queries that are of series of the training.
Status fold_followed_training(const RunView& run, const std::vector<WindowQuery>& queries,
                              const TimeWindows& windows, std::vector<WindowFold>& folds);

}  // namespace trainscope
