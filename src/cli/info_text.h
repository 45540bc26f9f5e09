// Text output of `info`: outcome of the run, recording quality, and its main metrics.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/model.h"
#include "tui/tui.h"

namespace trainscope {

struct InfoStyle {
  bool all = false;     // all series, not only the main ones
  bool events = false;  // what happened during the recording, instead of the metrics
  bool colour = false;
  size_t width = 0;  // of the terminal; 0: lines are as long as they are
  std::optional<Charset> charts = std::nullopt;  // of small charts; nothing: there are none
};

Result<std::string> info_text(const RunView& run, const InfoStyle& style);

}  // namespace trainscope
