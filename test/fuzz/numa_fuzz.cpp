// A node's numastat as the numa collector reads it.
#include "collector_input.h"

namespace trainscope {
namespace numa_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::numa_collector::entry,
                             "/sys/devices/system/node/node0/numastat", data, size);
  return 0;
}
