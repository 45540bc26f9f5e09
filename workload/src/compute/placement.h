// Prints where a tensor is stored: its name, device, type, layout and shape.
#pragma once

#include <torch/types.h>

#include <string>

namespace trainscope::workload {

void print_placement(const std::string& name, const torch::Tensor& tensor);

}  // namespace trainscope::workload
