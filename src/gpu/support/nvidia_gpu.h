// One NVIDIA GPU, or one MIG instance of it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gpu/gpu.h"
#include "gpu/support/nvidia_library.h"

namespace trainscope {

struct NvidiaPlace {
  nvml::Device device = nullptr;
  nvml::Device parent = nullptr;     // the GPU itself, or the one that a MIG instance is part of
  std::optional<unsigned> instance;  // of a MIG instance
  std::string label;
};

// Finds out by a first reading of each which metrics this GPU supports.
std::unique_ptr<Gpu> open_nvidia_gpu(const nvml::Library& library, XidWatch& xids,
                                     const NvidiaPlace& place);

}  // namespace trainscope
