#include "cli/patience.h"

#include <gtest/gtest.h>

namespace trainscope {

namespace patience_test {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(Patience, work_that_is_done_in_time_is_not_noticed) {
  const auto no_notice = [] { FAIL() << "an hour has not passed"; };
  EXPECT_EQ(work_patiently<int>([] { return 3; }, hours(1), no_notice), 3);
}

TEST(Patience, work_that_takes_longer_is_noticed_and_awaited) {
  std::promise<void> noticed;
  const auto work = [&] {
    noticed.get_future().wait();
    return 5;
  };
  EXPECT_EQ(work_patiently<int>(work, milliseconds(1), [&] { noticed.set_value(); }), 5);
}

}  // namespace patience_test

}  // namespace trainscope
