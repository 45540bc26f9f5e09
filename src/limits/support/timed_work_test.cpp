#include "limits/support/timed_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>

#include "base/clock.h"

namespace trainscope {
namespace {

constexpr int64_t kLong = 600 * kNsPerSecond;

TEST(TimedWork, ends_when_every_thread_has_done_its_part) {
  HeldSignals signals;
  const TimedWork work = repeat_for(signals, 3, kLong, [](size_t thread, int64_t turn) {
    return turn == static_cast<int64_t>(thread) + 5 ? kAllDone : kContinue;
  });
  EXPECT_EQ(work.operations, 5 + 6 + 7);
  EXPECT_EQ(work.error, 0);
  EXPECT_GT(work.seconds, 0);
}

TEST(TimedWork, ends_in_time) {
  HeldSignals signals;
  std::atomic<int64_t> calls{0};
  const TimedWork work = repeat_for(signals, 2, 10 * kNsPerMs, [&](size_t, int64_t) {
    ++calls;
    return kContinue;
  });
  EXPECT_EQ(work.operations, calls);
  EXPECT_GE(work.seconds, 0.01);
}

TEST(TimedWork, an_operation_that_fails_is_reported_and_not_counted) {
  HeldSignals signals;
  const TimedWork work = repeat_for(
      signals, 1, kLong, [](size_t, int64_t turn) { return turn == 4 ? EIO : kContinue; });
  EXPECT_EQ(work.error, EIO);
  EXPECT_EQ(work.operations, 4);
}

}  // namespace
}  // namespace trainscope
