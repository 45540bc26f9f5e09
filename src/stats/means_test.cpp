#include <gtest/gtest.h>

#include <cmath>

#include "stats/simulated_series.h"
#include "stats/stats.h"
#include "stats/student_t.h"

namespace trainscope {
namespace means_test {

std::vector<Observed> runs_with_means(const std::vector<double>& means) {
  std::vector<Observed> runs;
  for (const double mean : means) runs.push_back({{mean}, {}});
  return runs;
}

std::vector<Observed> one_run(std::vector<double> means) { return {{std::move(means), {}}}; }

// The second example of Wikipedia's page on Welch's test: t = -1.57, 9.9 degrees of freedom, p =
// 0.149.
TEST(compare_means, unequally_many_repeats_agree_with_the_textbook) {
  const auto a = runs_with_means({17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8});
  const auto b = runs_with_means({21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8,
                                  20.7, 21.7, 21.5, 22.5, 23.6, 21.5, 22.5, 23.5, 21.5, 21.8});
  const Effect effect = compare_means(a, b).value();
  EXPECT_NEAR(effect.p, 0.149, 0.0005);
  EXPECT_TRUE(effect.between_runs);
  EXPECT_EQ(effect.effective_a, 10);
  EXPECT_EQ(effect.effective_b, 20);
}

// Student's sleep data (1908). R prints p = 0.07939 and the interval -0.2054832 to 3.3654832 with
// Welch's degrees of freedom, p = 0.07919 and -0.203874 to 3.363874 with those of a common
// variance.
TEST(compare_means, equally_many_repeats_are_between_welch_and_a_common_variance) {
  const auto a = runs_with_means({0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0});
  const auto b = runs_with_means({1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4});
  const Effect effect = compare_means(a, b).value();
  EXPECT_NEAR(effect.a, 0.75, 1e-12);
  EXPECT_NEAR(effect.b, 2.33, 1e-12);
  EXPECT_NEAR(effect.difference, 1.58, 1e-12);
  EXPECT_NEAR(effect.difference_low, (-0.2054832 - 0.203874) / 2, 1e-4);
  EXPECT_NEAR(effect.difference_high, (3.3654832 + 3.363874) / 2, 1e-4);
  EXPECT_NEAR(effect.p, (0.07939 + 0.07919) / 2, 1e-5);
  EXPECT_EQ(effect.ratio_high, INFINITY);  // 0.75 cannot be told from 0.
  EXPECT_LT(effect.ratio_low, 1);
}

TEST(compare_means, the_interval_of_a_ratio_is_fiellers) {
  const Effect effect = compare_means(runs_with_means({9, 11}), runs_with_means({19, 21})).value();
  const double square = std::pow(two_sided_t(0.05, 2), 2);
  for (const double limit : {effect.ratio_low, effect.ratio_high})
    EXPECT_NEAR(std::pow(20 - limit * 10, 2), square * (1 + limit * limit), 1e-9);
  EXPECT_DOUBLE_EQ(effect.ratio, 2);
  EXPECT_NEAR(effect.ratio_low, 1.2958, 1e-3);
  EXPECT_NEAR(effect.ratio_high, 3.6130, 1e-3);
}

TEST(compare_means, exchanging_the_sides_inverts_the_ratio) {
  const auto a = one_run(correlated_series(300, 0.6, 1)),
             b = one_run(correlated_series(200, 0.3, 2));
  const Effect forth = compare_means(a, b).value(), back = compare_means(b, a).value();
  EXPECT_NEAR(forth.ratio_low, 1 / back.ratio_high, 1e-12);
  EXPECT_NEAR(forth.difference_low, -back.difference_high, 1e-12);
  EXPECT_NEAR(forth.p, back.p, 1e-12);
}

TEST(compare_means, the_p_value_agrees_with_both_intervals) {
  int different = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const double shift = 0.02 * (seed % 40);
    const auto a = one_run(correlated_series(100, 0.5, 2 * seed + 1, 8));
    const auto b = one_run(correlated_series(100, 0.5, 2 * seed + 2, 8 + shift));
    const Effect effect = compare_means(a, b).value();
    const bool is_different = effect.p < 0.05;
    different += is_different;
    EXPECT_EQ(is_different, effect.ratio_low > 1 || effect.ratio_high < 1) << seed;
    EXPECT_EQ(is_different, effect.difference_low > 0 || effect.difference_high < 0) << seed;
    EXPECT_LE(effect.ratio_low, effect.ratio);
    EXPECT_GE(effect.ratio_high, effect.ratio);
  }
  EXPECT_GT(different, 20);
  EXPECT_LT(different, 180);
}

TEST(compare_means, blocks_weigh_what_they_hold) {
  const std::vector<double> means = correlated_series(64, 0, 1);
  std::vector<double> weights(64, 3);
  for (size_t i = 0; i < 32; ++i) weights[i] = 1;
  double sum = 0, held = 0;
  for (size_t i = 0; i < 64; ++i) {
    sum += means[i] * weights[i];
    held += weights[i];
  }
  const MeanEstimate weighted = estimate_mean({means, weights}).value();
  EXPECT_NEAR(weighted.mean, sum / held, 1e-12);
  const MeanEstimate plain = estimate_mean({means, {}}).value();
  const MeanEstimate equal = estimate_mean({means, std::vector<double>(64, 7)}).value();
  EXPECT_NEAR(equal.variance, plain.variance, 1e-12);
  EXPECT_NE(weighted.variance, plain.variance);
}

TEST(compare_means, correlation_reduces_the_effective_number_of_blocks) {
  const Effect effect =
      compare_means(one_run(correlated_series(512, 0, 1)), one_run(correlated_series(512, 0.9, 2)))
          .value();
  EXPECT_GT(effect.effective_a, 300);
  EXPECT_LE(effect.effective_a, 512);
  EXPECT_LT(effect.effective_b, 80);
  EXPECT_GT(effect.effective_b, 8);
  EXPECT_FALSE(effect.between_runs);
}

TEST(compare_means, constant_metrics) {
  const auto five = one_run(std::vector<double>(20, 5.0)),
             six = one_run(std::vector<double>(20, 6.0));
  EXPECT_GT(compare_means(five, five)->p, 0.99);
  const Effect effect = compare_means(five, six).value();
  EXPECT_LT(effect.p, 1e-6);
  EXPECT_NEAR(effect.ratio_low, 1.2, 1e-9);
  // The same number in other blocks differs by rounding only.
  const auto tenth =
      std::vector<Observed>{{std::vector<double>(21, 0.1), std::vector<double>(21, 3)}};
  EXPECT_GT(compare_means(one_run(std::vector<double>(20, 0.1)), tenth)->p, 0.5);
  const auto zero = one_run(std::vector<double>(20, 0.0));
  EXPECT_EQ(compare_means(zero, zero)->p, 1);
}

TEST(compare_means, without_a_positive_mean_there_is_no_ratio) {
  const auto zero = one_run(std::vector<double>(20, 0.0)),
             five = one_run(std::vector<double>(20, 5.0));
  const Effect effect = compare_means(zero, five).value();
  EXPECT_FALSE(effect.has_ratio);
  EXPECT_TRUE(std::isnan(effect.ratio) && std::isnan(effect.ratio_low));
  EXPECT_NEAR(effect.difference, 5, 1e-12);
  EXPECT_EQ(effect.p < 0.05, true);
  EXPECT_FALSE(compare_means(one_run(correlated_series(50, 0, 1, -10)), five)->has_ratio);
  EXPECT_EQ(compare_means(five, zero)->ratio, 0);
}

TEST(compare_means, too_little_is_no_answer) {
  const auto few = one_run({1, 2, 3, 4, 5, 6, 7}), enough = one_run({1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_FALSE(compare_means(few, enough));
  EXPECT_FALSE(compare_means({}, enough));
  EXPECT_FALSE(compare_means(one_run({}), enough));
  EXPECT_FALSE(compare_means(one_run({1, 2, 3, NAN, 5, 6, 7, 8}), enough));
  EXPECT_FALSE(compare_means(runs_with_means({1, INFINITY}), runs_with_means({1, 2})));
  EXPECT_TRUE(compare_means(enough, enough));
  // One run against several is a statement about those runs.
  const std::vector<Observed> two = {enough[0], enough[0]};
  EXPECT_FALSE(compare_means(enough, two)->between_runs);
  EXPECT_TRUE(compare_means(two, two)->between_runs);
}

// Twice ((2.776 + 1.533) standard deviations of 1, with 4 degrees of freedom)^2 is 37.1. As if the
// standard deviation were known, power.t.test(delta = 1, sd = 1, power = 0.9) of R needs 22.02.
TEST(compare_means, repeats_needed_allow_for_a_variation_that_is_hardly_known) {
  const auto runs = runs_with_means({49, 50, 51});
  const Effect effect = compare_means(runs, runs, {.smallest_effect = 0.02}).value();
  EXPECT_EQ(effect.repeats_needed, 38);
  EXPECT_FALSE(effect.values_needed);
  EXPECT_FALSE(compare_means(runs, runs, {.smallest_effect = 0.5})->repeats_needed);
}

// Far below 0.05 a p-value from within runs says too little.
TEST(compare_means, the_p_value_that_is_adjusted_is_more_cautious_within_runs) {
  const auto a = one_run(correlated_series(64, 0.5, 1)), b = one_run(correlated_series(64, 0.5, 2));
  std::vector<double> higher = b[0].means;
  for (double& value : higher) value *= 1.5;
  const Effect different = compare_means(a, one_run(higher)).value();
  EXPECT_LT(different.p, 0.01);
  EXPECT_GT(different.p_of_many, 2 * different.p);
  const auto runs = runs_with_means({49, 50, 51}), others = runs_with_means({59, 60, 61});
  const Effect between = compare_means(runs, others).value();
  EXPECT_EQ(between.p_of_many, between.p);
}

TEST(compare_means, half_the_effect_needs_four_times_the_values) {
  const auto a = one_run(correlated_series(100, 0.5, 1)),
             b = one_run(correlated_series(100, 0.5, 2));
  const Effect coarse = compare_means(a, b, {.smallest_effect = 0.02}).value();
  const Effect fine = compare_means(a, b, {.smallest_effect = 0.01}).value();
  ASSERT_TRUE(coarse.values_needed && fine.values_needed);
  EXPECT_NEAR(*fine.values_needed / *coarse.values_needed, 4, 0.01);
  EXPECT_GT(*coarse.values_needed, 100);
  EXPECT_FALSE(compare_means(a, b, {.smallest_effect = 0.9})->values_needed);
}

// Steps that vary by 10 %, 100 of them and 51,200: with 2 x 0.1^2 / n = (0.02 / 3.27)^2 each side
// needs about 530. The long one has what it needs.
TEST(compare_means, sides_of_very_different_length_need_what_their_values_need) {
  const std::vector<double> one_each = correlated_series(100, 0, 1);
  std::vector<double> hundred_each;
  for (const double value : correlated_series(512, 0, 2))
    hundred_each.push_back(10 + (value - 10) / 10);
  const std::vector<Observed> a = {{one_each, std::vector<double>(100, 1)}};
  const std::vector<Observed> b = {{hundred_each, std::vector<double>(512, 100)}};
  const Effect effect = compare_means(a, b, {.smallest_effect = 0.02}).value();
  ASSERT_TRUE(effect.values_needed);
  EXPECT_GT(*effect.values_needed, 250);
  EXPECT_LT(*effect.values_needed, 1100);
}

// Their correlation cannot be estimated, and may be as large as this.
TEST(compare_means, few_correlated_blocks_are_rarely_called_different) {
  constexpr unsigned kPairs = 400;
  for (const size_t count : {8U, 12U, 20U}) {
    unsigned claimed = 0;
    for (unsigned seed = 0; seed < kPairs; ++seed) {
      const auto a = one_run(correlated_series(count, 0.7, 2 * seed + 1));
      const auto b = one_run(correlated_series(count, 0.7, 2 * seed + 2));
      claimed += compare_means(a, b)->p < 0.05 ? 1 : 0;
    }
    EXPECT_LT(claimed, 0.08 * kPairs) << count;
  }
}

// Of more blocks less is assumed, so that they are not needed in proportion to the uncertainty.
TEST(compare_means, few_blocks_need_at_least_enough) {
  const auto few = one_run(correlated_series(10, 0, 1)),
             same = one_run(correlated_series(10, 0, 2));
  const MeanEstimate a = estimate_mean(few[0]).value(), b = estimate_mean(same[0]).value();
  const auto needed = [&](double effect) {
    return compare_means(few, same, {.smallest_effect = effect})->values_needed;
  };
  const double one = 10 * (a.variance + b.variance) / 4;  // of one value on each side
  ASSERT_TRUE(needed(0.001));
  const double wanted = 0.001 * a.mean / 3.7;  // standard errors, with 8 degrees of freedom
  EXPECT_NEAR(*needed(0.001) / (one / (wanted * wanted)), 1, 0.5);
  double just_too_small = 0.001;
  while (needed(1.01 * just_too_small)) just_too_small *= 1.01;
  EXPECT_EQ(needed(just_too_small), 40);
}

TEST(effective_size, follows_the_correlation) {
  EXPECT_NEAR(effective_size(correlated_series(4000, 0.8, 1)).value(), 4000 * 0.2 / 1.8, 150);
  EXPECT_FALSE(effective_size(std::vector<double>(7, 1)));
}

}  // namespace means_test
}  // namespace trainscope
