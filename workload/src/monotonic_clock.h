// The one clock of everything the workload writes: CLOCK_MONOTONIC in seconds, so that its times
// stand on the same axis as a recording of the machine.
#pragma once

#include "base/clock.h"

namespace trainscope::workload {

inline double monotonic_s() { return to_seconds(monotonic_ns()); }

}  // namespace trainscope::workload
