// What a GPU vendor is: one .cpp in this folder that defines one constant `<stem>_vendor`.
//
// It all runs in trainscope-gpu, a process of its own: a driver call that hangs hangs a thread
// there and costs the series of that GPU, nothing else. Units, kinds and help of the metrics are in
// collect/gpu.cpp, which records what comes from here.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// `lost`: this GPU no longer answers; the others go on. `driver_gone`: none will.
enum class GpuHealth { ok, lost, driver_gone };

class Gpu {
 public:
  virtual ~Gpu() = default;

  std::string uuid;   // what tells it from all others for as long as it is there
  std::string label;  // value of the label `gpu`
  std::string name;
  int64_t memory_bytes = -1;
  std::vector<GpuColumn> columns;
  std::vector<GpuMissing> missing;

  // Reads the columns of this pace into their places; the others are left alone. `job` are the
  // pids of the job. One thread reads `fast`, another one `slow` and `rare`, at the same time.
  virtual GpuHealth read(GpuPace pace, std::span<int64_t> values,
                         const std::vector<pid_t>& job) = 0;
  // What happened to it since the last call, a sentence each ("Xid 79: …").
  virtual std::vector<std::string> take_events() { return {}; }
};

struct FoundGpus {
  std::vector<std::unique_ptr<Gpu>> gpus;
  // Why this vendor gives nothing, and what would help; empty where it gives something.
  std::string reason, remedy;
};

struct GpuVendor {
  std::string_view name;
  // Looks what is there. `root` goes in front of /proc and /sys. Called again when the number of
  // GPUs may have changed.
  FoundGpus (*find)(const std::string& root) = nullptr;
  // How many GPUs the driver has now; -1 when it cannot be asked. Cheap: called once a second.
  int (*count)(const std::string& root) = nullptr;
};

std::span<const GpuVendor* const> gpu_vendors();

}  // namespace trainscope
