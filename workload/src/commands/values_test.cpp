#include "commands/values.h"

#include <gtest/gtest.h>

namespace trainscope::workload {
namespace {

TEST(ParseDuration, units) {
  EXPECT_EQ(parse_duration_s("20"), 20.0);
  EXPECT_EQ(parse_duration_s("20s"), 20.0);
  EXPECT_EQ(parse_duration_s("500ms"), 0.5);
  EXPECT_EQ(parse_duration_s("2m"), 120.0);
  EXPECT_EQ(parse_duration_s("1.5h"), 5400.0);
}

TEST(ParseDuration, refuses_what_is_no_positive_time) {
  for (const char* text :
       {"", "s", "ms", "-1", "0", "0s", "nan", "inf", "1e9h", "2 m", "5x", "1s2"}) {
    EXPECT_FALSE(parse_duration_s(text)) << text;
  }
}

TEST(ParseDevice, knows_cpu_and_cuda) {
  EXPECT_FALSE(parse_device("cpu")->cuda);
  EXPECT_EQ(parse_device("cuda")->index, 0);
  EXPECT_EQ(parse_device("cuda:3")->index, 3);
  for (const char* text : {"", "CPU", "cuda:", "cuda:-1", "cuda:x", "cuda:128", "cuda0", "cpu:0"}) {
    EXPECT_FALSE(parse_device(text)) << text;
  }
}

TEST(ParseInjectedDelay, knows_slow_and_stall) {
  EXPECT_EQ(parse_injected_delay("none")->every, 0U);
  EXPECT_EQ(parse_injected_delay("slow:20ms")->every, 1U);
  EXPECT_DOUBLE_EQ(parse_injected_delay("slow:20ms")->delay_s, 0.02);
  for (const char* text : {"", "slow", "slow:", "slow:0", "stall:7", "stall:0x1s", "stall:x1s",
                           "stall:7x", "stall:-1x1s", "fast:1s"}) {
    EXPECT_FALSE(parse_injected_delay(text)) << text;
  }
  const InjectedDelay delay{7, 0.2};
  EXPECT_EQ(delay.before_step(6), 0.0);
  EXPECT_EQ(delay.before_step(14), 0.2);
}

}  // namespace
}  // namespace trainscope::workload
