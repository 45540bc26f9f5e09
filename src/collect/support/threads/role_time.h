// The time of one role of the job ("main", "worker0") over all threads that held it in turn.
//
// Guarantees: the counters never decrease; running + runnable + blocked is the time for which the
// role had a holder, but for one wait for a CPU: such a wait counts as blocked until it is over,
// and as runnable afterwards. Plain numbers, so that a restarted recorder continues with them.
#pragma once

#include <cstdint>

#include "kernel/schedstat.h"

namespace trainscope {

// One reading of a thread.
struct ThreadReading {
  int64_t now_ns = 0;
  ThreadTimes times;
  int64_t delay_ticks = 0;
};

struct RoleTime {
  int64_t running_ns = 0, runnable_ns = 0, blocked_ns = 0;
  // Parts of the blocked time, by the states in which the thread was seen.
  int64_t disk_ns = 0, other_ns = 0;
  int64_t delay_ticks = 0;  // waits for block devices

  int64_t exact_blocked_ns = 0;      // lower than blocked_ns after a long wait for a CPU
  int64_t unsplit_ns = 0;            // blocked time since the thread was last seen blocked
  ThreadReading last;                // of the holder; its now_ns stays after the holder has ended
  int64_t pid = 0, start_ticks = 0;  // the holder, if it is a process; 0: none
  int64_t was_held = 0;

  // A thread takes the role; what it does after this reading counts.
  void begin(const ThreadReading& reading);
  // Adds what the holder did since the last reading.
  void advance(const ThreadReading& reading);
  // The holder was in this state at its last reading. If it was not blocked, that reading shows
  // nothing about what blocks it: the time waits for the next one that does.
  void split(char state);
};

}  // namespace trainscope
