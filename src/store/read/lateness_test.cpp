#include "store/read/lateness.h"

#include <gtest/gtest.h>

#include "base/statistics.h"

namespace trainscope {
namespace lateness_test {

TEST(lateness, counts_give_the_same_ranks_as_a_list) {
  LatenessCounts counts;
  std::vector<int64_t> list;
  uint64_t random = 1;
  for (int i = 0; i < 5000; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    // Negative, usual and very late ones.
    const int64_t late_us = static_cast<int64_t>((random >> 33U) % 90'000) - 10'000;
    counts.add(late_us);
    list.push_back(late_us);
  }
  EXPECT_EQ(counts.count(), 5000);
  for (const double share : {0.0, 0.001, 0.05, 0.5, 0.87, 0.99, 1.0}) {
    EXPECT_EQ(counts.nearest_rank_us(share), nearest_rank(list, share)) << share;
  }
}

TEST(lateness, without_ticks_nothing_is_known) {
  EXPECT_FALSE(LatenessCounts().nearest_rank_us(0.5));
}

}  // namespace lateness_test
}  // namespace trainscope
