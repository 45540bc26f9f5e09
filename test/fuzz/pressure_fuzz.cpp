// /proc/pressure/memory as the pressure collector reads it.
#include "collector_input.h"

namespace trainscope {
extern const Collector pressure_collector;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::pressure_collector, "/proc/pressure/memory", data, size);
  return 0;
}
