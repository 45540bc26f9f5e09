#include "stats/student_t.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace trainscope {
namespace student_t_test {

TEST(student_t, limits_are_those_of_printed_tables) {
  EXPECT_NEAR(two_sided_t(0.05, 1), 12.706205, 1e-5);
  EXPECT_NEAR(two_sided_t(0.05, 2), 4.302653, 1e-6);
  EXPECT_NEAR(two_sided_t(0.05, 5), 2.570582, 1e-6);
  EXPECT_NEAR(two_sided_t(0.05, 10), 2.228139, 1e-6);
  EXPECT_NEAR(two_sided_t(0.01, 10), 3.169273, 1e-6);
  EXPECT_NEAR(two_sided_t(0.05, 30), 2.042272, 1e-6);
  EXPECT_NEAR(two_sided_t(0.05, 1e7), 1.959964, 1e-6);
}

TEST(student_t, p_has_a_closed_form_for_one_and_two_degrees_of_freedom) {
  for (const double t : {0.0, 1e-9, 0.3, 1.0, 2.5, 40.0, 1e6}) {
    EXPECT_NEAR(two_sided_p(t, 1), 2 / std::numbers::pi * std::atan2(1, t), 1e-13) << t;
    EXPECT_NEAR(two_sided_p(t, 2), 2 / ((2 + t * t) * (1 + t / std::sqrt(2 + t * t))), 1e-13) << t;
  }
}

TEST(student_t, limits_and_probabilities_are_inverse) {
  for (const double freedom : {1.0, 1.37, 4.5, 17.8, 300.0})
    for (const double p : {0.9, 0.2, 0.05, 0.001})
      EXPECT_NEAR(two_sided_p(two_sided_t(p, freedom), freedom), p, 1e-12) << freedom;
}

TEST(student_t, both_signs_and_extremes) {
  EXPECT_DOUBLE_EQ(two_sided_p(-2, 7), two_sided_p(2, 7));
  EXPECT_EQ(two_sided_p(0, 7), 1);
  EXPECT_EQ(two_sided_p(INFINITY, 7), 0);
  EXPECT_LT(two_sided_p(100, 64), 1e-60);
}

}  // namespace student_t_test
}  // namespace trainscope
