// /proc/vmstat as the paging collector reads it.
#include "collector_input.h"

namespace trainscope {
namespace paging_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::paging_collector::entry, "/proc/vmstat", data, size);
  return 0;
}
