// nvidia: NVIDIA GPUs and their MIG instances.
//
// Source: NVML, loaded by name. Units: percent, mW, mJ, MHz, ns, KiB as in the driver. Permission:
// none, except for some of a shared GPU's processes. Cost: calls that take milliseconds (the energy
// counter 3 ms, some throttle times 0.6 ms) are made once per second on their own thread; the rest
// takes 0.2 ms per tick. Caveats: the driver measures utilisation about every 200 ms; in between
// the value is absent. Whether a GPU or driver supports a metric is known from the first call, with
// the driver's own error text.
#include <fmt/format.h>

#include "base/fd.h"
#include "gpu/gpu.h"
#include "gpu/support/nvidia_gpu.h"
#include "gpu/support/nvidia_limits.h"

namespace trainscope::nvidia_vendor {

namespace {

void add_instances(FoundGpus& found, const nvml::Library& library, XidWatch& xids,
                   nvml::Device parent, unsigned index) {
  unsigned now = 0, pending = 0, count = 0;
  if (library.mig_mode == nullptr || library.mig_count == nullptr ||
      library.mig_by_index == nullptr || library.gpu_instance == nullptr ||
      library.mig_mode(parent, &now, &pending) != nvml::kSuccess || now == 0 ||
      library.mig_count(parent, &count) != nvml::kSuccess) {
    return;
  }
  for (unsigned i = 0; i < count; ++i) {
    nvml::Device device = nullptr;
    unsigned instance = 0;
    if (library.mig_by_index(parent, i, &device) != nvml::kSuccess) continue;
    if (library.gpu_instance(device, &instance) != nvml::kSuccess) continue;
    const NvidiaPlace place = {device, parent, instance, fmt::format("{}:{}", index, i)};
    found.gpus.push_back(open_nvidia_gpu(library, xids, place));
  }
}

FoundGpus find(const std::string& root) {
  FoundGpus found;
  if (!root.empty()) return found;  // a library has no place in a fixture
  const auto library = nvidia_library();
  if (!library) {
    found.reason = library.error().message();
    found.remedy =
        "on a machine with an NVIDIA GPU: install NVIDIA's driver (Debian: apt install "
        "nvidia-driver), or give the container --gpus all";
    return found;
  }
  static XidWatch xids(**library);
  unsigned count = 0;
  if (const nvml::Return result = (*library)->count(&count); result != nvml::kSuccess) {
    found.reason = "NVIDIA's driver reports: " + (*library)->error_text(result);
    return found;
  }
  for (unsigned i = 0; i < count; ++i) {
    nvml::Device device = nullptr;
    const nvml::Return result = (*library)->by_index(i, &device);
    if (result == nvml::kSuccess) {
      const NvidiaPlace place = {device, device, std::nullopt, std::to_string(i)};
      found.gpus.push_back(open_nvidia_gpu(**library, xids, place));
      add_instances(found, **library, xids, device, i);
    } else {
      found.reason = fmt::format("GPU {}: {}", i, (*library)->error_text(result));
    }
  }
  const auto all = list_folder("/proc/driver/nvidia/gpus");
  found.is_part = all && count < all->size();
  if (count == 0) found.reason = "NVIDIA's driver is loaded but reports no GPU";
  return found;
}

int count(const std::string& root) {
  if (!root.empty()) return 0;
  const auto library = nvidia_library();
  unsigned count = 0;
  if (!library || (*library)->count(&count) != nvml::kSuccess) return -1;
  return static_cast<int>(count);
}

}  // namespace

extern const GpuVendor entry;
const GpuVendor entry = {
    .name = "NVIDIA", .find = find, .count = count, .measure = measure_nvidia_limits};

}  // namespace trainscope::nvidia_vendor
