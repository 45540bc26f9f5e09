// Other processes on the GPUs of the job. On a GPU in which the job has no memory they do not
// matter. Only of jobs of one process group: other ranks use the GPUs of their machine too.
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

std::vector<double> windows_of(const ObservedRun& run, std::string_view name,
                               std::string_view gpu) {
  for (const ObservedMetric& metric : run.metrics) {
    if (metric.name == name && metric.label("gpu") == gpu) return metric.blocks.means;
  }
  return {};
}

// What is used most of the time beyond the most that the job had. Memory grows while a job starts,
// and its own is read less often than all that is used: their means are not of the same moments.
double bytes_of_others(const ObservedRun& run, std::string_view gpu) {
  const std::vector<double> own = windows_of(run, "job.gpu.memory.usage", gpu);
  std::vector<double> all = windows_of(run, "hw.gpu.memory.usage", gpu);
  if (own.empty() || all.empty()) return 0;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle - *std::max_element(own.begin(), own.end());
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
  if (run.facts.ranks != "1") return most;
  for (const ObservedMetric& metric : run.metrics) {
    if (metric.name != "job.gpu.memory.usage") continue;
    const std::string_view gpu = metric.label("gpu");
    if (!(metric.mean().value_or(0) > 0)) continue;
    most.time = std::max(most.time, time_by_others(run, gpu).value_or(0));
    most.bytes = std::max(most.bytes, bytes_of_others(run, gpu));
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
