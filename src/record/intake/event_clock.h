// When the events of one file happened, in the time of the run.
//
// Events have timestamps of their writer's wall clock. That clock may be set during the run, or be
// another host's. Guarantees: intervals between events are the writer's own; no event is placed
// more than a second after the time at which it was read, or before t = 0. Limits: if the writer
// uses another clock, the newest event of a read is assumed to have happened at that read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"

namespace trainscope {

// Tolerance between a writer's clock, or the file system's, and ours. Writers with several threads
// are slightly out of order, and our own clocks are not read at the same instant.
inline constexpr int64_t kEventClockToleranceNs = kNsPerSecond;

class EventClock {
 public:
  EventClock() = default;
  explicit EventClock(int64_t shift_ns) : shift_ns_(shift_ns) {}

  // From dates (since t = 0 by our own wall clock) in the order of the file to times of the run;
  // `now_ns` is when they were read.
  std::vector<int64_t> place(std::span<const int64_t> dates_ns, int64_t now_ns);
  // The writer's clock shows `date_ns` at `now_ns`.
  void set(int64_t date_ns, int64_t now_ns) { shift_ns_ = now_ns - date_ns; }

  // Offset added to a timestamp; 0: the writer uses this host's clock.
  int64_t shift_ns() const { return shift_ns_; }

 private:
  int64_t shift_ns_ = 0;
  int64_t newest_ns_ = 0;  // time of the run
};

// Is a file being written while we look, though its dates are not of this run? One that is copied
// comes at once or faster than time passes.
class LiveWriter {
 public:
  // Events were appended, the newest with this date.
  bool is_live(int64_t newest_date_ns, int64_t now_ns);
  bool has_seen_events() const { return has_seen_; }

 private:
  bool has_seen_ = false;
  int64_t date_ns_ = 0, seen_ns_ = 0;
};

}  // namespace trainscope
