// The long-run variance of a series: what the variance of its mean is, times the number of values,
// when values are correlated with earlier ones.
//
// It is the height of the spectrum at frequency 0. Slow drift is no part of it: a polynomial is
// subtracted and the lowest frequencies, which a drift fills, are skipped. Each of the next higher
// ones gives an independent estimate. How much the spectrum falls from 0 to them is taken from an
// autoregressive model, and only frequencies are used where that is less than a factor of 1.5, so
// that a wrong model does little harm.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace trainscope {

struct LongRunVariance {
  double value = 0;
  double freedom = 0;   // degrees of freedom of the estimate
  double variance = 0;  // of single values around the drift
};

// Nothing of fewer than kFewestBlocks values (stats.h).
std::optional<LongRunVariance> long_run_variance(std::span<const double> values);

}  // namespace trainscope
