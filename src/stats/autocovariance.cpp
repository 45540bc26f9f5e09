#include "stats/autocovariance.h"

#include <numeric>

namespace trainscope {

std::vector<double> autocovariances(std::span<const double> values, size_t lags) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  std::vector<double> covariances(lags + 1, 0);
  for (size_t lag = 0; lag <= lags; ++lag) {
    double sum = 0;
    for (size_t i = lag; i < values.size(); ++i)
      sum += (values[i] - mean) * (values[i - lag] - mean);
    covariances[lag] = sum / count;
  }
  return covariances;
}

}  // namespace trainscope
