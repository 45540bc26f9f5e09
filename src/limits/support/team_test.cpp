#include "limits/support/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace trainscope {
namespace {

TEST(Team, every_thread_takes_part_in_every_round) {
  std::vector<std::atomic<int64_t>> calls(3);
  const BestRound best = best_round(3, 1, [&](size_t thread) { ++calls[thread]; });
  EXPECT_GE(best.rounds, 3);
  EXPECT_GT(best.seconds, 0);
  for (const auto& count : calls) EXPECT_EQ(count, best.rounds);
}

TEST(Team, there_is_a_processor) { EXPECT_GE(usable_processors(), 1U); }

}  // namespace
}  // namespace trainscope
