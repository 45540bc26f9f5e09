// The mean of each run.
#pragma once

#include <span>
#include <vector>

#include "stats/stats.h"

namespace trainscope {

// Of all that its blocks hold; `run` has blocks.
double weighted_mean(const Observed& run);
std::vector<double> run_means(std::span<const Observed> runs);

}  // namespace trainscope
