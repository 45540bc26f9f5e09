#include "probe/paired.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace trainscope {
namespace paired_test {

// Published tables of the signed-rank test: with n = 10 the interval of 95 % goes from the 9th to
// the 47th of the 55 means, with n = 6 from the first to the last.
TEST(Paired, the_interval_is_that_of_the_signed_rank_test) {
  EXPECT_FALSE(paired_interval({1, 2, 3, 4, 5}));
  const auto six = paired_interval({1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(six);
  EXPECT_DOUBLE_EQ(six->low, 1);
  EXPECT_DOUBLE_EQ(six->high, 6);
  EXPECT_DOUBLE_EQ(six->estimate, 3.5);
  std::vector<double> powers;
  for (int i = 0; i < 10; ++i) powers.push_back(std::pow(2, i));
  std::vector<double> means;
  for (size_t i = 0; i < 10; ++i) {
    for (size_t k = i; k < 10; ++k) means.push_back((powers[i] + powers[k]) / 2);
  }
  std::sort(means.begin(), means.end());
  const auto ten = paired_interval(powers);
  ASSERT_TRUE(ten);
  EXPECT_DOUBLE_EQ(ten->low, means[8]);
  EXPECT_DOUBLE_EQ(ten->high, means[46]);
}

TEST(Paired, many_pairs_are_averaged_and_narrow) {
  std::vector<double> many;
  for (int i = 0; i < 5000; ++i) many.push_back(0.5 + (i % 7 - 3) * 0.01);
  const auto found = paired_interval(many);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->estimate, 0.5, 1e-3);
  EXPECT_LT(found->high - found->low, 0.002);
}

}  // namespace paired_test
}  // namespace trainscope
