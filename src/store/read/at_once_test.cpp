#include "store/read/at_once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace trainscope {
namespace at_once_test {

TEST(AtOnce, every_part_is_done_once) {
  for (const size_t count : {0U, 1U, 7U, 100U}) {
    std::vector<std::atomic<int>> done(count);
    ASSERT_TRUE(for_each_at_once(count, [&](size_t k) -> Status {
      ++done[k];
      return {};
    }));
    for (const std::atomic<int>& each : done) EXPECT_EQ(each, 1);
  }
}

TEST(AtOnce, an_error_of_a_part_is_the_answer) {
  const Status failed = for_each_at_once(20, [](size_t k) -> Status {
    if (k == 13) return Error("part 13");
    return {};
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message(), "part 13");
}

TEST(AtOnce, an_exception_reaches_the_caller) {
  const auto fail = [](size_t) -> Status { throw std::runtime_error("no memory"); };
  EXPECT_THROW((void)for_each_at_once(4, fail), std::runtime_error);
}

}  // namespace at_once_test
}  // namespace trainscope
