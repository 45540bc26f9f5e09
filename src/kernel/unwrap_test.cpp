#include "kernel/unwrap.h"

#include <gtest/gtest.h>

namespace trainscope {

namespace unwrap_test {

TEST(Unwrap, counts_on_behind_the_end) {
  Unwrap unwrap(1000);
  EXPECT_EQ(unwrap(900), 900);
  EXPECT_EQ(unwrap(990), 990);
  EXPECT_EQ(unwrap(10), 1010);
  EXPECT_EQ(unwrap(980), 1980);
  EXPECT_EQ(unwrap(0), 2000);
  EXPECT_EQ(unwrap(0), 2000);
}

TEST(Unwrap, takes_a_small_fall_for_a_reset) {
  Unwrap unwrap(1000, 500);
  EXPECT_EQ(unwrap(400), 400);
  EXPECT_EQ(unwrap(5), 5);  // the device was replaced
  EXPECT_EQ(unwrap(999), 999);
  EXPECT_EQ(unwrap(5), 1005);
}

}  // namespace unwrap_test

}  // namespace trainscope
