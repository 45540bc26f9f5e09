#include "stats/student_t.h"

#include <cmath>

namespace trainscope {
namespace {

// The continued fraction of the incomplete beta function by Lentz's method; converges within a few
// dozen terms for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr int kMostTerms = 10'000;
  constexpr double kTiny = 1e-300, kPrecision = 1e-16;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) <= kPrecision) break;
  }
  return fraction;
}

// The regularised incomplete beta function I_x(a, b); `rest` is 1 - x, given apart because the
// subtraction would lose it where x is nearly 1.
double incomplete_beta(double a, double b, double x, double rest) {
  if (x <= 0) return 0;
  if (rest <= 0) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log(rest));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, rest) / b;
}

}  // namespace

double two_sided_p(double t, double freedom) {
  const double square = t * t;
  if (std::isinf(square)) return 0;
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + square),
                         square / (freedom + square));
}

double two_sided_t(double p, double freedom) {
  double low = 0, high = 1;
  while (two_sided_p(high, freedom) > p && high < 1e12) {
    low = high;
    high *= 2;
  }
  for (int halvings = 0; halvings < 60; ++halvings) {
    const double middle = low + (high - low) / 2;
    (two_sided_p(middle, freedom) > p ? low : high) = middle;
  }
  return high;
}

}  // namespace trainscope
