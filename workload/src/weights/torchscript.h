// A network as a TorchScript program: one file that PyTorch runs without this code.
//
// Guarantees: forward() takes images as the network does (floats, normalised, [batch, channels,
// rows, columns], any batch) and gives the scores of its first exit, as when it is tested (no
// dropout). Parameters and buffers keep their names, with _ for each dot. The file also contains
// the note and the names with their dots, so that the weights can be read back. Limits: the size of
// the images is that of `example`.
#pragma once

#include <torch/types.h>

#include <string>

#include "base/result.h"
#include "models/network.h"
#include "weights/weights.h"

namespace trainscope::workload {

Status write_torchscript(const std::string& file, Network& network, const torch::Tensor& example,
                         const WeightsNote& note);

// The weights and the note of a program that write_torchscript wrote.
Result<TensorBundle> read_torchscript(const std::string& file);

}  // namespace trainscope::workload
