// How much memory a measurement may take.
#pragma once

#include <cstdint>

namespace trainscope {

struct FreeMemory {
  int64_t buffer_bytes = 0;   // an eighth of what is free; 0 if that is unknown
  bool is_of_cgroup = false;  // the limit of the cgroup leaves less than the machine has
};
FreeMemory free_memory();

}  // namespace trainscope
