// Notices that the wall clock was set or that the machine slept, of which CLOCK_MONOTONIC, the
// run's own time, knows nothing.
//
// Guarantees: a step or a sleep is told once, with its length, and as itself when both happened.
// Limits: what is shorter than 0.1 s between two looks counts as the clock being slewed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainscope {

struct ClockReading {
  int64_t monotonic_ns = 0, realtime_ns = 0, boottime_ns = 0;
  static ClockReading now();
};

struct ClockEvent {
  std::string kind;  // suspend, clock
  std::string text;
};

class ClockWatch {
 public:
  explicit ClockWatch(const ClockReading& first);
  // What happened to the clocks since the last look.
  std::vector<ClockEvent> look(const ClockReading& now);

 private:
  int64_t wall_offset_ns_, boot_offset_ns_;  // ahead of the monotonic clock by so much
};

// A descriptor that becomes readable when somebody sets the wall clock, or the machine wakes up; -1
// where the kernel does not tell. take_clock_change() makes it ready for the next time.
int watch_clock_changes();
void take_clock_change(int fd);

}  // namespace trainscope
