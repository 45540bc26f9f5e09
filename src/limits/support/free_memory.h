// How much memory a measurement may take.
#pragma once

#include <cstdint>

namespace trainscope {

// An eighth of what is free, here and in the cgroup of this process; 0 if it is unknown.
int64_t buffer_bytes();

}  // namespace trainscope
