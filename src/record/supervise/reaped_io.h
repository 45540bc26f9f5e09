// What an ended child has read and written, from by how much reaping it raises our own numbers:
// those of the child itself (/proc/PID/io) newer kernels show to root alone once it has ended.
//
// Guarantees: exact, with everything that the child's own reaped children did. Limits: nothing else
// may be read or written meanwhile, so one thread, without signal handlers.
#pragma once

#include <functional>

#include "collect/collect.h"

namespace trainscope {

// Calls `reap` and returns its answer; if it is true, adds to `sum` what the child did. A kernel
// that does not count I/O adds nothing.
bool reap_with_io(const std::function<bool()>& reap, Reaped& sum);

}  // namespace trainscope
