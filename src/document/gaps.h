// Gaps of the recording, as all documents state them.
#pragma once

#include <vector>

#include "base/json_fwd.h"
#include "model/model.h"

namespace trainscope {

Json gaps_json(const std::vector<Gap>& gaps);

}  // namespace trainscope
