// gpu: copies between the host and the first GPU, and launches of kernels.
//
// Measured by trainscope-gpu (gpu/support/nvidia_limits.cpp), because a driver may hang: a process
// that does not reply is ended. Limits: NVIDIA only, and the first GPU only.
#include "collect/collect.h"
#include "limits/limits.h"
#include "limits/support/free_memory.h"

namespace trainscope::gpu_limits {

namespace {

constexpr int64_t kReplyNs = 25 * kNsPerSecond;
// Copies and launches vary little: a part of the time of other numbers suffices.
constexpr int64_t kShare = 3;

Status measure(const MeasureOptions& options, MachineLimits& found) {
  if (options.progress) options.progress("GPU");
  const int64_t each_ns = options.each_ns / kShare;
  // Six numbers, and a driver that may take seconds to start.
  const auto limits =
      measure_gpu_limits(each_ns, free_memory().buffer_bytes, kReplyNs + 6 * each_ns);
  if (!limits) {
    found.missing.push_back(
        {"gpu", limits.error().message(),
         "check whether nvidia-smi works; trainscope-gpu belongs next to trainscope"});
    return {};
  }
  found.limits.insert(found.limits.end(), limits->limits.begin(), limits->limits.end());
  found.missing.insert(found.missing.end(), limits->missing.begin(), limits->missing.end());
  return {};
}

}  // namespace

extern const LimitKind entry;
const LimitKind entry = {
    .name = "gpu",
    .summary = "copies to and from the first GPU, and launches",
    .measure = measure,
};

}  // namespace trainscope::gpu_limits
