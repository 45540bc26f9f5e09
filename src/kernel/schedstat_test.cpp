#include "kernel/schedstat.h"

#include <gtest/gtest.h>

namespace trainscope {

namespace schedstat_test {

TEST(Schedstat, is_three_numbers) {
  ThreadTimes times;
  ASSERT_TRUE(parse_schedstat("348236 1713824 1\n", times));
  EXPECT_EQ(times.run_ns, 348236);
  EXPECT_EQ(times.wait_ns, 1713824);
}

TEST(Schedstat, leaves_the_times_alone_when_torn) {
  ThreadTimes times{7, 8};
  for (const char* text :
       {"", "1", "1 2", "1 x 3", "-1 2 3", "99999999999999999999 1 1", "1 200000000000000000 1"}) {
    EXPECT_FALSE(parse_schedstat(text, times)) << text;
  }
  EXPECT_EQ(times.run_ns, 7);
  EXPECT_EQ(times.wait_ns, 8);
}

TEST(Schedstat, a_wait_for_a_cpu_never_gets_shorter) {
  const int64_t before = thread_wait_ns();
  EXPECT_GE(before, 0);
  EXPECT_GE(thread_wait_ns(), before);
}

TEST(Schedstat, field_42_of_a_stat_is_the_block_delay) {
  const std::string stat =
      "7 (a) b (c) S 1 7 7 0 -1 0 1 0 0 0 5 6 0 0 20 0 1 0 900 1000 500 18446744073709551615 1 1 0 "
      "0 0 0 0 0 0 0 0 0 17 3 0 0 42 0 0 0 0 0 0 0 0 0 0\n";
  EXPECT_EQ(block_delay_ticks(stat), 42);
  EXPECT_EQ(thread_name(stat), "a) b (c");
  EXPECT_EQ(block_delay_ticks("7 (a) S 1 7 7 0 -1 0 1 0 0 0 5 6 0 0 20 0 1 0 900 1000 500 1\n"),
            std::nullopt);
  EXPECT_EQ(block_delay_ticks(""), std::nullopt);
  EXPECT_EQ(thread_name(")("), "");
}

}  // namespace schedstat_test

}  // namespace trainscope
