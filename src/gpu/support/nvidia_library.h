// libnvidia-ml.so.1, found and started; and Xid errors as they come.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/support/nvml.h"

namespace trainscope {

// Loads and starts NVML, once per process. The error includes a remedy.
Result<const nvml::Library*> nvidia_library();

// Waits for Xid errors of the registered GPUs, on its own thread.
class XidWatch {
 public:
  explicit XidWatch(const nvml::Library& library) : library_(library) {}
  void add(nvml::Device device);
  std::vector<std::string> take(nvml::Device device);

 private:
  void wait_for_ever(nvml::EventSet set);

  const nvml::Library& library_;
  nvml::EventSet set_ = nullptr;
  bool failed_ = false;
  std::mutex mutex_;
  std::map<nvml::Device, std::vector<std::string>> events_;
};

}  // namespace trainscope
