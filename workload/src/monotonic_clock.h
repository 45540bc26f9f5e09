// The one clock of everything the workload writes: CLOCK_MONOTONIC in seconds, so that its times
// stand on the same axis as a recording of the machine.
#pragma once

#include <ctime>

namespace trainscope::workload {

inline double monotonic_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace trainscope::workload
