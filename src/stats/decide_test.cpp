#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/stats.h"

namespace trainscope {
namespace decide_test {

Effect effect_with(double low, double ratio, double high) {
  Effect effect;
  effect.a = 10;
  effect.b = 10 * ratio;
  effect.has_ratio = true;
  effect.ratio = ratio;
  effect.ratio_low = low;
  effect.ratio_high = high;
  effect.difference = effect.b - effect.a;
  effect.difference_low = 10 * (low - 1);
  effect.difference_high = 10 * (high - 1);
  effect.p = low > 1 || high < 1 ? 0.01 : 0.5;
  return effect;
}

TEST(decide, four_answers) {
  EXPECT_EQ(decide(effect_with(1.03, 1.05, 1.07), 0.02), Difference::higher);
  EXPECT_EQ(decide(effect_with(0.93, 0.95, 0.97), 0.02), Difference::lower);
  EXPECT_EQ(decide(effect_with(0.99, 1.00, 1.01), 0.02), Difference::same);
  EXPECT_EQ(decide(effect_with(0.95, 1.00, 1.05), 0.02), Difference::cannot_tell);
}

TEST(decide, a_certain_but_irrelevant_difference_is_the_same) {
  EXPECT_EQ(decide(effect_with(1.005, 1.01, 1.015), 0.02), Difference::same);
  EXPECT_EQ(decide(effect_with(1.005, 1.01, 1.015), 0.001), Difference::higher);
  EXPECT_EQ(decide(effect_with(1.01, 1.02, 1.03), 0.02), Difference::higher);
}

TEST(decide, an_adjusted_p_takes_effect) {
  Effect effect = effect_with(1.03, 1.05, 1.07);
  effect.p = 0.2;
  EXPECT_EQ(decide(effect, 0.02), Difference::cannot_tell);
}

TEST(decide, metrics_without_a_ratio) {
  Effect effect;
  effect.p = 1;
  EXPECT_EQ(decide(effect, 0.02), Difference::same);  // 0 in both runs
  effect.b = effect.difference = effect.difference_low = effect.difference_high = 5;
  effect.p = 0;
  EXPECT_EQ(decide(effect, 0.02), Difference::higher);
}

TEST(adjust, is_holms) {
  EXPECT_THAT(adjust(std::vector{0.01, 0.04, 0.03, 0.005}),
              testing::ElementsAre(testing::DoubleEq(0.03), testing::DoubleEq(0.06),
                                   testing::DoubleEq(0.06), testing::DoubleEq(0.02)));
  EXPECT_THAT(adjust(std::vector{0.9, 0.8}), testing::ElementsAre(1, 1));
  EXPECT_TRUE(adjust({}).empty());
}

}  // namespace decide_test
}  // namespace trainscope
