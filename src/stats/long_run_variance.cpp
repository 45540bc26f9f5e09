#include "stats/long_run_variance.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <vector>

#include "stats/autocovariance.h"
#include "stats/stats.h"

namespace trainscope {
namespace {

constexpr size_t kHighestOrder = 10;
constexpr size_t kFewestFrequencies = 4;
constexpr double kLargestCorrection = 1.5;
// What each coefficient of the model, an estimate itself, adds to the uncertainty of the result.
constexpr double kCostOfCoefficient = 0.2;

// The degree of the polynomial that counts as drift, and how many of the lowest frequencies it
// fills. In short series more of it would be indistinguishable from correlation.
size_t drift_degree(size_t count) { return count < 96 ? 1 : count < 256 ? 2 : 4; }

double inner_product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// Subtracts the polynomial of this degree that fits best, term by term: each polynomial follows
// from the two before it and is orthogonal to them (Gram's polynomials).
std::vector<double> subtract_drift(std::span<const double> values, size_t degree) {
  std::vector<double> rest(values.begin(), values.end());
  std::vector<double> before(rest.size(), 0), now(rest.size(), 1), next(rest.size());
  double length_before = 1;
  for (size_t term = 0; term <= degree; ++term) {
    const double length = inner_product(now, now), along = inner_product(rest, now);
    for (size_t i = 0; i < rest.size(); ++i) {
      const double at = (2 * static_cast<double>(i) + 1) / static_cast<double>(rest.size()) - 1;
      rest[i] -= along / length * now[i];
      next[i] = at * now[i] - length / length_before * before[i];
    }
    before.swap(now);
    now.swap(next);
    length_before = length;
  }
  return rest;
}

// The coefficients of the autoregressive model that Akaike's criterion prefers (Levinson-Durbin).
std::vector<double> autoregression(std::span<const double> covariances, size_t count) {
  std::vector<double> model, best;
  double error = covariances[0];
  double best_score = static_cast<double>(count) * std::log(error);
  for (size_t order = 1; order < covariances.size(); ++order) {
    double unexplained = covariances[order];
    for (size_t k = 0; k < model.size(); ++k) unexplained -= model[k] * covariances[order - 1 - k];
    const double reflection = unexplained / error;
    error *= 1 - reflection * reflection;
    if (!(error > 0)) break;
    const std::vector<double> before = model;
    for (size_t k = 0; k < before.size(); ++k) model[k] -= reflection * before[order - 2 - k];
    model.push_back(reflection);
    const double score =
        static_cast<double>(count) * std::log(error) + 2 * static_cast<double>(order);
    if (score < best_score) {
      best_score = score;
      best = model;
    }
  }
  return best;
}

// The height of the model's spectrum at this frequency (radians per value), except for a factor.
double model_spectrum(std::span<const double> model, double frequency) {
  std::complex<double> transfer = 1;
  for (size_t k = 0; k < model.size(); ++k)
    transfer -= std::polar(model[k], -frequency * static_cast<double>(k + 1));
  return 1 / std::norm(transfer);
}

size_t most_frequencies(size_t count) {
  return static_cast<size_t>(std::pow(static_cast<double>(count), 2.0 / 3.0));
}

// The power at half a cycle times `index` over the whole series; its expectation is the spectrum.
double cosine_power(std::span<const double> values, size_t index) {
  const auto count = static_cast<double>(values.size());
  const double step = std::numbers::pi * static_cast<double>(index) / count;
  const double twice = 2 * std::cos(step);
  double now = std::cos(step / 2),
         before = now;  // cos is even: the value before 1/2 is that at -1/2
  double sum = 0;
  for (const double value : values) {
    sum += value * now;
    const double next = twice * now - before;
    before = now;
    now = next;
  }
  return 2 / count * sum * sum;
}

// The height at 0 of the spectrum of what remains of a series.
struct SpectrumAtZero {
  double height = 0;
  double freedom = 0;
};

SpectrumAtZero spectrum_at_zero(std::span<const double> rest, std::span<const double> covariances,
                                size_t skipped) {
  const auto count = static_cast<double>(rest.size());
  const std::vector<double> model = autoregression(covariances, rest.size());
  const double at_zero = model_spectrum(model, 0);
  const size_t most = most_frequencies(rest.size());
  double sum = 0;
  size_t used = 0;
  for (; used < most; ++used) {
    const size_t index = skipped + 1 + used;
    const double frequency = std::numbers::pi * static_cast<double>(index) / count;
    const double correction = at_zero / model_spectrum(model, frequency);
    const bool is_flat = correction < kLargestCorrection && correction > 1 / kLargestCorrection;
    if (used >= kFewestFrequencies && !is_flat) break;
    sum += cosine_power(rest, index) * correction;
  }
  const auto frequencies = static_cast<double>(used);
  const double cost = 1 + kCostOfCoefficient * static_cast<double>(model.size());
  return {sum / frequencies, frequencies / cost};
}

}  // namespace

std::optional<LongRunVariance> long_run_variance(std::span<const double> values) {
  const size_t count = values.size();
  if (count < kFewestBlocks) return std::nullopt;
  const size_t degree = drift_degree(count);
  const std::vector<double> rest = subtract_drift(values, degree);
  std::vector<double> covariances = autocovariances(rest, std::min(kHighestOrder, count / 8));
  const double variance =
      covariances[0] * static_cast<double>(count) / static_cast<double>(count - degree - 1);
  if (!(variance > 0)) return LongRunVariance{0, static_cast<double>(most_frequencies(count)), 0};
  const double first = spectrum_at_zero(rest, covariances, degree).height;
  // What was subtracted took this much of each covariance with it.
  for (double& covariance : covariances)
    covariance += static_cast<double>(degree + 1) * first / static_cast<double>(count);
  const SpectrumAtZero second = spectrum_at_zero(rest, covariances, degree);
  return LongRunVariance{second.height, second.freedom, variance};
}

}  // namespace trainscope
