// The limits of this machine, as `doctor` shows them.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "model/limits.h"

namespace trainscope {

// One line per limit and one per missing limit; "" if there are none.
std::string limits_text(const MachineLimits& limits);
// Adds `limits` and `limits_missing` to the document of `doctor --json`.
void add_limits(const MachineLimits& limits, OrderedJson& document);

}  // namespace trainscope
