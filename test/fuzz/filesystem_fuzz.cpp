// /proc/self/mountinfo as the filesystem collector reads it.
#include "collector_input.h"

namespace trainscope {
namespace filesystem_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::filesystem_collector::entry, "/proc/self/mountinfo", data,
                             size);
  return 0;
}
