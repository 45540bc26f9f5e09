// /proc/pressure/memory as the pressure collector reads it.
#include "collector_input.h"

namespace trainscope {
namespace pressure_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::pressure_collector::entry, "/proc/pressure/memory", data,
                             size);
  return 0;
}
