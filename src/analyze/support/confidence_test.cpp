#include "analyze/support/confidence.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace confidence_test {

TEST(Confidence, never_decreases_with_the_score) {
  double before = 0;
  for (int i = 0; i <= 100; ++i) {
    const double confidence = confidence_of(i / 100.0);
    EXPECT_GE(confidence, before) << i;
    EXPECT_LE(confidence, 1) << i;
    before = confidence;
  }
  EXPECT_EQ(confidence_of(0), 0);
  EXPECT_GT(confidence_of(0.97), 0.9);
}

}  // namespace confidence_test
}  // namespace trainscope
