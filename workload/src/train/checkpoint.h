// The whole state of a training in one safetensors file: weights, optimizer, random state,
// position.
//
// Guarantees: a training that resumes from it computes, on the CPU with the same thread count, the
// steps that it would have computed without a stop. The old file exists until the new one is
// complete.
// Limits: the device's own random state (CUDA dropout) starts again.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "models/network.h"
#include "options.h"
#include "train/optimizer.h"

namespace trainscope::workload {

// `model`, `seed` and `batch` of the options are written down, and must be the same to go on.
Status save_checkpoint(const TrainOptions& options, const Network& network,
                       const Optimizer& optimizer, std::uint64_t steps);

// Returns the number of steps done.
Result<std::uint64_t> load_checkpoint(const TrainOptions& options, Network& network,
                                      Optimizer& optimizer);

}  // namespace trainscope::workload
