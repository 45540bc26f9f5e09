#include "training/training.h"

#include <gtest/gtest.h>

#include "testing/listed_reports.h"

namespace trainscope {
namespace training_test {

TEST(StoredReport, a_stored_line_is_read_back_unchanged) {
  const auto report = parse_report("step 5 loss=0.5");
  EXPECT_EQ(format_stored_report(1500, "pipe", *report), "1500 pipe step 5 loss=0.5\n");
  const auto back = parse_stored_report("1500 pipe step 5 loss=0.5");
  ASSERT_TRUE(back);
  EXPECT_DOUBLE_EQ(back->time_s, 1.5e-6);
  EXPECT_EQ(back->source, "pipe");
  EXPECT_FALSE(parse_stored_report("1500 pipe"));
  EXPECT_FALSE(parse_stored_report("soon pipe step 1"));
}

}  // namespace training_test
}  // namespace trainscope
