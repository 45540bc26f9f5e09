// The summary at the end of `run`: a dozen lines with units.
#pragma once

#include <string>

#include "model/finding.h"
#include "model/model.h"

namespace trainscope {

// Colour is for a terminal whose user did not set NO_COLOR.
bool colour_wanted(int fd);

// Ends with a newline. Values that were not measured are omitted or unknown, never 0.
std::string summary_text(const RunView& run, const Diagnosis& diagnosis, bool colour);

}  // namespace trainscope
