// The columns of one NVIDIA GPU: each is one reading of the driver, tried once when it is added.
//
// Guarantees: a metric whose first reading fails is missing, with the driver's own error text; a
// call that turns out to be dear is made rarely from then on. Limits: `fast` columns are read on
// one thread, all others on another one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "gpu/support/nvidia_library.h"

namespace trainscope {

struct NvidiaPlace {
  nvml::Device device = nullptr;
  nvml::Device parent = nullptr;     // the GPU itself, or the one that a MIG instance is part of
  std::optional<unsigned> instance;  // of a MIG instance
  std::string label;
};

class NvidiaColumns : public Gpu {
 public:
  // Fills the raw value of a column. What several columns share, the function owns with them.
  using Read = std::function<nvml::Return(int64_t&)>;

  NvidiaColumns(const nvml::Library& library, nvml::Device device)
      : library_(library), device_(device) {}

  GpuHealth read(GpuPace pace, std::span<int64_t> values, const std::vector<pid_t>& job) override;

  // A column if a first reading works; otherwise the metric is missing.
  void add(const char* metric, Labels more, Scale scale, GpuPace pace, Read read);
  // A call that fills one unsigned number.
  Read number(nvml::Return (*call)(nvml::Device, unsigned*)) const;
  Read field(nvml::Field id, unsigned scope) const;
  static bool works(const Read& read);

  const nvml::Library& library() const { return library_; }
  nvml::Device device() const { return device_; }
  // The job's processes, for readings that are not `fast`.
  const std::vector<pid_t>& job() const { return job_ == nullptr ? nobody_ : *job_; }

 private:
  void miss(const char* metric, nvml::Return result);
  bool is_due(size_t column, GpuPace pace) const;

  const nvml::Library& library_;
  nvml::Device device_;
  std::vector<Read> reads_;    // one per column
  std::vector<bool> is_dear_;  // one per column: a call was too dear for `slow`
  const std::vector<pid_t>* job_ = nullptr;
  const std::vector<pid_t> nobody_;
};

// The columns by subject; see the files of the same names.
void add_nvidia_sensors(NvidiaColumns& gpu);
void add_nvidia_activity(NvidiaColumns& gpu, const NvidiaPlace& place);

}  // namespace trainscope
