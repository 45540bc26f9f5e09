// /proc/vmstat as the paging collector reads it.
#include "collector_input.h"

namespace trainscope {
extern const Collector paging_collector;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::paging_collector, "/proc/vmstat", data, size);
  return 0;
}
