// The interval of b - r a, for any r, is that of the method of variance estimates recovery (Donner
// and Zou 2012): the distances of b and r a to their own limits, added as squares. r = 1 gives the
// difference. The ratio's interval has those r for which 0 is inside, which is Fieller's interval
// where the limits are symmetric. The p-value belongs to the multiple of the standard error at
// which the interval of the difference touches 0. So all three agree.
#include "stats/effect.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stats/student_t.h"

namespace trainscope {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kUnbounded = std::numeric_limits<double>::infinity();
// Larger multiples of the standard error are not told apart: their p is below 1e-15 with 8 degrees
// of freedom.
constexpr double kLargestMultiple = 1e9;
// No mean of many numbers is known better than this share of itself.
constexpr double kRounding = 1e-13;
constexpr double kMostRepeats = 10'000;
// Of the degrees of freedom within runs, for p-values far below 0.05: with all of them any of 80
// metrics is shown as different in up to 22 % of equal pairs, with these in up to 5 %.
constexpr double kFreedomOfMany = 0.65;

// The smallest multiple of the standard errors at which the interval of the difference includes 0.
double touching_multiple(const Side& a, const Side& b) {
  const double distance = std::abs(b.value - a.value);
  const bool is_higher = b.value > a.value;
  const auto includes_zero = [&](double multiple) {
    const Deviation of_a = a.deviation(multiple), of_b = b.deviation(multiple);
    return distance <=
           (is_higher ? std::hypot(of_b.down, of_a.up) : std::hypot(of_b.up, of_a.down));
  };
  if (includes_zero(0)) return 0;
  double low = 0, high = 1;
  while (!includes_zero(high)) {
    low = high;
    high *= 2;
    if (high > kLargestMultiple) return kUnbounded;
  }
  for (int halvings = 0; halvings < 60; ++halvings) {
    const double middle = low + (high - low) / 2;
    (includes_zero(middle) ? high : low) = middle;
  }
  return high;
}

// The degrees of freedom of a sum of two variances (Welch and Satterthwaite).
double joint_freedom(const Side& a, const Side& b) {
  const auto variance_of = [](const Side& side) {
    const Deviation one = side.deviation(1);
    return (one.down * one.down + one.up * one.up) / 2;
  };
  const double of_a = variance_of(a), of_b = variance_of(b);
  if (of_a + of_b <= 0) return std::min(a.freedom, b.freedom);
  return (of_a + of_b) * (of_a + of_b) / (of_a * of_a / a.freedom + of_b * of_b / b.freedom);
}

// With equally many runs per side Welch's degrees of freedom are too few if both sides vary alike:
// intervals of two against two cover 97.7 % instead of 95 %. Those of a common variance are too
// many if they do not. The mean of both covers 94 to 97 % if one side varies up to twice as much.
double freedom_between_runs(const Side& a, const Side& b) {
  const double welch = joint_freedom(a, b);
  return a.units == b.units ? (welch + a.freedom + b.freedom) / 2 : welch;
}

// The r at which b - r a is as far from 0 as its limit: the roots of
// (b - r a)^2 = of_b^2 + r^2 of_a^2, the lower or the upper one.
double ratio_limit(double a, double b, double of_a, double of_b, bool is_upper) {
  const double square = a * a - of_a * of_a, rest = b * b - of_b * of_b;
  const double root = std::sqrt(std::max(0.0, a * a * b * b - square * rest));
  if (!is_upper) return rest <= 0 ? 0 : rest / (a * b + root);
  return square <= 0 ? kUnbounded : (a * b + root) / square;  // Not: a cannot be told from 0.
}

void add_ratio(const Deviation& of_a, const Deviation& of_b, Effect& effect) {
  effect.has_ratio = effect.a > 0 && effect.b >= 0;
  if (!effect.has_ratio) {
    effect.ratio = effect.ratio_low = effect.ratio_high = kUnknown;
    return;
  }
  effect.ratio = effect.b / effect.a;
  const double low = ratio_limit(effect.a, effect.b, of_a.up, of_b.down, false);
  const double high = ratio_limit(effect.a, effect.b, of_a.down, of_b.up, true);
  effect.ratio_low = std::min(low, effect.ratio);  // Rounding may cross over.
  effect.ratio_high = std::max(high, effect.ratio);
}

// How many standard errors a difference must have to be found with the wanted power.
double detectable_multiple(double freedom, const Question& question) {
  return two_sided_t(1 - question.level, freedom) + two_sided_t(2 * (1 - question.power), freedom);
}

double variance_at_one(const Side& side) {
  const Deviation one = side.deviation(1);
  return std::max(one.down, one.up) * std::max(one.down, one.up);
}

// The sides may hold very different numbers of values: how much one value varies counts. A side of
// few blocks needs at least as many values as make them enough.
std::optional<double> values_needed(const Side& a, const Side& b, double freedom,
                                    const Question& question) {
  const double wanted =
      question.smallest_effect * std::abs(a.value) / detectable_multiple(freedom, question);
  const double of_a = variance_at_one(a), of_b = variance_at_one(b);
  if (!(wanted > 0) || of_a + of_b <= wanted * wanted) return std::nullopt;
  const double of_values = of_a * a.units / a.caution + of_b * b.units / b.caution;
  const auto enough = [](const Side& side) {
    return side.caution > 1 ? side.units * side.caution : 0;
  };
  return std::ceil(std::max({of_values / (wanted * wanted), enough(a), enough(b)}));
}

// With the degrees of freedom that there are, because that is how well the variation is known: with
// those of the repeats that follow 79 % of differences would be found instead of 90 %.
std::optional<double> repeats_needed(const Side& a, const Side& b, double freedom,
                                     const Question& question) {
  const double wanted =
      question.smallest_effect * std::abs(a.value) / detectable_multiple(freedom, question);
  if (!(wanted > 0)) return std::nullopt;
  const double variance = variance_at_one(a) * a.units + variance_at_one(b) * b.units;
  const double repeats = std::ceil(variance / (wanted * wanted));
  if (repeats <= std::min(a.units, b.units) || repeats > kMostRepeats) return std::nullopt;
  return repeats;
}

}  // namespace

Side normal_side(const MeanEstimate& estimate, double units) {
  const double error = std::max(std::sqrt(estimate.variance), kRounding * std::abs(estimate.mean));
  return {.value = estimate.mean,
          .freedom = estimate.freedom,
          .effective = estimate.effective,
          .units = units,
          .deviation = [error](double multiple) {
            return Deviation{multiple * error, multiple * error};
          }};
}

Side side_of_runs(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double variance = squares / (count - 1);
  return normal_side(
      {.mean = mean, .variance = variance / count, .freedom = count - 1, .effective = count},
      count);
}

Effect effect_of(const Side& a, const Side& b, bool between_runs, const Question& question) {
  const double freedom = between_runs ? freedom_between_runs(a, b) : joint_freedom(a, b);
  const double multiple = two_sided_t(1 - question.level, freedom);
  const Deviation of_a = a.deviation(multiple), of_b = b.deviation(multiple);
  Effect effect;
  effect.a = a.value;
  effect.b = b.value;
  effect.difference = b.value - a.value;
  effect.difference_low = effect.difference - std::hypot(of_b.down, of_a.up);
  effect.difference_high = effect.difference + std::hypot(of_b.up, of_a.down);
  add_ratio(of_a, of_b, effect);
  const double touching = touching_multiple(a, b);
  effect.p = two_sided_p(touching, freedom);
  effect.p_of_many = between_runs ? effect.p : two_sided_p(touching, freedom * kFreedomOfMany);
  effect.level = question.level;
  effect.effective_a = a.effective;
  effect.effective_b = b.effective;
  effect.between_runs = between_runs;
  if (between_runs) {
    effect.repeats_needed = repeats_needed(a, b, freedom, question);
  } else {
    effect.values_needed = values_needed(a, b, freedom, question);
  }
  return effect;
}

}  // namespace trainscope
