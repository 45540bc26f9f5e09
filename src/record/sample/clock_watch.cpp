#include "record/sample/clock_watch.h"

#include <fmt/format.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cmath>

#include "base/clock.h"

namespace trainscope {

namespace {

constexpr int64_t kClockStep = 100'000'000;

// An alarm that never goes off: only its being cancelled matters.
void arm(int fd) {
  itimerspec never{};
  never.it_value.tv_sec = INT64_MAX / kNsPerSecond;
  ::timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, nullptr);
}

}  // namespace

ClockReading ClockReading::now() { return read(clock_ns); }

ClockReading ClockReading::read(int64_t (*clock)(clockid_t)) {
  constexpr int kAttempts = 10;
  constexpr int64_t kMoment = kNsPerMs / 10;
  ClockReading reading;
  for (int i = 0; i < kAttempts; ++i) {
    reading.monotonic_ns = clock(CLOCK_MONOTONIC);
    reading.realtime_ns = clock(CLOCK_REALTIME);
    reading.boottime_ns = clock(CLOCK_BOOTTIME);
    if (clock(CLOCK_MONOTONIC) - reading.monotonic_ns < kMoment) break;
  }
  return reading;
}

ClockWatch::ClockWatch(const ClockReading& first)
    : wall_offset_ns_(first.realtime_ns - first.monotonic_ns),
      boot_offset_ns_(first.boottime_ns - first.monotonic_ns) {}

std::vector<ClockEvent> ClockWatch::look(const ClockReading& now) {
  const int64_t wall = now.realtime_ns - now.monotonic_ns;
  const int64_t boot = now.boottime_ns - now.monotonic_ns;
  // While the machine is suspended, the wall clock and the clock since boot continue.
  const int64_t slept = boot - boot_offset_ns_, stepped = wall - wall_offset_ns_ - slept;
  std::vector<ClockEvent> events;
  if (slept > kClockStep) {
    events.push_back({"suspend", fmt::format("the machine slept for {:.1f} s", to_seconds(slept))});
  }
  if (std::abs(stepped) > kClockStep) {
    events.push_back(
        {"clock", fmt::format("the wall clock was set by {:+.3f} s", to_seconds(stepped))});
  }
  wall_offset_ns_ = wall;
  boot_offset_ns_ = boot;
  return events;
}

int watch_clock_changes() {
  const int fd = ::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (fd >= 0) arm(fd);
  return fd;
}

void take_clock_change(int fd) {
  uint64_t ignored = 0;
  (void)!::read(fd, &ignored, sizeof ignored);  // ECANCELED
  arm(fd);
}

}  // namespace trainscope
