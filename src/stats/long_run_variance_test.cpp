#include "stats/long_run_variance.h"

#include <gtest/gtest.h>

#include "stats/simulated_series.h"

namespace trainscope {
namespace long_run_variance_test {

// The mean of the estimates over many series: one series says little.
double usual_estimate(size_t count, double correlation) {
  constexpr unsigned kSeries = 200;
  double sum = 0;
  for (unsigned seed = 1; seed <= kSeries; ++seed)
    sum += long_run_variance(correlated_series(count, correlation, seed))->value;
  return sum / kSeries;
}

TEST(long_run_variance, is_that_of_the_simulated_series) {
  for (const double correlation : {0.0, 0.5, 0.8, 0.9}) {
    const double truth = (1 + correlation) / (1 - correlation);
    EXPECT_NEAR(usual_estimate(512, correlation) / truth, 1, 0.12) << correlation;
  }
  EXPECT_NEAR(usual_estimate(512, -0.5), 1.0 / 3, 0.04);
}

TEST(long_run_variance, drift_is_no_part_of_it) {
  const std::vector<double> flat = correlated_series(512, 0.5, 3);
  std::vector<double> drifting = flat;
  for (size_t i = 0; i < drifting.size(); ++i) {
    const double at = static_cast<double>(i) / 512;
    drifting[i] += 40 * at - 25 * at * at;
  }
  EXPECT_NEAR(long_run_variance(drifting)->value, long_run_variance(flat)->value, 1e-9);
  EXPECT_NEAR(long_run_variance(drifting)->variance, long_run_variance(flat)->variance, 1e-9);
}

TEST(long_run_variance, correlated_series_have_fewer_degrees_of_freedom) {
  const double independent = long_run_variance(correlated_series(512, 0, 5))->freedom;
  const double correlated = long_run_variance(correlated_series(512, 0.9, 5))->freedom;
  EXPECT_GT(independent, 2 * correlated);
  EXPECT_GT(correlated, 1);
}

TEST(long_run_variance, constant_and_short_series) {
  const std::vector<double> constant(100, 0.0);
  EXPECT_EQ(long_run_variance(constant)->value, 0);
  EXPECT_FALSE(long_run_variance(std::vector<double>(7, 1.0)));
  EXPECT_TRUE(long_run_variance(correlated_series(8, 0, 1)));
}

}  // namespace long_run_variance_test
}  // namespace trainscope
