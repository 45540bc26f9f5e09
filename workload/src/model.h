// The networks that can be trained, in one table: name, summary, and how to make it.
//
// A new model is one function and one row in model.cpp. A network takes floats shaped
// [batch, 1, rows, columns] and returns one score a class.
#pragma once

#include <torch/nn/modules/container/sequential.h>

#include <cstdint>
#include <string>

#include "model_names.h"
#include "result.h"

namespace trainscope::workload {

struct PictureShape {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t classes = 0;
};

// Fails where the name is unknown or the pictures do not fit the network.
Result<torch::nn::Sequential> make_model(const std::string& name, const PictureShape& shape);

}  // namespace trainscope::workload
