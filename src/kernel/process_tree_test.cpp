#include "kernel/process_tree.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace {

const std::string kNumbers = " S 1 100 100 0 -1 4194304 7 8 1 2 5 6 3 4 20 0 9 0 1000 1000000 500";

TEST(ProcessStat, name_may_contain_anything) {
  for (const char* name : {"job", "", ")", "a) Z 7 (b", "two words", "\n"}) {
    ProcessStat stat;
    ASSERT_TRUE(parse_stat("100 (" + std::string(name) + ")" + kNumbers, stat)) << name;
    EXPECT_EQ(stat.state, 'S');
    EXPECT_EQ(stat.parent, 1);
    EXPECT_EQ(stat.minor_faults, 7);
    EXPECT_EQ(stat.child_major_faults, 2);
    EXPECT_EQ(stat.user_ticks, 5);
    EXPECT_EQ(stat.child_system_ticks, 4);
    EXPECT_EQ(stat.threads, 9);
    EXPECT_EQ(stat.start_ticks, 1000);
    EXPECT_EQ(stat.resident_pages, 500);
  }
}

TEST(ProcessStat, torn_text_is_refused) {
  const std::string whole = "100 (job)" + kNumbers;
  ProcessStat stat;
  for (size_t size = 0; size < whole.rfind(' '); ++size) {
    EXPECT_FALSE(parse_stat(whole.substr(0, size), stat)) << size;
  }
}

TEST(ProcessStat, impossible_numbers_are_refused) {
  ProcessStat stat;
  EXPECT_FALSE(parse_stat("1 (a) S 1 1 1 0 -1 0 7 8 1 2 999999999999 6 3 4 20 0 9 0 1 1 1", stat));
  EXPECT_FALSE(
      parse_stat("1 (a) S 1 1 1 0 -1 0 9223372036854775807 8 1 2 5 6 3 4 20 0 9 0 1 1 1", stat));
}

}  // namespace
}  // namespace trainscope
