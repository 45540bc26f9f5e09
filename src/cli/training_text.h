// A run's training and the results of analyses in a few lines; `run` and `info` show the same.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/model.h"

namespace trainscope {

// Labels and texts; empty for a run that has neither training nor a result of an analysis.
std::vector<std::pair<std::string, std::string>> training_rows(const RunView& run);

}  // namespace trainscope
