// The lists of servers of a BeeGFS client as the beegfs collector reads them.
#include "collector_input.h"

namespace trainscope {
namespace beegfs_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string folder = "/proc/fs/beegfs/1A2-65F0-node7/";
  trainscope::write_input(folder + "meta_nodes",
                          std::string_view(reinterpret_cast<const char*>(data), size));
  trainscope::feed_collector(trainscope::beegfs_collector::entry, folder + "storage_nodes", data,
                             size);
  return 0;
}
