// A GPU whose driver reports its values in files of /sys, and the job's share in /proc/PID/fdinfo.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "gpu/gpu.h"

namespace trainscope {

// Usage of one device by the job's processes, from the DRM's fdinfo.
struct DrmUsage {
  bool known = false;
  int64_t memory_bytes = 0;
  int64_t busy_ns = 0;  // of the busiest kind of engine
};
DrmUsage read_drm_usage(const std::string& root, const std::vector<pid_t>& job,
                        const std::string& pci_address);

class FileGpu : public Gpu {
 public:
  FileGpu(std::string root, std::string pci_address)
      : root_(std::move(root)), pci_address_(std::move(pci_address)) {}

  // A column for the first of these files that contains a number; otherwise the metric is missing.
  void add(const char* metric, Labels labels, Scale scale, GpuPace pace,
           const std::vector<std::string>& paths);
  void add_missing(const char* metric, const std::string& reason, const std::string& remedy = "");
  // job.gpu.memory.usage and job.gpu.sm_utilization by fdinfo.
  void add_job();

  GpuHealth read(GpuPace pace, std::span<int64_t> values, const std::vector<pid_t>& job) override;

 private:
  void read_job(std::span<int64_t> values, const std::vector<pid_t>& job);

  std::string root_, pci_address_;
  std::vector<UniqueFd> files_;  // one per column; none for the job's
  int64_t busy_ns_ = -1, busy_at_ns_ = 0;
};

struct DrmCard {
  std::string device;  // folder of the PCI device, below root
  std::string pci_address;
  std::string driver;
};
// Cards of this PCI vendor ("0x1002"), in the order of their numbers.
std::vector<DrmCard> drm_cards(const std::string& root, std::string_view vendor);
// The folder of the device's hwmon; empty if there is none.
std::string hwmon_of(const DrmCard& card);

}  // namespace trainscope
