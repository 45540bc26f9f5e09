#include "record/sample/clock_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

namespace trainscope {
namespace clock_watch_test {

constexpr int64_t kSecond = 1'000'000'000, kDay = 86'400 * kSecond;
constexpr ClockReading kFirst{500 * kSecond, 1'700'000'000 * kSecond, 800 * kSecond};

// The clocks after `passed` on the monotonic one.
ClockReading after(int64_t passed, int64_t slept = 0, int64_t stepped = 0) {
  return {kFirst.monotonic_ns + passed, kFirst.realtime_ns + passed + slept + stepped,
          kFirst.boottime_ns + passed + slept};
}

std::vector<std::string> texts(const std::vector<ClockEvent>& events) {
  std::vector<std::string> all;
  for (const ClockEvent& event : events) all.push_back(event.kind + ": " + event.text);
  return all;
}

using Texts = std::vector<std::string>;

TEST(ClockWatch, tells_a_step_of_the_wall_clock_once_whichever_way_it_went) {
  for (const auto& [step, text] :
       {std::pair{kDay, "clock: the wall clock was set by +86400.000 s"},
        std::pair{-kDay, "clock: the wall clock was set by -86400.000 s"}}) {
    ClockWatch watch(kFirst);
    EXPECT_EQ(texts(watch.look(after(kSecond))), Texts{});
    EXPECT_EQ(texts(watch.look(after(2 * kSecond, 0, step))), Texts{text});
    EXPECT_EQ(texts(watch.look(after(3 * kSecond, 0, step))), Texts{});
  }
}

TEST(ClockWatch, a_sleep_is_no_step_of_the_wall_clock) {
  ClockWatch watch(kFirst);
  EXPECT_EQ(texts(watch.look(after(kSecond, 3600 * kSecond))),
            Texts{"suspend: the machine slept for 3600.0 s"});
  EXPECT_EQ(texts(watch.look(after(2 * kSecond, 3600 * kSecond))), Texts{});
}

TEST(ClockWatch, a_clock_that_was_set_during_the_sleep_is_told_beside_it) {
  ClockWatch watch(kFirst);
  EXPECT_EQ(texts(watch.look(after(kSecond, 60 * kSecond, -5 * kSecond))),
            (Texts{"suspend: the machine slept for 60.0 s",
                   "clock: the wall clock was set by -5.000 s"}));
}

// NTP moves the clock by at most half a millisecond a second.
TEST(ClockWatch, slewing_is_no_event) {
  ClockWatch watch(kFirst);
  for (int64_t second = 1; second < 1000; ++second) {
    EXPECT_EQ(texts(watch.look(after(second * kSecond, 0, second * kSecond / 2000))), Texts{});
  }
}

int calls_of_the_clock = 0;

// Whoever asks is stopped for five seconds after the first call.
int64_t clock_with_a_stop(clockid_t clock) {
  const int64_t passed = 100 * calls_of_the_clock + (calls_of_the_clock > 0 ? 5 * kSecond : 0);
  ++calls_of_the_clock;
  const ClockReading now = after(passed);
  if (clock == CLOCK_MONOTONIC) return now.monotonic_ns;
  return clock == CLOCK_REALTIME ? now.realtime_ns : now.boottime_ns;
}

TEST(ClockWatch, a_stop_while_the_clocks_are_read_is_no_event) {
  calls_of_the_clock = 0;
  ClockWatch watch(kFirst);
  EXPECT_EQ(texts(watch.look(ClockReading::read(clock_with_a_stop))), Texts{});
  EXPECT_EQ(calls_of_the_clock, 8);
}

TEST(ClockWatch, the_real_clocks_go_on_without_events) {
  ClockWatch watch(ClockReading::now());
  EXPECT_EQ(texts(watch.look(ClockReading::now())), Texts{});
}

TEST(ClockWatch, nobody_sets_the_clock_and_the_descriptor_is_quiet) {
  const int fd = watch_clock_changes();
  ASSERT_GE(fd, 0);
  pollfd ready = {fd, POLLIN, 0};
  EXPECT_EQ(::poll(&ready, 1, 0), 0);
  take_clock_change(fd);
  EXPECT_EQ(::poll(&ready, 1, 0), 0);
  ::close(fd);
}

}  // namespace clock_watch_test
}  // namespace trainscope
