#include "store/home/run_argument.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace run_argument_test {

TEST(RunArgument, a_number_after_a_tilde_counts_back) {
  const RunsByName plain = parse_runs_by_name("resnet");
  EXPECT_EQ(plain.name, "resnet");
  EXPECT_FALSE(plain.counts_back);
  const RunsByName before = parse_runs_by_name("resnet~12");
  EXPECT_EQ(before.name, "resnet");
  EXPECT_TRUE(before.counts_back);
  EXPECT_EQ(before.back, 12U);
  for (const char* name : {"resnet~", "resnet~a", "resnet~-1", "a~1b"}) {
    const RunsByName other = parse_runs_by_name(name);
    EXPECT_EQ(other.name, name);
    EXPECT_FALSE(other.counts_back) << name;
  }
}

TEST(RunArgument, wildcards_match_whole_names) {
  const RunsByName some = parse_runs_by_name("res*");
  EXPECT_TRUE(some.is_pattern);
  EXPECT_TRUE(is_meant(some, "res"));
  EXPECT_TRUE(is_meant(some, "resnet 50"));
  EXPECT_FALSE(is_meant(some, "a res"));
  EXPECT_TRUE(is_meant(parse_runs_by_name("run?"), "run7"));
  EXPECT_FALSE(is_meant(parse_runs_by_name("run?"), "run17"));
  EXPECT_TRUE(is_meant(parse_runs_by_name("run[12]~1"), "run2"));
  EXPECT_FALSE(is_meant(parse_runs_by_name("run"), "run2"));
}

TEST(RunArgument, a_run_without_a_name_is_not_meant) {
  EXPECT_FALSE(is_meant(parse_runs_by_name("*"), ""));
  EXPECT_FALSE(is_meant(parse_runs_by_name(""), ""));
}

}  // namespace run_argument_test
}  // namespace trainscope
