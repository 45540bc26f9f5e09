// The document of `info --json` (schema trainscope.info/1), which scripts rely on.
#pragma once

#include "base/json_fwd.h"
#include "base/result.h"
#include "model/model.h"

namespace trainscope {

// Every key is always present; unknown values are null.
Result<Json> info_json(const RunView& run);

}  // namespace trainscope
