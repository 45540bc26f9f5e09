// Steps, phases and numbers of a training, read from its reports again whenever they are needed.
#pragma once

#include <memory>

#include "model/training.h"
#include "training/survey.h"
#include "training/training.h"

namespace trainscope {

// `reports` and `survey` are of the same run.
std::shared_ptr<const TrainingDetails> reported_details(std::shared_ptr<const Reports> reports,
                                                        std::shared_ptr<const Survey> survey);

}  // namespace trainscope
