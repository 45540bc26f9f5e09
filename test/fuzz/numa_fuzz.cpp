// A node's numastat as the numa collector reads it.
#include "collector_input.h"

namespace trainscope {
extern const Collector numa_collector;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::numa_collector, "/sys/devices/system/node/node0/numastat",
                             data, size);
  return 0;
}
