// /proc/meminfo as the memory collector reads it.
#include "collector_input.h"

namespace trainscope {
namespace memory_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::memory_collector::entry, "/proc/meminfo", data, size);
  return 0;
}
