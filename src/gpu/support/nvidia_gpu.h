// One NVIDIA GPU, or one MIG instance of it.
#pragma once

#include <memory>

#include "gpu/support/nvidia_columns.h"

namespace trainscope {

// Finds out by a first reading of each which metrics this GPU supports.
std::unique_ptr<Gpu> open_nvidia_gpu(const nvml::Library& library, XidWatch& xids,
                                     const NvidiaPlace& place);

}  // namespace trainscope
