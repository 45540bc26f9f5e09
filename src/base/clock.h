// The clocks of Linux in nanoseconds. MONOTONIC orders everything; the others only anchor it.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>

namespace trainscope {

inline constexpr int64_t kNsPerSecond = 1'000'000'000;
inline constexpr int64_t kNsPerMs = 1'000'000;

inline int64_t clock_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<int64_t>(t.tv_sec) * kNsPerSecond + t.tv_nsec;
}

inline int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
inline int64_t realtime_ns() { return clock_ns(CLOCK_REALTIME); }
inline int64_t boottime_ns() { return clock_ns(CLOCK_BOOTTIME); }
// CPU time of the calling thread.
inline int64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

inline timespec to_timespec(int64_t ns) {
  return timespec{static_cast<time_t>(ns / kNsPerSecond), static_cast<long>(ns % kNsPerSecond)};
}

inline double to_seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

// CPU time of a whole process by the scheduler's clock, in ns; -1 if it does not exist or access is
// refused.
int64_t process_cpu_ns(pid_t pid);

// 2026-11-15T09:30:00.123Z
std::string utc_text(int64_t realtime_ns);
// 1763199000123456789 from the text above; -1 when it is not such a text.
int64_t utc_from_text(const std::string& text);

}  // namespace trainscope
