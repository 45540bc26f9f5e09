// /proc/meminfo as the memory collector reads it.
#include "collector_input.h"

namespace trainscope {
extern const Collector memory_collector;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::memory_collector, "/proc/meminfo", data, size);
  return 0;
}
