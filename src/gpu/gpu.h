// A GPU vendor is one .cpp in this folder that defines one constant `<stem>_vendor`.
//
// All of it runs in trainscope-gpu, a separate process: a driver call that hangs blocks a thread
// there and affects only the series of that GPU. Units, kinds and help of the metrics are in
// collect/gpu.cpp, which records the values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/limits.h"
#include "model/metric.h"

namespace trainscope {

// `fast` is read at every tick, `slow` once per second, `rare` every ten seconds and at the end of
// the run: calls that cost more than half a millisecond of CPU.
enum class GpuPace { fast, slow, rare };

struct GpuColumn {
  std::string metric;
  Labels labels;  // sorted by name
  Scale scale;
  GpuPace pace = GpuPace::fast;
};

struct GpuMissing {
  std::string metric;
  std::string reason;
  std::string remedy;
};

// `lost`: this GPU no longer responds; the others continue. `driver_gone`: none will.
enum class GpuHealth { ok, lost, driver_gone };

class Gpu {
 public:
  virtual ~Gpu() = default;

  std::string uuid;   // identifies it as long as it is present
  std::string label;  // value of the label `gpu`
  std::string name;
  int64_t memory_bytes = -1;
  std::vector<GpuColumn> columns;
  std::vector<GpuMissing> missing;
  bool only_job = false;  // another rank records the GPU itself

  bool is_read(const GpuColumn& column) const {
    return !only_job || column.metric.starts_with("job.");
  }
  // Reads the columns of this pace into their places; the others are unchanged. `job` are the pids
  // of the job. One thread reads `fast`, another one `slow` and `rare`, at the same time.
  virtual GpuHealth read(GpuPace pace, std::span<int64_t> values,
                         const std::vector<pid_t>& job) = 0;
  // Events since the last call, one sentence each ("Xid 79: …").
  virtual std::vector<std::string> take_events() { return {}; }
};

struct FoundGpus {
  std::vector<std::unique_ptr<Gpu>> gpus;
  // Why this vendor provides nothing, and a remedy; empty if it provides something.
  std::string reason, remedy;
  bool is_part = false;  // the machine has GPUs that this process may not use
};

struct GpuVendor {
  std::string_view name;
  // Finds the GPUs. `root` is the prefix of /proc and /sys. Called again when the number of GPUs
  // may have changed.
  FoundGpus (*find)(const std::string& root) = nullptr;
  // The current number of GPUs of the driver; -1 if it cannot be queried. Cheap: called once per
  // second.
  int (*count)(const std::string& root) = nullptr;
  // Measures what the first GPU gives at most, for seconds; null: nobody has written it.
  void (*measure)(int64_t each_ns, int64_t buffer_bytes, MachineLimits& found) = nullptr;
};

std::span<const GpuVendor* const> gpu_vendors();

}  // namespace trainscope
