// The second pass: steps with their times, one by one.
//
// The time between two reports is that of the steps between them, less the pauses in it. A step is
// given once every wait for data that began before it is known: one with a begin and an end when it
// has ended, one that is reported afterwards (`phase input SECONDS`) after the longest of these.
// Limits: at most 100,000 steps are held back for that; of more within one wait, the first lack it.
// Of more than 250,000 steps that arrive together, the first have all the time: the mean is right.
// The same applies to steps that have more than a million numbers together.
#pragma once

#include <memory>

#include "model/training.h"
#include "training/survey.h"

namespace trainscope {

// `reports` and `survey` are of the same run; steps are warm-up as far as the survey states it.
std::unique_ptr<Reader<Step>> read_steps(std::shared_ptr<const Reports> reports,
                                         std::shared_ptr<const Survey> survey, StepNumbers numbers);

}  // namespace trainscope
