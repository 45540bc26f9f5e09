// llite stats and extents_stats as the Lustre collector reads them.
#include "collector_input.h"

namespace trainscope {
namespace lustre_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string folder = "/sys/kernel/debug/lustre/llite/scratch-ffff8d0c5c1e3800/";
  trainscope::write_input(folder + "extents_stats",
                          std::string_view(reinterpret_cast<const char*>(data), size));
  trainscope::feed_collector(trainscope::lustre_collector::entry, folder + "stats", data, size);
  return 0;
}
