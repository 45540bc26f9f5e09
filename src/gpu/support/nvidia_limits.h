// What an NVIDIA GPU gives at most: copies between it and the host, and launches.
#pragma once

#include <cstdint>

#include "model/limits.h"

namespace trainscope {

// Of the first GPU; each number takes about `each_ns`. Takes at most `buffer_bytes` of the host's
// memory. Calls to the driver may hang.
void measure_nvidia_limits(int64_t each_ns, int64_t buffer_bytes, MachineLimits& found);

}  // namespace trainscope
