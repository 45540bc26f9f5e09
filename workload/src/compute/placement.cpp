#include "compute/placement.h"

#include <cstdio>

namespace trainscope::workload {

void print_placement(const std::string& name, const torch::Tensor& tensor) {
  std::string shape;
  for (const std::int64_t length : tensor.sizes()) {
    if (!shape.empty()) shape += 'x';
    shape += std::to_string(length);
  }
  const bool nhwc = tensor.dim() == 4 && !tensor.is_contiguous() &&
                    tensor.is_contiguous(torch::MemoryFormat::ChannelsLast);
  std::printf("placement %s %s %s%s %s\n", name.c_str(), tensor.device().str().c_str(),
              c10::toString(tensor.scalar_type()), nhwc ? " nhwc" : "",
              shape.empty() ? "scalar" : shape.c_str());
}

}  // namespace trainscope::workload
