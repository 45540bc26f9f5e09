// Series for tests: each value is correlated with the one before.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace trainscope {

// Mean `mean`, standard deviation 1; the correlation falls as powers of this one. The same numbers
// for the same seed.
inline std::vector<double> correlated_series(size_t count, double correlation, unsigned seed,
                                             double mean = 10) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const double innovation = std::sqrt(1 - correlation * correlation);
  std::vector<double> values;
  double state = normal(random);
  for (size_t i = 0; i < count; ++i) {
    values.push_back(mean + state);
    state = correlation * state + innovation * normal(random);
  }
  return values;
}

}  // namespace trainscope
