#include "gpu/support/nvidia_readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>

#include "base/clock.h"
#include "base/fd.h"
#include "base/statistics.h"
#include "gpu/gpu.h"
#include "gpu/support/nvidia_tables.h"

namespace trainscope {

namespace {

constexpr size_t kMaxSamples = 4096;
constexpr unsigned kMaxProcesses = 4096;

bool contains(const std::vector<pid_t>& pids, unsigned pid) {
  return std::find(pids.begin(), pids.end(), static_cast<pid_t>(pid)) != pids.end();
}

// Calls a function of NVML that fills an array, with more and more space until all entries fit.
template <typename Entry, typename Call>
nvml::Return fill_array(std::vector<Entry>& entries, size_t expected, const Call& call) {
  for (size_t space = expected;;) {
    entries.resize(space);
    auto count = static_cast<unsigned>(space);
    const nvml::Return result = call(entries.data(), &count);
    if (result != nvml::kInsufficientSize || space == kMaxProcesses) {
      entries.resize(std::min<size_t>(count, space));
      return result;
    }
    space = std::min<size_t>(2 * std::max<size_t>(count, space), kMaxProcesses);
  }
}

using ProcessCall = nvml::Return (*)(nvml::Device, unsigned*, nvml::ProcessInfo*);

nvml::Return list_processes(ProcessCall call, nvml::Device device,
                            std::vector<nvml::ProcessInfo>& all) {
  if (call == nullptr) return nvml::kFunctionNotFound;
  std::vector<nvml::ProcessInfo> some;
  const nvml::Return result = fill_array(
      some, 64,
      [&](nvml::ProcessInfo* entries, unsigned* count) { return call(device, count, entries); });
  if (result == nvml::kSuccess) all.insert(all.end(), some.begin(), some.end());
  return result;
}

}  // namespace

int64_t driver_sample_period_ns(const nvml::Library& library, nvml::Device device,
                                nvml::SampleKind kind) {
  if (library.samples == nullptr) return -1;
  nvml::ValueType type = nvml::kUint;
  unsigned count = 0;
  if (library.samples(device, kind, 0, &type, &count, nullptr) != nvml::kSuccess) return -1;
  std::vector<nvml::Sample> past(std::clamp<size_t>(count, 1, kMaxSamples));
  count = static_cast<unsigned>(past.size());
  if (library.samples(device, kind, 0, &type, &count, past.data()) != nvml::kSuccess) return -1;
  past.resize(std::min<size_t>(count, past.size()));
  std::vector<unsigned long long> pauses;
  for (size_t i = 1; i < past.size(); ++i) {
    if (past[i].time_us > past[i - 1].time_us) {
      pauses.push_back(past[i].time_us - past[i - 1].time_us);
    }
  }
  if (pauses.empty()) return -1;
  return static_cast<int64_t>(middle_of(std::move(pauses))) * 1000;
}

GpmReading::GpmReading(const nvml::Library& library, nvml::Device device,
                       std::optional<unsigned> instance)
    : library_(library), device_(device), instance_(instance) {
  if (library.gpm_support == nullptr || library.gpm_new == nullptr || library.gpm_take == nullptr ||
      library.gpm_compare == nullptr) {
    return;
  }
  if (instance && library.gpm_take_of_instance == nullptr) return;
  nvml::GpmSupport support;
  supported_ = library.gpm_support(device, &support) == nvml::kSuccess && support.supported != 0 &&
               library.gpm_new(&metrics_.before) == nvml::kSuccess &&
               library.gpm_new(&metrics_.after) == nvml::kSuccess;
  static_assert(std::size(kGpm) <= std::extent_v<decltype(nvml::GpmMetrics::metric)>);
  for (const GpmColumn& column : kGpm) metrics_.metric[metrics_.count++].id = column.id;
}

nvml::Return GpmReading::take() {
  std::swap(metrics_.before, metrics_.after);
  for (nvml::GpmMetric& metric : metrics_.metric) metric.result = nvml::kNoData;
  const int64_t now = monotonic_ns();
  const nvml::Return taken =
      instance_ ? library_.gpm_take_of_instance(device_, *instance_, metrics_.after)
                : library_.gpm_take(device_, metrics_.after);
  const bool had_before = std::exchange(has_before_, taken == nvml::kSuccess);
  seconds_ = to_seconds(now - std::exchange(taken_ns_, now));
  if (taken != nvml::kSuccess) return taken;
  if (!had_before) return nvml::kNoData;
  return library_.gpm_compare(&metrics_);
}

std::optional<double> GpmReading::value(nvml::Gpm id) const {
  for (const nvml::GpmMetric& metric : metrics_.metric) {
    if (metric.id != id) continue;
    if (metric.result != nvml::kSuccess || !std::isfinite(metric.value)) return std::nullopt;
    return metric.value;
  }
  return std::nullopt;
}

nvml::Return JobOnGpu::memory(const std::vector<pid_t>& job, int64_t& bytes) {
  std::vector<nvml::ProcessInfo> all;
  const nvml::Return result = list_processes(library_.processes, device_, all);
  if (result != nvml::kSuccess) return result;
  (void)list_processes(library_.drawing, device_, all);
  int64_t sum = 0;
  bool ours = false;
  foreign_pids_ = false;
  for (const nvml::ProcessInfo& process : all) {
    foreign_pids_ = foreign_pids_ || !exists(fmt::format("/proc/{}", process.pid));
    if (!contains(job, process.pid)) continue;
    ours = true;
    if (process.memory == nvml::kMemoryUnknown) return nvml::kNoData;
    sum += static_cast<int64_t>(process.memory);
  }
  // In a container the driver reports the host's pids: then "none of the job's" means nothing.
  if (!ours && (foreign_pids_ || job.empty())) return nvml::kNoData;
  bytes = sum;
  return nvml::kSuccess;
}

nvml::Return JobOnGpu::sm_share(const std::vector<pid_t>& job, int64_t& percent) {
  if (library_.process_samples == nullptr) return nvml::kFunctionNotFound;
  std::vector<nvml::ProcessSample> samples;
  const nvml::Return result =
      fill_array(samples, 128, [&](nvml::ProcessSample* entries, unsigned* count) {
        return library_.process_samples(device_, entries, count, seen_us_);
      });
  if (result == nvml::kNotFound) return nvml::kNoData;
  if (result != nvml::kSuccess) return result;
  int64_t sum = 0;
  bool fresh = false, ours = false;
  unsigned long long newest = seen_us_;
  for (const nvml::ProcessSample& sample : samples) {
    if (sample.time_us <= seen_us_) continue;
    fresh = true;
    newest = std::max(newest, sample.time_us);
    if (!contains(job, sample.pid)) continue;
    ours = true;
    sum += sample.sm;
  }
  seen_us_ = newest;
  if (!fresh || job.empty() || (!ours && foreign_pids_)) return nvml::kNoData;
  percent = sum;
  return nvml::kSuccess;
}

}  // namespace trainscope
