// What `info` shows to people: how the run went, how well it was recorded, and its telling metrics.
#pragma once

#include <string>

#include "base/result.h"
#include "model/model.h"

namespace trainscope {

struct InfoStyle {
  bool all = false;  // every series, not only the telling ones
  bool colour = false;
  size_t width = 0;  // of the terminal; 0: lines are as long as they are
};

Result<std::string> info_text(const RunView& run, const InfoStyle& style);

}  // namespace trainscope
