// A run's training in a few lines of text, the same in `run` and `info`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/model.h"

namespace trainscope {

// Labels and texts; empty for a run that has neither steps nor epochs.
std::vector<std::pair<std::string, std::string>> training_rows(const RunView& run);

}  // namespace trainscope
