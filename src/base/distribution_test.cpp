#include "base/distribution.h"

#include <gtest/gtest.h>

#include <random>

#include "base/statistics.h"

namespace trainscope {
namespace distribution_test {

std::vector<double> random_durations(size_t count) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> some(-5, 1.5);
  std::vector<double> all;
  for (size_t i = 0; i < count; ++i) all.push_back(i % 100 == 0 ? -some(random) : some(random));
  return all;
}

Distribution distribution_of(const std::vector<double>& values) {
  Distribution distribution;
  for (const double value : values) distribution.add(value);
  return distribution;
}

TEST(distribution, few_values_are_exact) {
  std::vector<double> values = random_durations(10'001);
  const Distribution distribution = distribution_of(values);
  EXPECT_EQ(distribution.median(), middle_of(values));
  EXPECT_EQ(distribution.nearest_rank(0.99), nearest_rank(values, 0.99));
  EXPECT_EQ(distribution.nearest_rank(0), *std::min_element(values.begin(), values.end()));
  for (double& value : values) value = std::abs(value - distribution.median());
  EXPECT_EQ(distribution.median_distance(distribution.median()), middle_of(values));
}

TEST(distribution, many_values_are_within_a_thousandth) {
  std::vector<double> values = random_durations(Distribution::kMaxExact + 1);
  const Distribution distribution = distribution_of(values);
  for (const double share : {0.001, 0.005, 0.5, 0.99, 0.9999}) {
    const double exact = nearest_rank(values, share);
    EXPECT_NEAR(distribution.nearest_rank(share), exact, 1e-3 * std::abs(exact)) << share;
  }
  const double median = middle_of(values);
  EXPECT_NEAR(distribution.median(), median, 1e-3 * median);
  for (double& value : values) value = std::abs(value - median);
  EXPECT_NEAR(distribution.median_distance(median), middle_of(values), 1e-3 * median);
}

TEST(distribution, zeros_stay_zeros_and_nothing_is_zero) {
  EXPECT_EQ(Distribution().median(), 0);
  EXPECT_EQ(Distribution().nearest_rank(0.5), 0);
  EXPECT_EQ(Distribution().median_distance(1), 0);
  EXPECT_EQ(distribution_of(std::vector<double>(Distribution::kMaxExact + 5, 0)).median(), 0);
}

}  // namespace distribution_test
}  // namespace trainscope
