#include "compute/device.h"

#include <dlfcn.h>
#include <torch/cuda.h>

#include <cstdio>
#include <string>

namespace trainscope::workload {
namespace {

// Empty where the device can be used, otherwise why not.
std::string why_not(int index) {
  // Stays loaded for the life of the process: its kernels register themselves.
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* reason = dlerror();
    return reason != nullptr ? reason : "libtorch_cuda.so cannot be loaded";
  }
  const int count = torch::cuda::is_available() ? int{torch::cuda::device_count()} : 0;
  if (index < count) return "";
  return std::to_string(count) + " CUDA devices found";
}

}  // namespace

Result<c10::Device> choose_device(const DeviceChoice& choice, bool strict) {
  if (!choice.cuda) return c10::Device(c10::kCPU);
  const std::string reason = why_not(choice.index);
  const std::string name = "cuda:" + std::to_string(choice.index);
  if (reason.empty()) {
    return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(choice.index));
  }
  if (strict) return Error(name + " is not available: " + reason);
  std::fprintf(stderr, "trainscope-workload: %s is not available, training on the CPU: %s\n",
               name.c_str(), reason.c_str());
  return c10::Device(c10::kCPU);
}

}  // namespace trainscope::workload
