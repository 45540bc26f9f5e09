// Other processes on the GPUs of the job. On a GPU in which the job has no memory they do not
// matter. Memory is only looked at where the job is one process group: other ranks keep some in
// each GPU of their machine.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "compare/sides.h"

namespace trainscope {

namespace {

constexpr double kOtherTime = 0.20;         // of the GPU's time
constexpr double kOtherMemory = 1UL << 30;  // bytes; the driver and a desktop use less
// The driver tells a process' share of the time of some seconds before, and is asked every 10 s.
constexpr size_t kFewestShares = 4;

struct OtherUse {
  double time = 0, bytes = 0;
};

// The most in a window. Memory grows while a job starts, and its own is read less often than all
// that is used: their means are not of the same moments.
std::optional<double> most_of(const ObservedRun& run, std::string_view name, std::string_view gpu) {
  std::optional<double> most;
  for (const ObservedMetric& metric : run.metrics) {
    if (metric.name != name || metric.label("gpu") != gpu) continue;
    for (const double mean : metric.blocks.means) most = std::max(most.value_or(mean), mean);
  }
  return most;
}

std::optional<double> time_by_others(const ObservedRun& run, std::string_view gpu) {
  const auto all = run.mean_of("hw.gpu.utilization", "gpu", gpu);
  for (const ObservedMetric& metric : run.metrics) {
    if (metric.name != "job.gpu.sm_utilization" || metric.label("gpu") != gpu) continue;
    if (all && metric.blocks.means.size() >= kFewestShares) return *all - *metric.mean();
  }
  return std::nullopt;
}

// Of the GPU of the job on which others do most.
OtherUse use_by_others(const ObservedRun& run) {
  OtherUse most;
  for (const ObservedMetric& metric : run.metrics) {
    if (metric.name != "job.gpu.memory.usage") continue;
    const std::string_view gpu = metric.label("gpu");
    const double own = most_of(run, metric.name, gpu).value_or(0);
    if (!(own > 0)) continue;
    const auto all = most_of(run, "hw.gpu.memory.usage", gpu);
    most.time = std::max(most.time, time_by_others(run, gpu).value_or(0));
    if (all && run.facts.ranks == "1") most.bytes = std::max(most.bytes, *all - own);
  }
  return most;
}

OtherUse use_by_others(const std::vector<ObservedRun>& runs) {
  OtherUse most;
  for (const ObservedRun& run : runs) {
    const OtherUse one = use_by_others(run);
    most = {std::max(most.time, one.time), std::max(most.bytes, one.bytes)};
  }
  return most;
}

}  // namespace

std::string warn_of_gpu_neighbours(const Sides& sides, const Comparison&) {
  const OtherUse a = use_by_others(sides.a), b = use_by_others(sides.b);
  std::string text;
  if (std::max(a.time, b.time) > kOtherTime) {
    text = fmt::format("they used {:.0f} % of its time in A, {:.0f} % in B", 100 * a.time,
                       100 * b.time);
  }
  if (std::max(a.bytes, b.bytes) > kOtherMemory) {
    text += fmt::format("{}they had {} of its memory in A, {} in B", text.empty() ? "" : "; ",
                        bytes_text(a.bytes), bytes_text(b.bytes));
  }
  return text.empty() ? "" : "other processes on a GPU of the job: " + text;
}

}  // namespace trainscope
