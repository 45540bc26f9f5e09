#include "web/live.h"

#include <gtest/gtest.h>

#include "web/opened_runs.h"
#include "web/turns.h"

namespace trainscope {
namespace live_test {

TEST(WebLive, following_a_run_takes_at_most_a_twentieth_of_a_core) {
  constexpr int64_t kSecond = 1'000'000'000;
  EXPECT_EQ(pause_after_reading_ns(0), kSecond);
  EXPECT_EQ(pause_after_reading_ns(kSecond / 20), kSecond);
  EXPECT_EQ(pause_after_reading_ns(kSecond), 19 * kSecond);
}

TEST(WebLive, requests_for_one_run_share_their_turns) {
  TurnsByName turns;
  const auto first = turns.of("a");
  ++first->reading;
  EXPECT_EQ(turns.of("a")->reading, 1U);
  EXPECT_EQ(turns.of("b")->reading, 0U);
}

TEST(WebLive, turns_that_nobody_holds_begin_anew) {
  TurnsByName turns;
  ++turns.of("a")->waiting;
  EXPECT_EQ(turns.of("a")->waiting, 0U);
}

}  // namespace live_test
}  // namespace trainscope
