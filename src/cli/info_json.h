// The document of `info --json` (schema trainscope.info/1), which scripts rely on.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "model/model.h"

namespace trainscope {

// Every key is always there; what is not known is null.
Result<nlohmann::json> info_json(const RunView& run);

}  // namespace trainscope
