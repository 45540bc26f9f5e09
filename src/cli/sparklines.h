// Small charts in the table of `info`.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "tui/tui.h"

namespace trainscope {

inline constexpr size_t kSparklineColumns = 12;

// One text per series: how it changed during the run, "" if a chart shows nothing that its mean
// does not. Ratios have them, and what the training is judged by: step time, loss, accuracy,
// throughput.
Result<std::vector<std::string>> sparklines_of(const RunView& run,
                                               const std::vector<size_t>& series, Charset charset);

}  // namespace trainscope
