// /proc/self/mountstats as the NFS collector reads it.
#include "collector_input.h"

namespace trainscope {
namespace nfs_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::nfs_collector::entry, "/proc/self/mountstats", data, size);
  return 0;
}
