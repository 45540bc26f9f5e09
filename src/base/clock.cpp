#include "base/clock.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

namespace trainscope {

int64_t process_cpu_ns(pid_t pid) {
  // The kernel's encoding of "the scheduler clock of that process" (clock_getcpuclockid without its
  // probing call, which doubles the cost).
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2U);
  timespec t{};
  if (clock_gettime(clock, &t) != 0) return -1;
  return static_cast<int64_t>(t.tv_sec) * kNsPerSecond + t.tv_nsec;
}

std::string utc_text(int64_t realtime_ns) {
  const time_t seconds = realtime_ns / kNsPerSecond;
  tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     (realtime_ns / 1'000'000) % 1000);
}

int64_t utc_from_text(const std::string& text) {
  tm parts{};
  double seconds = 0;
  char zone = 0;
  const int fields =
      std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%lf%c", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &seconds, &zone);
  if (fields != 7 || zone != 'Z') return -1;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  const auto whole = static_cast<int64_t>(timegm(&parts));
  return whole * kNsPerSecond + std::llround(seconds * 1e9);
}

}  // namespace trainscope
