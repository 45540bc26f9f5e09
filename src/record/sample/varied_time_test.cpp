#include "record/sample/varied_time.h"

#include <gtest/gtest.h>

#include <array>

namespace trainscope {
namespace varied_time_test {

constexpr int64_t kPeriodNs = 1'000'000'000;

TEST(VariedTime, readings_are_about_a_period_apart_and_each_in_its_own) {
  std::minstd_rand random(1);
  int64_t last_ns = 0;
  for (int i = 0; i < 10'000; ++i) {
    const int64_t next_ns = varied_time_ns(last_ns, kPeriodNs, random);
    ASSERT_GE(next_ns - last_ns, kPeriodNs / 10 * 7);
    ASSERT_LE(next_ns - last_ns, kPeriodNs / 10 * 13);
    ASSERT_EQ(next_ns / kPeriodNs, last_ns / kPeriodNs + 1);
    last_ns = next_ns;
  }
}

// A job whose steps take as long as a period, or a part of it, is seen in every part of a step.
TEST(VariedTime, every_part_of_a_step_is_seen) {
  for (const int64_t step_ns : {kPeriodNs, kPeriodNs / 2, kPeriodNs / 10}) {
    std::minstd_rand random(1);
    std::array<int, 10> seen{};
    int64_t time_ns = 0;
    for (int i = 0; i < 10'000; ++i) {
      time_ns = varied_time_ns(time_ns, kPeriodNs, random);
      ++seen[static_cast<size_t>(time_ns % step_ns * 10 / step_ns)];
    }
    for (const int count : seen) EXPECT_NEAR(count, 1000, 300) << step_ns;
  }
}

}  // namespace varied_time_test
}  // namespace trainscope
