// The second pass: steps with their times (training/timed_steps.h), one by one, and the values of
// other numbers of event files that belong to them.
#pragma once

#include <memory>

#include "model/training.h"
#include "training/survey.h"

namespace trainscope {

// `reports` and `survey` are of the same run; steps are warm-up as far as the survey states it.
std::unique_ptr<Reader<Step>> read_steps(std::shared_ptr<const Reports> reports,
                                         const std::shared_ptr<const Survey>& survey,
                                         StepNumbers numbers);

}  // namespace trainscope
