// /proc/stat as the cpu collector reads it.
#include "collector_input.h"

namespace trainscope {
namespace cpu_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::cpu_collector::entry, "/proc/stat", data, size);
  return 0;
}
