// Comparison of quantiles. How uncertain the share of values below the quantile is follows from the
// correlation of "is below" along the run; the values at the limits of that share are the limits of
// the quantile (Woodruff 1952, with Wilson's limits for a share).
#include <algorithm>
#include <cmath>
#include <memory>

#include "stats/effect.h"
#include "stats/run_means.h"
#include "stats/stats.h"

namespace trainscope {
namespace {

// As many blocks as a comparison of means usually has.
constexpr size_t kShareBlocks = 512;
// The effective number of values is an estimate itself: so many times what is needed must be there.
constexpr double kMargin = 2;

// A quantile of sorted values, interpolated between neighbours.
double interpolated(std::span<const double> sorted, double share) {
  const double at = std::clamp(share * static_cast<double>(sorted.size()) - 0.5, 0.0,
                               static_cast<double>(sorted.size() - 1));
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

// The share of values that are at most `limit`, block by block.
Observed shares_below(std::span<const double> values, double limit) {
  const size_t blocks = std::min(values.size(), kShareBlocks);
  Observed shares;
  for (size_t block = 0; block < blocks; ++block) {
    const size_t begin = block * values.size() / blocks, end = (block + 1) * values.size() / blocks;
    const auto part = values.subspan(begin, end - begin);
    const auto below = std::ranges::count_if(part, [&](double value) { return value <= limit; });
    const auto held = static_cast<double>(part.size());
    shares.means.push_back(static_cast<double>(below) / held);
    shares.weights.push_back(held);
  }
  return shares;
}

// Wilson's limits of a share that `effective` independent values have.
std::pair<double, double> share_limits(double share, double effective, double multiple) {
  const double square = multiple * multiple / effective;
  const double middle = share + square / 2;
  const double reach = std::sqrt(square * (share * (1 - share) + square / 4));
  return {(middle - reach) / (1 + square), (middle + reach) / (1 + square)};
}

// Nothing if fewer values than needed are effectively independent: the extremes of the run would
// not be limits of the quantile with this certainty.
std::optional<Side> quantile_side(std::span<const double> values, double quantile, double level) {
  if (values.size() < kFewestBlocks) return std::nullopt;
  const auto sorted = std::make_shared<std::vector<double>>(values.begin(), values.end());
  std::ranges::sort(*sorted);
  const double value = interpolated(*sorted, quantile);
  const std::optional<MeanEstimate> below = estimate_mean(shares_below(values, value));
  if (!below) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  const double independent = quantile * (1 - quantile);
  const double effective =
      below->variance > 0 ? std::min(count, independent / below->variance) : count;
  const double rarer = std::max(quantile, 1 - quantile);
  if (std::pow(rarer, effective / kMargin) > (1 - level) / 2) return std::nullopt;
  const auto deviation = [sorted, value, quantile, effective](double multiple) {
    const auto [low, high] = share_limits(quantile, effective, multiple);
    return Deviation{value - std::min(value, interpolated(*sorted, low)),
                     std::max(value, interpolated(*sorted, high)) - value};
  };
  return Side{value, below->freedom, effective, count, deviation};
}

// The mean over the runs of a side of their quantiles, uncertain only by what varies within each.
std::optional<Side> quantile_side_within(std::span<const std::vector<double>> runs, double quantile,
                                         double level) {
  std::vector<Side> sides;
  Side all;
  all.freedom = 0;
  const auto count = static_cast<double>(runs.size());
  for (const std::vector<double>& run : runs) {
    std::optional<Side> one = quantile_side(run, quantile, level);
    if (!one) return std::nullopt;
    all.value += one->value / count;
    all.freedom += one->freedom;
    all.effective += one->effective;
    all.units += one->units;
    sides.push_back(std::move(*one));
  }
  all.deviation = [sides = std::move(sides), count](double multiple) {
    Deviation sum;
    for (const Side& side : sides) {
      const Deviation one = side.deviation(multiple);
      sum = {std::hypot(sum.down, one.down / count), std::hypot(sum.up, one.up / count)};
    }
    return sum;
  };
  return all;
}

std::vector<double> run_quantiles(std::span<const std::vector<double>> runs, double quantile) {
  std::vector<double> quantiles;
  for (std::vector<double> values : runs) {
    std::ranges::sort(values);
    quantiles.push_back(interpolated(values, quantile));
  }
  return quantiles;
}

}  // namespace

std::optional<Effect> compare_quantiles(std::span<const std::vector<double>> a,
                                        std::span<const std::vector<double>> b, double quantile,
                                        const Question& question) {
  if (a.empty() || b.empty() || !std::ranges::all_of(a, is_usable) ||
      !std::ranges::all_of(b, is_usable))
    return std::nullopt;
  if (a.size() >= 2 && b.size() >= 2)
    return effect_of(side_of_runs(run_quantiles(a, quantile)),
                     side_of_runs(run_quantiles(b, quantile)), true, question);
  const std::optional<Side> of_a = quantile_side_within(a, quantile, question.level);
  const std::optional<Side> of_b = quantile_side_within(b, quantile, question.level);
  if (!of_a || !of_b) return std::nullopt;
  return effect_of(*of_a, *of_b, false, question);
}

}  // namespace trainscope
