// The readings of NVML that keep state from one to the next.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/support/nvml.h"

namespace trainscope {

// How often the driver measures this itself; -1 if it does not report it. Querying the samples
// takes 1.4 to 3 ms on an H200, the newest value alone 5 µs: so the samples' own timestamps are
// only used to find out how often there is a new one.
int64_t driver_sample_period_ns(const nvml::Library& library, nvml::Device device,
                                nvml::SampleKind kind);

// Hopper and newer count inside the GPU; two samples give the activity between them.
class GpmReading {
 public:
  // A MIG instance cannot be queried itself: `device` is its GPU, `instance` its number there.
  GpmReading(const nvml::Library& library, nvml::Device device,
             std::optional<unsigned> instance = std::nullopt);
  bool supported() const { return supported_; }
  // Takes a sample; the values below are of the time since the one before.
  nvml::Return take();
  // As in the driver: percent, or MiB/s. Empty if there is none.
  std::optional<double> value(nvml::Gpm id) const;
  double seconds() const { return seconds_; }

 private:
  const nvml::Library& library_;
  nvml::Device device_;
  std::optional<unsigned> instance_;
  bool supported_ = false, has_before_ = false;
  int64_t taken_ns_ = 0;
  double seconds_ = 0;
  nvml::GpmMetrics metrics_;
};

// Memory and SM share of the job's processes.
class JobOnGpu {
 public:
  JobOnGpu(const nvml::Library& library, nvml::Device device)
      : library_(library), device_(device) {}
  nvml::Return memory(const std::vector<pid_t>& job, int64_t& bytes);
  nvml::Return sm_share(const std::vector<pid_t>& job, int64_t& percent);

 private:
  const nvml::Library& library_;
  nvml::Device device_;
  unsigned long long seen_us_ = 0;
  bool foreign_pids_ = false;  // the driver reports pids of another namespace
};

}  // namespace trainscope
