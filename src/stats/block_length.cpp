// Politis and White, "Automatic block-length selection for the dependent bootstrap" (2004), with
// the correction of Patton, Politis and White (2009), for circular blocks.
#include <algorithm>
#include <cmath>

#include "stats/autocovariance.h"
#include "stats/stats.h"

namespace trainscope {
namespace {

// The lag after which none of `run` correlations in a row is significant.
size_t last_significant_lag(std::span<const double> covariances, size_t count, size_t run) {
  const auto size = static_cast<double>(count);
  const double bound = 2 * std::sqrt(std::log10(size) / size) * covariances[0];
  size_t last = 0;
  for (size_t lag = 1; lag < covariances.size() && lag <= last + run; ++lag)
    if (std::abs(covariances[lag]) > bound) last = lag;
  return last;
}

}  // namespace

double block_length(std::span<const double> values) {
  const size_t count = values.size();
  if (count < kFewestBlocks) return 1;
  const auto size = static_cast<double>(count);
  const auto run = std::max<size_t>(5, static_cast<size_t>(std::ceil(std::sqrt(std::log10(size)))));
  const size_t most = std::min(count - 1, static_cast<size_t>(std::ceil(std::sqrt(size))) + run);
  const std::vector<double> covariances = autocovariances(values, most);
  const size_t width = std::min(2 * last_significant_lag(covariances, count, run), most);
  double spectrum = covariances[0], slope = 0;
  for (size_t lag = 1; lag <= width; ++lag) {
    const double share = static_cast<double>(lag) / static_cast<double>(width);
    const double weight = share <= 0.5 ? 1 : 2 * (1 - share);  // the flat-top window
    spectrum += 2 * weight * covariances[lag];
    slope += 2 * weight * static_cast<double>(lag) * covariances[lag];
  }
  const double longest = std::max(1.0, size / 4);
  if (!(spectrum > 0)) return slope == 0 ? 1 : longest;
  const double ratio = slope / spectrum;
  return std::clamp(std::cbrt(1.5 * ratio * ratio * size), 1.0, longest);
}

}  // namespace trainscope
