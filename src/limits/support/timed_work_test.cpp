#include "limits/support/timed_work.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/bounded_child.h"
#include "base/clock.h"

namespace trainscope {
namespace timed_work_test {

constexpr int64_t kLong = 600 * kNsPerSecond;

TEST(TimedWork, ends_when_every_thread_has_done_its_part) {
  HeldSignals signals;
  const TimedWork work = repeat_for(signals, 3, kLong, [](size_t thread, int64_t turn) {
    return turn == static_cast<int64_t>(thread) + 5 ? kAllDone : kContinue;
  });
  EXPECT_EQ(work.operations, 5 + 6 + 7);
  EXPECT_TRUE(work.status);
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
  ASSERT_FALSE(work.status);
  EXPECT_EQ(work.status.error().error_number(), EIO);
  EXPECT_EQ(work.operations, 4);
}

TEST(TimedWork, a_signal_ends_the_process_although_an_operation_hangs) {
  ChildLimits limits;
  limits.idle_ns = limits.total_ns = 60 * kNsPerSecond;
  const ChildAnswer answer = ask_child(limits, []() -> std::string {
    HeldSignals signals;
    (void)repeat_for(signals, 1, kLong, [](size_t, int64_t) -> int {
      ::kill(::getpid(), SIGTERM);
      for (;;) ::pause();
    });
    return "it went on";
  });
  EXPECT_EQ(answer.end, ChildEnd::interrupted) << answer.text;
}

}  // namespace timed_work_test
}  // namespace trainscope
