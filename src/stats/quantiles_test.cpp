#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stats/simulated_series.h"
#include "stats/stats.h"

namespace trainscope {
namespace quantiles_test {

std::vector<std::vector<double>> skewed_run(size_t count, double correlation, unsigned seed,
                                            double factor = 1) {
  std::vector<double> values = correlated_series(count, correlation, seed, 0);
  for (double& value : values) value = factor * std::exp(0.3 * value);
  return {values};
}

TEST(compare_quantiles, finds_a_ratio_and_agrees_with_itself) {
  for (const double quantile : {0.5, 0.99}) {
    const Effect effect =
        compare_quantiles(skewed_run(8000, 0.5, 1), skewed_run(8000, 0.5, 2, 1.2), quantile)
            .value();
    EXPECT_LT(effect.ratio_low, 1.2) << quantile;
    EXPECT_GT(effect.ratio_high, 1.2) << quantile;
    EXPECT_GT(effect.ratio_low, 1) << quantile;
    EXPECT_LT(effect.p, 0.05) << quantile;
    EXPECT_LE(effect.effective_a, 8000) << quantile;
  }
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Effect effect = compare_quantiles(skewed_run(1000, 0.5, 2 * seed + 1),
                                            skewed_run(1000, 0.5, 2 * seed + 2, 1.05), 0.5)
                              .value();
    EXPECT_EQ(effect.p<0.05, effect.ratio_low> 1 || effect.ratio_high < 1) << seed;
    EXPECT_EQ(effect.p<0.05, effect.difference_low> 0 || effect.difference_high < 0) << seed;
  }
}

// The pairs are equal: the truth is 1.
TEST(compare_quantiles, intervals_cover_the_truth) {
  for (const double quantile : {0.5, 0.9}) {
    int covered = 0;
    constexpr unsigned kPairs = 300;
    for (unsigned seed = 0; seed < kPairs; ++seed) {
      const auto effect = compare_quantiles(skewed_run(2000, 0.7, 2 * seed + 1),
                                            skewed_run(2000, 0.7, 2 * seed + 2), quantile);
      covered += effect && effect->ratio_low <= 1 && effect->ratio_high >= 1;
    }
    EXPECT_GT(covered, kPairs * 0.92) << quantile;
    EXPECT_LT(covered, kPairs * 0.985) << quantile;
  }
}

TEST(compare_quantiles, repeats_are_the_units) {
  std::vector<std::vector<double>> a, b;
  for (unsigned run = 0; run < 3; ++run) {
    a.push_back(skewed_run(500, 0, run + 1)[0]);
    b.push_back(skewed_run(500, 0, run + 11, 1.5)[0]);
  }
  const Effect effect = compare_quantiles(a, b, 0.5).value();
  EXPECT_TRUE(effect.between_runs);
  EXPECT_EQ(effect.effective_b, 3);
  EXPECT_LT(effect.p, 0.05);
}

TEST(compare_quantiles, too_few_values_for_a_limit_are_no_answer) {
  EXPECT_FALSE(compare_quantiles(skewed_run(200, 0, 1), skewed_run(8000, 0, 2), 0.99));
  EXPECT_TRUE(compare_quantiles(skewed_run(200, 0, 1), skewed_run(8000, 0, 2), 0.5));
  EXPECT_FALSE(compare_quantiles({}, skewed_run(8000, 0, 2), 0.5));
  EXPECT_FALSE(compare_quantiles(skewed_run(0, 0, 1), skewed_run(8000, 0, 2), 0.5));
}

TEST(compare_quantiles, equal_values_have_no_uncertainty) {
  const std::vector<std::vector<double>> five = {std::vector<double>(1000, 5.0)};
  const Effect effect = compare_quantiles(five, five, 0.5).value();
  EXPECT_EQ(effect.p, 1);
  EXPECT_EQ(effect.ratio_low, 1);
  EXPECT_EQ(effect.ratio_high, 1);
}

}  // namespace quantiles_test
}  // namespace trainscope
