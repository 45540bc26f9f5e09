#include "stats/long_run_variance.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "stats/autocovariance.h"
#include "stats/stats.h"

namespace trainscope {
namespace {

// Shorter series have a straight line subtracted instead of a parabola.
constexpr size_t kFewestForParabola = 24;
constexpr size_t kHighestOrder = 10;
constexpr size_t kFewestFrequencies = 4;
constexpr double kLargestCorrection = 2;

void subtract_multiple_of(std::span<const double> shape, std::vector<double>& values) {
  double along = 0, length = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    along += values[i] * shape[i];
    length += shape[i] * shape[i];
  }
  for (size_t i = 0; i < values.size(); ++i) values[i] -= along / length * shape[i];
}

// Subtracts the polynomial of this degree (0, 1 or 2) that fits best.
std::vector<double> subtract_drift(std::span<const double> values, size_t degree) {
  const auto count = static_cast<double>(values.size());
  std::vector<double> rest(values.begin(), values.end());
  std::vector<double> constant(rest.size(), 1), line(rest.size()), parabola(rest.size());
  for (size_t i = 0; i < rest.size(); ++i) {
    line[i] = (2 * static_cast<double>(i) + 1) / count - 1;
    parabola[i] = line[i] * line[i] - (1 - 1 / (count * count)) / 3;  // orthogonal to the others
  }
  subtract_multiple_of(constant, rest);
  if (degree >= 1) subtract_multiple_of(line, rest);
  if (degree >= 2) subtract_multiple_of(parabola, rest);
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

// The power at half a cycle times `index` over the whole series; its expectation is the spectrum.
double cosine_power(std::span<const double> values, size_t index) {
  const auto count = static_cast<double>(values.size());
  const double step = std::numbers::pi * static_cast<double>(index) / count;
  const double twice = 2 * std::cos(step);
  double now = std::cos(step / 2), before = now;  // cos is even: the value before 1/2 is that at -1/2
  double sum = 0;
  for (const double value : values) {
    sum += value * now;
    const double next = twice * now - before;
    before = now;
    now = next;
  }
  return 2 / count * sum * sum;
}

}  // namespace

std::optional<LongRunVariance> long_run_variance(std::span<const double> values) {
  const size_t count = values.size();
  if (count < kFewestBlocks) return std::nullopt;
  const size_t skipped = count < kFewestForParabola ? 1 : 2;
  const std::vector<double> rest = subtract_drift(values, skipped);
  const size_t lags = std::min(kHighestOrder, count / 8);
  const std::vector<double> covariances = autocovariances(rest, lags);
  const auto most = static_cast<size_t>(std::pow(static_cast<double>(count), 2.0 / 3.0));
  const double variance = covariances[0] * static_cast<double>(count) /
                          static_cast<double>(count - skipped - 1);
  if (!(variance > 0)) return LongRunVariance{0, static_cast<double>(most), 0};

  const std::vector<double> model = autoregression(covariances, count);
  const double at_zero = model_spectrum(model, 0);
  double sum = 0;
  size_t used = 0;
  for (; used < most; ++used) {
    const size_t index = skipped + 1 + used;
    const double frequency =
        std::numbers::pi * static_cast<double>(index) / static_cast<double>(count);
    const double correction = at_zero / model_spectrum(model, frequency);
    const bool is_flat = correction < kLargestCorrection && correction > 1 / kLargestCorrection;
    if (used >= kFewestFrequencies && !is_flat) break;
    sum += cosine_power(rest, index) * correction;
  }
  const auto frequencies = static_cast<double>(used);
  return LongRunVariance{sum / frequencies, frequencies, variance};
}

}  // namespace trainscope
