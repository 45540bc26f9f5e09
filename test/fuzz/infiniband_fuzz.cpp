// A counter and the rate of a port as the infiniband collector reads them.
#include "collector_input.h"

namespace trainscope {
namespace infiniband_collector {
extern const Collector entry;
}
}  // namespace trainscope

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string port = "/sys/class/infiniband/mlx5_0/ports/1/";
  const std::string file = port + "counters/port_rcv_data";
  trainscope::write_input(port + "rate",
                          std::string_view(reinterpret_cast<const char*>(data), size));
  trainscope::feed_collector(trainscope::infiniband_collector::entry, file, data, size);
  return 0;
}
