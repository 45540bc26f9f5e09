// What all steps with their times show together: durations, warm-up, series, milestones.
#pragma once

#include "model/training.h"
#include "training/survey.h"

namespace trainscope {

// Reads all steps once. Fills the statistics of `training`, the steps of its milestones and its
// series of steps, and states in `survey` which steps are warm-up.
Status summarize_steps(Reader<Step>& steps, Survey& survey, Training& training);

}  // namespace trainscope
