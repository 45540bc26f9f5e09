// /proc/net/dev as the network_errors collector reads it.
#include "collector_input.h"

namespace trainscope {
namespace network_errors_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainscope::feed_collector(trainscope::network_errors_collector::entry, "/proc/net/dev", data,
                             size);
  return 0;
}
