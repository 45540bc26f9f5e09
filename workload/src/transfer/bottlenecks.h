// The vectors that a trunk makes of the images of a folder, from the cache if it has them.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/image_folder.h"
#include "options.h"
#include "weights/trained_network.h"

namespace trainscope::workload {

struct Bottlenecks {
  torch::Tensor vectors;  // [images, features], in the order of the list
  std::uint64_t computed = 0;
  std::uint64_t cached = 0;
};

Result<Bottlenecks> make_bottlenecks(const TransferOptions& options, const TrainedNetwork& trained,
                                     const ImageList& list, const torch::Device& device);

}  // namespace trainscope::workload
