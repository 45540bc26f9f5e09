#include "model/points_summary.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace points_summary_test {

TEST(PointsSummary, a_gauge_has_a_mean_and_no_delta) {
  PointsSummary points;
  points.add(1, 4);
  points.add(2, -2);
  points.add(4, 1);
  const Summary summary = points.finish(Kind::gauge);
  EXPECT_EQ(summary.samples, 3);
  EXPECT_EQ(summary.min, -2);
  EXPECT_EQ(summary.mean, 1);
  EXPECT_EQ(summary.max, 4);
  EXPECT_EQ(summary.last, 1);
  EXPECT_FALSE(summary.delta);
  EXPECT_FALSE(summary.rate);
}

TEST(PointsSummary, a_counter_has_a_delta_and_a_rate_and_no_mean) {
  PointsSummary points;
  points.add(1, 10);
  points.add(3, 16);
  const Summary summary = points.finish(Kind::counter);
  EXPECT_EQ(summary.delta, 6);
  EXPECT_EQ(summary.rate, 3);
  EXPECT_EQ(summary.last, 16);
  EXPECT_FALSE(summary.mean);
}

TEST(PointsSummary, absent_values_count_only_as_time) {
  PointsSummary points;
  points.add(Points{{0, 1, 2}, {0, 10, 99}, {0, 1, 0}});
  points.add(Points{{3, 4}, {14, 99}, {1, 0}});
  const Summary summary = points.finish(Kind::counter);
  EXPECT_EQ(summary.samples, 2);
  EXPECT_EQ(summary.max, 14);
  EXPECT_EQ(summary.delta, 4);
  EXPECT_EQ(summary.rate, 1) << "over the four seconds from the first to the last time";
}

TEST(PointsSummary, nothing_is_known_without_a_point) {
  PointsSummary points;
  points.add(Points());
  points.add(Points{{1}, {7}, {0}});
  const Summary summary = points.finish(Kind::gauge);
  EXPECT_EQ(summary.samples, 0);
  EXPECT_FALSE(summary.min);
  EXPECT_FALSE(summary.mean);
  EXPECT_FALSE(summary.last);
}

TEST(PointsSummary, one_point_of_a_counter_has_no_rate) {
  PointsSummary points;
  points.add(5, 7);
  const Summary summary = points.finish(Kind::counter);
  EXPECT_EQ(summary.delta, 0);
  EXPECT_FALSE(summary.rate);
}

}  // namespace points_summary_test
}  // namespace trainscope
