#include <gtest/gtest.h>

#include <cmath>

#include "stats/simulated_series.h"
#include "stats/stats.h"

namespace trainscope {
namespace permutation_test {

std::vector<Observed> repeats(const std::vector<double>& means) {
  std::vector<Observed> runs;
  for (const double mean : means) runs.push_back({{mean}, {}});
  return runs;
}

std::vector<Observed> single(std::vector<double> means) { return {{std::move(means), {}}}; }

// Of the 20 divisions of six numbers only the observed one and its mirror image are as extreme.
TEST(permutation_p, few_runs_are_enumerated) {
  EXPECT_DOUBLE_EQ(permutation_p(repeats({1, 2, 3}), repeats({7, 8, 9})).value(), 0.1);
  EXPECT_DOUBLE_EQ(permutation_p(repeats({1, 2}), repeats({5, 6})).value(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(permutation_p(repeats({1, 2, 3}), repeats({1, 2, 3})).value(), 1);
}

TEST(permutation_p, blocks_that_are_long_enough_are_exchanged) {
  constexpr unsigned kPairs = 200;
  unsigned claimed = 0, found = 0;
  for (unsigned seed = 0; seed < kPairs; ++seed) {
    const auto a = single(correlated_series(512, 0.8, 2 * seed + 1));
    const auto b = single(correlated_series(512, 0.8, 2 * seed + 2));
    const auto higher = single(correlated_series(512, 0.8, 2 * seed + 2, 11));
    claimed += permutation_p(a, b).value() < 0.05;
    found += permutation_p(a, higher).value() < 0.05;
  }
  EXPECT_LT(claimed, 0.12 * kPairs);
  EXPECT_GT(found, 0.9 * kPairs);
}

TEST(permutation_p, the_seed_decides) {
  const auto a = single(correlated_series(200, 0.2, 1)), b = single(correlated_series(200, 0.2, 2));
  EXPECT_EQ(permutation_p(a, b, {.seed = 1}), permutation_p(a, b, {.seed = 1}));
  EXPECT_NE(permutation_p(a, b, {.seed = 1}), permutation_p(a, b, {.seed = 2}));
}

TEST(permutation_p, too_few_blocks_are_no_answer) {
  EXPECT_FALSE(permutation_p(single({1, 2, 3}), single({1, 2, 3, 4, 5})));
  EXPECT_FALSE(permutation_p({}, single({1, 2, 3, 4, 5})));
}

// For a correlation r of neighbours the best length is the cube root of 1.5 n (2 r / (1 - r^2))^2.
// Correlations in a sample are a little too small, and so is the length.
TEST(block_length, is_near_the_best_one) {
  const auto usual_length = [](double correlation) {
    double sum = 0;
    for (unsigned seed = 1; seed <= 50; ++seed)
      sum += block_length(correlated_series(2000, correlation, seed));
    return sum / 50;
  };
  for (const double r : {0.5, 0.8}) {
    const double best = std::cbrt(1.5 * 2000 * std::pow(2 * r / (1 - r * r), 2));
    EXPECT_NEAR(usual_length(r) / best, 0.92, 0.08) << r;
  }
  EXPECT_LT(usual_length(0), 3);
  EXPECT_EQ(block_length(std::vector<double>(100, 3.0)), 1);
  EXPECT_EQ(block_length(std::vector<double>{1, 2}), 1);
}

}  // namespace permutation_test
}  // namespace trainscope
