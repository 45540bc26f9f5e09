// /proc/stat as the cpu collector reads it.
#include "collector_input.h"

namespace trainscope {
extern const Collector cpu_collector;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::cpu_collector, "/proc/stat", data, size);
  return 0;
}
