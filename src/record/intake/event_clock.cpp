#include "record/intake/event_clock.h"

#include <algorithm>
#include <utility>

namespace trainscope {

namespace {

// A writer that buffers events writes those of several seconds together.
constexpr int64_t kMostAhead = 5 * kNsPerSecond;

}  // namespace

std::vector<int64_t> EventClock::place(std::span<const int64_t> dates_ns, int64_t now_ns) {
  std::vector<int64_t> times;
  for (size_t i = 0; i < dates_ns.size(); ++i) {
    const int64_t time_ns = dates_ns[i] + shift_ns_;
    const bool is_in_place = time_ns >= newest_ns_ - kEventClockToleranceNs &&
                             time_ns <= now_ns + kEventClockToleranceNs;
    if (!is_in_place) {
      // Events up to the next time that the clock was set back are on the same clock.
      int64_t last_ns = dates_ns[i];
      for (size_t j = i + 1; j < dates_ns.size() && dates_ns[j] >= last_ns - kEventClockToleranceNs;
           ++j) {
        last_ns = std::max(last_ns, dates_ns[j]);
      }
      set(last_ns, now_ns);
    }
    const int64_t earliest_ns = is_in_place ? 0 : newest_ns_;
    const int64_t placed_ns = std::max(earliest_ns, dates_ns[i] + shift_ns_);
    newest_ns_ = std::max(newest_ns_, placed_ns);
    times.push_back(placed_ns);
  }
  return times;
}

bool LiveWriter::is_live(int64_t newest_date_ns, int64_t now_ns) {
  const int64_t passed_ns = now_ns - seen_ns_, dated_ns = newest_date_ns - date_ns_;
  const bool had_seen = std::exchange(has_seen_, true);
  seen_ns_ = now_ns;
  date_ns_ = newest_date_ns;
  return had_seen && passed_ns > 0 && dated_ns >= 0 && dated_ns <= 2 * passed_ns + kMostAhead;
}

}  // namespace trainscope
