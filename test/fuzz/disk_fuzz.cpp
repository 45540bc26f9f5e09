// /sys/block/sda/stat as the disk collector reads it.
#include "collector_input.h"

namespace trainscope {
namespace disk_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::write_input("/sys/block/sda/size", "1000\n");
  trainscope::feed_collector(trainscope::disk_collector::entry, "/sys/block/sda/stat", data, size);
  return 0;
}
