// The table that stands at the end of `run`: what happened, in a dozen lines with units.
#pragma once

#include <string>

#include "model/model.h"

namespace trainscope {

// Colour is for a terminal whose user did not say NO_COLOR.
bool colour_wanted(int fd);

// Ends with a newline. What was not measured is left out or said to be unknown, never 0.
std::string summary_text(const RunView& run, bool colour);

}  // namespace trainscope
