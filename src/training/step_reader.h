// The second pass: steps with their times, one by one.
//
// The time between two reports is that of the steps between them, less the pauses in it. A phase is
// known when it has ended, so a step is given once no phase that ends later can have begun before
// it. Memory grows with the steps in the longest wait for data, not with all of them.
#pragma once

#include <memory>

#include "model/training.h"
#include "training/survey.h"

namespace trainscope {

// `reports` and `survey` are of the same run; steps are warm-up as far as the survey states it.
std::unique_ptr<Reader<Step>> read_steps(std::shared_ptr<const Reports> reports,
                                         std::shared_ptr<const Survey> survey);

}  // namespace trainscope
