#include "format/output_times.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace output_times_test {

constexpr int64_t kPause = 100'000'000;

TEST(OutputTimes, what_is_written_is_read) {
  std::string bytes;
  append_output_time(bytes, 7'000'000'000'123, 0);
  append_output_time(bytes, 7'000'200'000'000, (size_t{16} << 20) - 1);
  ASSERT_EQ(bytes.size(), 2 * kOutputTimeBytes);
  const auto found = parse_output_times(bytes + "torn");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].time_ns, 7'000'000'000'123);
  EXPECT_EQ(found[0].within_ns, kPause);
  EXPECT_EQ(found[1].offset, (size_t{16} << 20) - 1);
  EXPECT_EQ(output_times_name("output.1.log"), "output.1.times");
}

TEST(OutputTimes, the_pause_doubles_with_their_number) {
  EXPECT_EQ(output_pause_ns(32767), kPause);
  EXPECT_EQ(output_pause_ns(32768), 2 * kPause);
  EXPECT_EQ(output_pause_ns(5 * 32768), 32 * kPause);
  EXPECT_GT(output_pause_ns(SIZE_MAX), 0);
}

TEST(OutputTimes, a_damaged_one_makes_the_one_before_less_exact) {
  std::string first, second, third;
  append_output_time(first, 10, 0);
  append_output_time(second, 20, 100);
  append_output_time(third, 5'000'000'000, 200);
  second[9] ^= 1;
  auto found = parse_output_times(first + second + third);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].within_ns, 5'000'000'000 - 10);
  EXPECT_EQ(found[1].within_ns, kPause);
  found = parse_output_times(first + std::string(kOutputTimeBytes, '\0'));  // a power loss
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].within_ns, kUnknownPause);
  found = parse_output_times(third + first);  // a time that goes back is none
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].offset, 200U);
  std::string never;
  append_output_time(never, -1, 0);
  EXPECT_TRUE(parse_output_times(never).empty());
  EXPECT_TRUE(parse_output_times("").empty());
}

}  // namespace output_times_test
}  // namespace trainscope
