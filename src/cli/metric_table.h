// All metrics that a run may have, from the specs of those who produce them.
#pragma once

#include <vector>

#include "model/metric.h"

namespace trainscope {

// Of collectors, training and formulas; a metric that several collectors have is here for each.
std::vector<MetricSpec> all_metrics();
// Those that `info` shows without --all, each once and in the order of `info`.
std::vector<MetricSpec> main_metrics();

}  // namespace trainscope
