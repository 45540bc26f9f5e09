#include "base/interrupted.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>

#include "base/fd.h"

namespace trainscope {
namespace interrupted_test {

volatile sig_atomic_t signals = 0;

// A signal every few milliseconds, whose handler does nothing but count and restarts no call.
class InterruptedTest : public testing::Test {
 protected:
  InterruptedTest() {
    signals = 0;
    struct sigaction counts {};
    counts.sa_handler = [](int) { signals = signals + 1; };
    ::sigaction(SIGALRM, &counts, &before_);
    const itimerval often{{0, 5000}, {0, 5000}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~InterruptedTest() override {
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
};

TEST_F(InterruptedTest, a_poll_lasts_its_whole_time) {
  const auto pipe = make_pipe(O_NONBLOCK);
  ASSERT_TRUE(pipe);
  pollfd readable = {pipe->read.get(), POLLIN, 0};
  const int64_t begin_ns = monotonic_ns();
  EXPECT_EQ(poll_whole({&readable, 1}, 100 * kNsPerMs), 0);
  EXPECT_GE(monotonic_ns() - begin_ns, 100 * kNsPerMs);
  EXPECT_GT(signals, 0);
}

TEST_F(InterruptedTest, a_poll_ends_when_something_is_there) {
  const auto pipe = make_pipe(O_NONBLOCK);
  ASSERT_TRUE(pipe);
  ASSERT_EQ(::write(pipe->write.get(), "x", 1), 1);
  pollfd readable = {pipe->read.get(), POLLIN, 0};
  EXPECT_EQ(poll_whole({&readable, 1}, -1), 1);
  EXPECT_EQ(readable.revents, POLLIN);
  EXPECT_EQ(poll_whole({&readable, 1}, 0), 1);
}

TEST(Interrupted, a_call_is_made_again_for_an_interruption_only) {
  constexpr std::array kErrors = {EINTR, EINTR, EAGAIN, EINTR};
  size_t calls = 0;
  const auto fail = [&] {
    errno = kErrors.at(calls++);
    return -1;
  };
  EXPECT_EQ(retry_interrupted(fail), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(calls, 3U);
  EXPECT_EQ(retry_interrupted([&] { return calls == 3 ? fail() : 7; }), 7);
}

}  // namespace interrupted_test
}  // namespace trainscope
