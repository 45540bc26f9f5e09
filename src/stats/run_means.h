// The mean of each run, and which runs have one.
#pragma once

#include <span>
#include <vector>

#include "stats/stats.h"

namespace trainscope {

// Whether there are values and all of them are finite.
bool is_usable(std::span<const double> values);

// Of all that its blocks hold; `run` has blocks.
double weighted_mean(const Observed& run);
std::vector<double> run_means(std::span<const Observed> runs);

}  // namespace trainscope
