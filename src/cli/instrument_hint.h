// Which command shows what the steps of a Python job consist of.
#pragma once

#include <string>

#include "model/model.h"

namespace trainscope {

// "trainscope run --instrument -- python train.py" for a Python job, or one that loads a framework
// of Python, that was run without it and reported no phases; "" otherwise, and for a job without
// steps that ended within seconds.
std::string instrument_command(const RunView& run);

}  // namespace trainscope
