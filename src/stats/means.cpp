// Comparison of means. A run's mean is weighted by what its blocks hold; its uncertainty is that of
// the weighted deviations, in order (the linearised ratio estimator).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "stats/effect.h"
#include "stats/long_run_variance.h"
#include "stats/run_means.h"
#include "stats/stats.h"

namespace trainscope {
namespace {

// Of fewer blocks than these the correlation can hardly be estimated.
constexpr double kEnoughBlocks = 40;

// How many times as large as estimated the variance of a mean of so many blocks is taken to be.
// Without this a difference is claimed in a quarter of equal pairs of 8 blocks that correlate by
// 0.7.
double caution_for(size_t blocks) {
  return std::max(1.0, kEnoughBlocks / static_cast<double>(blocks));
}

// The mean over runs of one side, uncertain only by the variation within each of them.
std::optional<Side> side_within_runs(std::span<const Observed> runs) {
  const auto count = static_cast<double>(runs.size());
  MeanEstimate all;
  double values = 0, squares = 0, incautious = 0;
  for (const Observed& run : runs) {
    const std::optional<MeanEstimate> one = estimate_mean(run);
    if (!one) return std::nullopt;
    const double variance = one->variance / (count * count);
    all.mean += one->mean / count;
    all.variance += variance;
    incautious += variance / caution_for(run.means.size());
    all.effective += one->effective;
    all.freedom += one->freedom;
    squares += variance * variance / one->freedom;
    values += run.weights.empty() ? static_cast<double>(run.means.size())
                                  : std::accumulate(run.weights.begin(), run.weights.end(), 0.0);
  }
  if (squares > 0) all.freedom = all.variance * all.variance / squares;
  Side side = normal_side(all, values);
  if (incautious > 0) side.caution = all.variance / incautious;
  return side;
}

}  // namespace

bool is_usable(std::span<const double> values) {
  return !values.empty() &&
         std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

double weighted_mean(const Observed& run) {
  if (run.weights.empty())
    return std::accumulate(run.means.begin(), run.means.end(), 0.0) /
           static_cast<double>(run.means.size());
  CHECK(run.weights.size() == run.means.size());
  const double sum = std::accumulate(run.weights.begin(), run.weights.end(), 0.0);
  return std::inner_product(run.means.begin(), run.means.end(), run.weights.begin(), 0.0) / sum;
}

std::optional<MeanEstimate> estimate_mean(const Observed& run) {
  if (run.means.size() < kFewestBlocks || !is_usable(run.means)) return std::nullopt;
  const auto count = static_cast<double>(run.means.size());
  const double mean = weighted_mean(run);
  std::vector<double> deviations;
  deviations.reserve(run.means.size());
  for (const double value : run.means) deviations.push_back(value - mean);
  if (!run.weights.empty()) {
    const double usual = std::accumulate(run.weights.begin(), run.weights.end(), 0.0) / count;
    for (size_t i = 0; i < deviations.size(); ++i) deviations[i] *= run.weights[i] / usual;
  }
  const std::optional<LongRunVariance> found = long_run_variance(deviations);
  if (!found) return std::nullopt;
  const double value = found->value * caution_for(run.means.size());
  const double effective = value > 0 ? count * found->variance / value : count;
  return MeanEstimate{.mean = mean,
                      .variance = value / count,
                      .freedom = found->freedom,
                      .effective = std::min(effective, count)};
}

std::optional<double> effective_size(std::span<const double> values) {
  const std::optional<MeanEstimate> mean = estimate_mean({{values.begin(), values.end()}, {}});
  if (!mean) return std::nullopt;
  return mean->effective;
}

std::optional<Effect> compare_means(std::span<const Observed> a, std::span<const Observed> b,
                                    const Question& question) {
  const auto has_mean = [](const Observed& run) { return is_usable(run.means); };
  if (a.empty() || b.empty() || !std::ranges::all_of(a, has_mean) ||
      !std::ranges::all_of(b, has_mean))
    return std::nullopt;
  if (a.size() >= 2 && b.size() >= 2)
    return effect_of(side_of_runs(run_means(a)), side_of_runs(run_means(b)), true, question);
  const std::optional<Side> of_a = side_within_runs(a), of_b = side_within_runs(b);
  if (!of_a || !of_b) return std::nullopt;
  return effect_of(*of_a, *of_b, false, question);
}

std::vector<double> run_means(std::span<const Observed> runs) {
  std::vector<double> means;
  means.reserve(runs.size());
  for (const Observed& run : runs) means.push_back(weighted_mean(run));
  return means;
}

}  // namespace trainscope
