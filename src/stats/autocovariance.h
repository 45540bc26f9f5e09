// The covariance of a series with itself some values earlier.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace trainscope {

// Of lags 0 to `lags`, which is less than the number of values, around their mean; divided by the
// number of values, so that they are those of some stationary series.
std::vector<double> autocovariances(std::span<const double> values, size_t lags);

}  // namespace trainscope
