#include "collect/support/threads/role_time.h"

#include <algorithm>

namespace trainscope {

void RoleTime::begin(const ThreadReading& reading) {
  last = reading;
  unsplit_ns = 0;
  was_held = 1;
}

void RoleTime::advance(const ThreadReading& reading) {
  // A thread that calls execve becomes the first one of its process and brings its own counts.
  const int64_t ran = std::max<int64_t>(0, reading.times.run_ns - last.times.run_ns);
  const int64_t waited = std::max<int64_t>(0, reading.times.wait_ns - last.times.wait_ns);
  const int64_t passed = std::max<int64_t>(0, reading.now_ns - last.now_ns);
  running_ns += ran;
  runnable_ns += waited;
  exact_blocked_ns += passed - ran - waited;
  const int64_t more = std::max<int64_t>(0, exact_blocked_ns - blocked_ns);
  blocked_ns += more;
  unsplit_ns += more;
  delay_ticks += std::max<int64_t>(0, reading.delay_ticks - last.delay_ticks);
  last = reading;
}

void RoleTime::split(char state) {
  if (state == 'R' || state == 'Z' || state == 'X') return;
  (state == 'D' ? disk_ns : other_ns) += unsplit_ns;
  unsplit_ns = 0;
}

}  // namespace trainscope
