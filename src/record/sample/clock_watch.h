// Detects that the wall clock was set or that the machine was suspended, which CLOCK_MONOTONIC, the
// time of the run, does not show.
//
// Guarantees: a clock change or a suspension is reported once, with its length, and separately if
// both happened. Limits: changes of less than 0.1 s between two checks count as slewing of the
// clock.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trainscope {

struct ClockReading {
  int64_t monotonic_ns = 0, realtime_ns = 0, boottime_ns = 0;
  static ClockReading now();
  // All of one moment, as far as possible: a stop between two clocks would look as if one was set.
  static ClockReading read(int64_t (*clock)(clockid_t));
};

struct ClockEvent {
  std::string kind;  // suspend, clock
  std::string text;
};

class ClockWatch {
 public:
  explicit ClockWatch(const ClockReading& first);
  // Changes of the clocks since the last check.
  std::vector<ClockEvent> look(const ClockReading& now);

 private:
  int64_t wall_offset_ns_, boot_offset_ns_;  // ahead of the monotonic clock by so much
};

// A descriptor that becomes readable when the wall clock is set or the machine resumes; -1 if the
// kernel does not support it. take_clock_change() rearms it.
int watch_clock_changes();
void take_clock_change(int fd);

}  // namespace trainscope
