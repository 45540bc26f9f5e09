// Names that a run may have: those that cannot be taken for another way to say which run is meant.
#pragma once

#include <string_view>

#include "base/result.h"

namespace trainscope {

// An Error when `name` reads as an id, a path, `latest`, `NAME~1` or a pattern.
Status check_run_name(std::string_view name);

}  // namespace trainscope
