#include "limits/support/team.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "base/bounded_child.h"
#include "base/clock.h"

namespace trainscope {
namespace team_test {

TEST(Team, every_thread_takes_part_in_every_round) {
  std::vector<std::atomic<int64_t>> calls(3);
  const auto best = best_round(3, 1, [&](size_t thread) { ++calls[thread]; });
  ASSERT_TRUE(best) << best.error().message();
  EXPECT_GE(best->rounds, 3);
  EXPECT_GT(best->seconds, 0);
  for (const auto& count : calls) EXPECT_EQ(count, best->rounds);
}

TEST(Team, threads_that_cannot_be_started_are_an_error_and_none_of_them_works) {
  ChildLimits limits;
  limits.idle_ns = limits.total_ns = 60 * kNsPerSecond;
  limits.memory_bytes = 16 << 20;  // less than 64 stacks
  const ChildAnswer answer = ask_child(limits, [] {
    std::atomic<int64_t> calls{0};
    const auto best = best_round(64, 1, [&](size_t) { ++calls; });
    return fmt::format("{} calls; {}", calls.load(), best ? "started" : best.error().message());
  });
  EXPECT_EQ(answer.text, "0 calls; cannot start 63 threads: Resource temporarily unavailable");
}

TEST(Team, there_is_a_processor) {
  EXPECT_GE(allowed_processors().size(), 1U);
  EXPECT_GE(usable_processors(), 1U);
}

}  // namespace team_test
}  // namespace trainscope
